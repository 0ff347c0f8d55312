/** A cap for a function is called as the function is: near, by message, and through a membrane. */
import { type Definition, define, E, openVats, spawn } from '@hob/vat';
import { expect, onTestFinished, test } from 'vitest';
import { membrane, revocable } from './index.ts';

const Add: Definition<(x: number) => number, [n: number]> = define('Add', (_bcom, n) => (x) => x + n);
interface Maker {
  adder(n: number): (x: number) => number;
}
const Maker: Definition<Maker, []> = define('Maker', () => ({ adder: (n) => spawn(Add(n)) }));

test('a cap for a function, and one that comes out of a membrane, is called near and by message, until it is revoked', async () => {
  const vats = await openVats();
  onTestFinished(() => vats.close());
  const vat = vats.vat('a');
  const made = await vat.turn(() => {
    const { cap, revoker } = revocable(spawn(Add(1)), {});
    const { cap: maker } = membrane(spawn(Maker()), {});
    return { cap, revoker, maker };
  });
  const near = (cap: unknown, x: number): Promise<unknown> =>
    vat
      .turn(() => (cap as (x: number) => number)(x) as never)
      .then(
        (value) => value,
        (error: { code?: string }) => error.code ?? String(error),
      );
  const adder = await E(made.maker as never as Maker).adder(5);
  expect([await near(made.cap, 2), await near(adder, 2)]).toEqual([3, 7]);
  expect([await E(made.cap as never as (x: number) => number)(2), await E(adder)(2)]).toEqual([3, 7]);
  await E(made.revoker).revoke();
  expect(await near(made.cap, 2)).toBe('revoked');
});
