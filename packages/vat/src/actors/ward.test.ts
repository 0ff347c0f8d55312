import { expect, onTestFinished, test } from 'vitest';
import {
  type Definition,
  define,
  defineProcedure,
  E,
  type Far,
  openStore,
  openVats,
  spawn,
  type Vat,
} from '../index.ts';
import { wardDefinitions } from './definitions.ts';
import { enchant, type Incanter, makeWardingPair, type Warden, ward } from './ward.ts';

interface Box {
  read(): string;
  write(text: string): string;
}
const Box: Definition<Box, [warden: Warden, text: string]> = defineProcedure('Box', (bcom, warden, text) =>
  ward(
    bcom,
    warden,
    { write: (next: unknown) => bcom(Box(warden, next as string), `was ${text}`) },
    { read: () => text },
  ),
);

async function open(): Promise<Vat> {
  const vats = await openVats();
  onTestFinished(() => vats.close());
  return vats.vat('a');
}
const code = (run: () => unknown): unknown => {
  try {
    return run();
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
};

test('the incanter reaches warded methods, which may become; everybody else only the others', async () => {
  const vat = await open();
  await vat.turn(() => {
    const [warden, incanter] = makeWardingPair();
    const box = spawn(Box(warden, 'first'));
    expect([box.read(), code(() => box.write('mine')), box.read()]).toEqual(['first', 'no-such-method', 'first']);
    expect([incanter(box, 'write', 'second'), box.read()]).toEqual(['was first', 'second']);
    expect(code(() => incanter(box, 'read'))).toBe('no-such-method');
    expect([enchant(incanter, box).write('third'), box.read()]).toEqual(['was second', 'third']);
    for (const name of ['constructor', 'toString', '__proto__', 'incant'])
      expect([name, code(() => (box as unknown as Record<string, () => void>)[name]?.call(box))]).not.toContain('ok');
    expect(box.read()).toBe('third');
  });
});

test('another incanter, a forged incantation and a kept one open nothing', async () => {
  const vat = await open();
  await vat.turn(() => {
    const [warden, incanter] = makeWardingPair();
    const [, other] = makeWardingPair();
    const box = spawn(Box(warden, 'safe'));
    const attacks: (() => unknown)[] = [() => other(box, 'write', 'stolen')];
    for (const forged of [{ target: box, method: 'write', args: ['stolen'] }, undefined, 'write', box])
      attacks.push(() => (box as unknown as { incant(x: unknown): unknown }).incant(forged));
    // An object that is called by the incanter gets the incantation. It was made for that object alone.
    let kept: unknown;
    const Thief = defineProcedure<object, []>('Thief', () => (_method, [incantation]) => {
      kept = incantation;
      return (box as unknown as { incant(x: unknown): unknown }).incant(incantation);
    });
    const thief = spawn(Thief());
    attacks.push(() => incanter(thief, 'write', 'stolen'));
    attacks.push(() => (box as unknown as { incant(x: unknown): unknown }).incant(kept));
    expect(attacks.map(code)).toEqual(attacks.map(() => 'no-such-method'));
    expect(box.read()).toBe('safe');
  });
});

test('an object of another vat is refused, and after a restart warden and incanter still belong together', async () => {
  const store = await openStore({ memory: true });
  const Holder: Definition<{ all(): readonly unknown[] }, [all: readonly unknown[]]> = define('Holder', (_b, all) => ({
    all: () => all,
  }));
  const definitions = [...wardDefinitions, Box, Holder];
  for (let restart = 0; restart < 2; restart += 1) {
    const vats = await openVats({ store, definitions });
    const vat = vats.vat('a');
    const holder = await vat.root('holder', () => {
      const [warden, incanter] = makeWardingPair();
      return Holder([incanter, spawn(Box(warden, 'first'))]);
    });
    const [incanter, box] = (await E(holder).all()) as unknown as [Incanter, Far<Box>];
    expect(await E(incanter)(box as never, 'write', `text ${restart}`)).toBe(
      restart === 0 ? 'was first' : 'was text 0',
    );
    const elsewhere = await vats.vat('b').turn(() => enchant(incanter, box as never) as never);
    expect(await E(elsewhere as Far<Box>).write(`text ${restart}`)).toBe(`was text ${restart}`);
    const foreign = await vats.vat('b').spawn(Holder([]));
    await expect(E(incanter)(foreign as never, 'all')).rejects.toMatchObject({ code: 'not-callable' });
    await vats.close();
  }
  await store.close();
});
