import { expect, onTestFinished, test } from 'vitest';
import { type Definition, define, E, openVats, spawn, type Vat } from '../index.ts';
import { makeSealers, type Sealed } from './sealers.ts';

async function open(): Promise<Vat> {
  const vats = await openVats();
  onTestFinished(() => vats.close());
  return vats.vat('a');
}

const denied = expect.objectContaining({ code: 'denied' });

test('its own unsealer opens a box, near and by message, any number of times', async () => {
  const vat = await open();
  const [[seal, unseal, isSealed], box] = await vat.turn(() => {
    const triplet = makeSealers<{ secret: string }>();
    const [seal, unseal] = triplet;
    const box = seal({ secret: 's' });
    expect(unseal(box)).toEqual({ secret: 's' });
    return [triplet, box] as const;
  });
  for (let i = 0; i < 2; i += 1) expect(await E(unseal)(box)).toEqual({ secret: 's' });
  expect(await E(isSealed)(box)).toBe(true);
  expect(await E(unseal)(E(seal)({ secret: 'pipelined' }))).toEqual({ secret: 'pipelined' });
});

test('undefined can be sealed and is told from nothing', async () => {
  const vat = await open();
  await vat.turn(() => {
    const [seal, unseal, isSealed] = makeSealers<undefined>();
    const box = seal(undefined);
    expect([isSealed(box), unseal(box)]).toEqual([true, undefined]);
  });
});

test('the unsealer of another triplet does not open it, and its brand check does not know it', async () => {
  const vat = await open();
  await vat.turn(() => {
    const [seal, unseal] = makeSealers();
    const [, unsealOther, isOther] = makeSealers();
    const box = seal('secret');
    expect(() => unsealOther(box)).toThrow(denied);
    expect(isOther(box)).toBe(false);
    expect(unseal(box)).toBe('secret');
  });
});

test('a holder of the box, the sealer and the brand check learns nothing of what is in it', async () => {
  const vat = await open();
  await vat.turn(() => {
    const [seal, , isSealed] = makeSealers();
    const box = seal('the secret');
    expect(box.open()).toBe(undefined);
    expect(isSealed(box)).toBe(true);
    expect(Reflect.ownKeys(box)).toEqual([]);
    const shown = [JSON.stringify(box), String(Object.prototype.toString.call(box))];
    for (const object of [box, seal, isSealed]) {
      for (const key of Reflect.ownKeys(Object.getPrototypeOf(object) ?? {})) shown.push(String(key));
    }
    expect(shown.join()).not.toContain('the secret');
  });
});

test('nothing but a box is opened: data, other objects, far ones, the triplet itself', async () => {
  const vat = await open();
  await vat.turn(() => {
    const [seal, unseal, isSealed] = makeSealers();
    const others: unknown[] = [undefined, null, 1, 'box', {}, [], { open: 1 }, seal, unseal, isSealed];
    for (const other of others) {
      expect(isSealed(other)).toBe(false);
      expect(() => unseal(other as Sealed)).toThrow(denied);
    }
  });
});

/** Looks like a box and forwards the call to a genuine one. */
const Impostor: Definition<{ open(): void }, [genuine: Sealed]> = define('Impostor', (_bcom, genuine) => ({
  open: () => genuine.open(),
}));
/** Opens its genuine box through the victim's own unsealer while that is running. */
const Reentrant: Definition<{ open(): void }, [genuine: Sealed, check: (x: unknown) => boolean]> = define(
  'Reentrant',
  (_bcom, genuine, check) => ({
    open: () => {
      check(genuine);
      genuine.open();
    },
  }),
);
const Thrower: Definition<{ open(): void }, [genuine: Sealed]> = define('Thrower', (_bcom, genuine) => ({
  open: () => {
    genuine.open();
    throw new Error('let me out');
  },
}));

test('an impostor in front of a genuine box is refused, also one that comes back in or throws', async () => {
  const vat = await open();
  await vat.turn(() => {
    const [seal, unseal, isSealed] = makeSealers();
    const box = seal('secret');
    const impostors = [spawn(Impostor(box)), spawn(Reentrant(box, isSealed)), spawn(Thrower(box))];
    for (const impostor of impostors) {
      expect(isSealed(impostor)).toBe(false);
      expect(() => unseal(impostor)).toThrow(denied);
      expect(unseal(box)).toBe('secret');
    }
    // A box that somebody else has just opened is not taken for the next one.
    box.open();
    expect(isSealed(spawn(Impostor(spawn(Impostor(box)))))).toBe(false);
  });
});
