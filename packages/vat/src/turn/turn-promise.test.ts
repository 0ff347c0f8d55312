/** The form in which a turn receives a pending promise. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Definition, define, E, type Far, openVats, promise, type Vats } from '../index.ts';

interface Looker {
  look(value: unknown): unknown;
}
// For the test alone: a behaviour keeps nothing outside of its portrait.
let seen: unknown[] = [];
const Looker: Definition<Looker, []> = define('Looker', () => ({
  look: (value) => {
    seen.push(...(value as readonly unknown[]));
    return value;
  },
}));

let vats: Vats;
let looker: Far<Looker>;
beforeEach(async () => {
  seen = [];
  vats = await openVats();
  looker = await vats.vat('a').spawn(Looker());
});
afterEach(() => vats.close());

test('a promise that is sent a thousand times is waited for once, and no turn can leave anything on it for another', async () => {
  const later = promise<string>();
  for (let i = 0; i < 1000; i += 1) void E(looker).look([later.promise, later.promise]);
  const last = E(looker).look([later.promise]);
  await E(looker).look([]);
  expect(new Set(seen).size).toBe(1);
  expect(Object.isFrozen(seen[0])).toBe(true);
  later.resolver.resolve('there');
  expect(await ((await last) as readonly unknown[])[0]).toBe('there');
  expect(await seen[0]).toBe('there');
});
