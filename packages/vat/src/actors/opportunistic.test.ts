import { expect, onTestFinished, test } from 'vitest';
import { type Definition, define, driver, E, openVats, spawn, type Vats } from '../index.ts';
import { callOrSend, isNear } from './opportunistic.ts';

interface Ruler {
  length(): number;
  name(): string;
}
const Ruler: Definition<Ruler, [length: number]> = define('Ruler', (_bcom, length) => ({
  length: () => length,
  name: () => 'ruler',
}));
const Doubler: Definition<(x: number) => number, []> = define('Doubler', () => (x) => 2 * x);

async function open(): Promise<Vats> {
  const vats = await openVats();
  onTestFinished(() => vats.close());
  return vats;
}

test('a near object answers at once, any other by a promise; methods may be called as functions have properties', async () => {
  const vats = await open();
  const far = await vats.vat('b').spawn(Ruler(2));
  const outside = driver<Ruler>({ length: () => 3, name: () => 'driver' });
  const answers = await vats.vat('a').turn(() => {
    expect(callOrSend(spawn(Ruler(1)), 'length', [])).toBe(1);
    expect(callOrSend(spawn(Doubler()), '', [4])).toBe(8);
    return [far, outside].flatMap((each) => [callOrSend(each, 'length', []), callOrSend(each, 'name', [])]);
  });
  expect(await Promise.all(answers)).toEqual([2, 'ruler', 3, 'driver']);
  expect(await E(far).length()).toBe(2);
});

test('a method that is not there is refused near and far, inherited names too', async () => {
  const vats = await open();
  const far = await vats.vat('b').spawn(Ruler(2));
  await vats.vat('a').turn(() => {
    const near = spawn(Ruler(1));
    const refused = expect.objectContaining({ code: 'no-such-method' }) as Error;
    for (const method of ['nothing', 'toString', 'constructor', 'then', '__proto__', '']) {
      expect(() => callOrSend(near, method, []), method).toThrow(refused);
    }
    for (const method of ['constructor', 'then', '__proto__'])
      expect(() => callOrSend(far, method, [])).toThrow(refused);
  });
});

test('near is what lives in the vat of the running turn, and outside a turn nothing', async () => {
  const vats = await open();
  const [a, b] = [await vats.vat('a').spawn(Ruler(1)), await vats.vat('b').spawn(Ruler(2))];
  const seen = await vats
    .vat('a')
    .turn(() => [a, b, 'data', null, {}, driver<Ruler>({ length: () => 1, name: () => '' })].map(isNear));
  expect(seen).toEqual([true, false, false, false, false, false]);
  expect(isNear(a)).toBe(false);
});
