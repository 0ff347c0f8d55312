/** The handshakes with one machine. */
import type { CapError } from '@hob/vat';
import { expect, test } from 'vitest';
import { DialTurns } from './dial-turns.ts';

test('32 handshakes with a machine are under way, 512 wait, and more are refused; other machines are not concerned', async () => {
  const turns = new DialTurns();
  const underWay: PromiseWithResolvers<number>[] = [];
  const dial = (): Promise<number> => {
    const one = Promise.withResolvers<number>();
    underWay.push(one);
    return one.promise;
  };
  const code = (promise: Promise<unknown>): Promise<string> => promise.then(() => 'ok', (error: CapError) => error.code); // biome-ignore format: one line
  const all = Array.from({ length: 545 }, () => code(turns.run('a', dial)));
  expect(underWay).toHaveLength(32);
  expect(await turns.run('b', async () => 7)).toBe(7);
  // One that fails gives its turn to the next, too.
  for (let n = 0; n < 544; n += 1) {
    if (n % 2 === 0) underWay[n]?.resolve(n);
    else underWay[n]?.reject(new Error('no answer'));
    await all[n];
    await Promise.resolve();
    expect(underWay.length).toBe(Math.min(544, 33 + n));
  }
  expect(await all[544]).toBe('unavailable');
  expect(await turns.run('a', async () => 8)).toBe(8);
});
