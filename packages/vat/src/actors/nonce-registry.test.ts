import { inspect } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { driver, E, openVats, systemRandom, type Vats } from '../index.ts';
import { Cell } from './index.ts';
import { makeNonceRegistry, makeRandomSource, type RandomSource } from './nonce-registry.ts';

async function open(): Promise<Vats> {
  const vats = await openVats();
  onTestFinished(() => vats.close());
  return vats;
}

async function make() {
  const vat = (await open()).vat('a');
  const made = await vat.turn(() => makeNonceRegistry(makeRandomSource(systemRandom)));
  return { vat, ...made, object: await vat.spawn(Cell('found')) };
}

test('the holder of a number gets the object, by registry and by locator; nobody does once it has ended', async () => {
  const { registry, locator, object } = await make();
  const number = await E(registry).register(object);
  expect(number).toMatch(/^[a-z2-7]{52}$/);
  expect(await E(registry).fetch(number)).toBe(object);
  expect(await E(locator).fetch(number)).toBe(object);
  expect(await E(registry).unregister(number)).toBe(true);
  expect(await E(registry).unregister(number)).toBe(false);
  await expect(E(locator).fetch(number)).rejects.toMatchObject({ code: 'no-such-object' });
});

test('an object registered twice has two numbers that say nothing of each other', async () => {
  const { registry, object } = await make();
  const [one, two] = [await E(registry).register(object), await E(registry).register(object)];
  expect(one).not.toBe(two);
  await E(registry).unregister(one);
  expect(await E(registry).fetch(two)).toBe(object);
});

test('a guess, an ended number and nonsense break alike, and the error repeats nothing', async () => {
  const { registry, locator, object } = await make();
  const number = await E(registry).register(object);
  const ended = await E(registry).register(object);
  await E(registry).unregister(ended);
  const guesses: unknown[] = [ended, number.toUpperCase(), `${number} `, number.slice(1), '', '__proto__', 'toString'];
  guesses.push('a'.repeat(52), 7, null, undefined, { toString: 'x' }, [number], Symbol.for(number));
  const answers = new Set<string>();
  for (const guess of guesses) {
    const error = await E(locator)
      .fetch(guess as string)
      .then(
        () => expect.fail('found something'),
        (error: { code: string; message: string }) => error,
      );
    answers.add(`${error.code}: ${error.message}`);
  }
  expect([...answers]).toEqual([expect.stringMatching(/^no-such-object: /)]);
  expect([...answers][0]).not.toContain(ended);
});

test('the locator can fetch and nothing else', async () => {
  const { registry, locator, object } = await make();
  const number = await E(registry).register(object);
  const attacker = locator as unknown as typeof registry;
  await expect(E(attacker).register(object)).rejects.toMatchObject({ code: 'no-such-method' });
  await expect(E(attacker).unregister(number)).rejects.toMatchObject({ code: 'no-such-method' });
  expect(Reflect.ownKeys(locator)).toEqual([]);
  expect(await E(locator).fetch(number)).toBe(object);
});

test('only hashes of the numbers are stored', async () => {
  const vats = await open();
  const seen: string[] = [];
  const { registry, object } = await vats.vat('a').turn(() => {
    const { registry } = makeNonceRegistry(makeRandomSource(systemRandom));
    return { registry, object: registry };
  });
  const number = await E(registry).register(object);
  for (const each of [registry, object]) seen.push(inspect(each, { showHidden: true, depth: 9 }));
  expect(seen.join()).not.toContain(number);
});

test('a source that gives less than it was asked for registers nothing', async () => {
  const vat = (await open()).vat('a');
  const short = driver<RandomSource>({ bytes: () => new Uint8Array(4) });
  const { registry } = await vat.turn(() => makeNonceRegistry(short));
  await expect(E(registry).register(vat.spawn(Cell(1)))).rejects.toMatchObject({ code: 'unavailable' });
});
