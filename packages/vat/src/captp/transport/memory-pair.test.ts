/** Faults of a wire in memory, and what sessions over it make of them. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { captp, type Definition, define, E, type Far, openVats, type Vats } from '../../index.ts';
import { memoryPair } from './memory-pair.ts';

interface Echo {
  echo(value: unknown): unknown;
}
const Echo: Definition<Echo, []> = define('Echo', () => ({ echo: (value) => value }));
let vats: Vats;
let bootstrap: Far<Echo>;
beforeEach(async () => {
  vats = await openVats();
  bootstrap = await vats.vat('a').spawn(Echo());
});
afterEach(() => vats.close());

test('frames take their time, and stay in order', async () => {
  const [a, b] = memoryPair({ delayMs: 5 });
  const got: unknown[] = [];
  const over = new Promise((resolve) => b.onClose(resolve));
  b.onFrame((frame) => got.push(frame));
  for (let i = 0; i < 5; i += 1) a.send(String(i));
  expect(a.buffered).toBe(5);
  a.close(1000, 'done');
  a.send('after');
  expect(await over).toEqual({ code: 1000, reason: 'done' });
  expect(got).toEqual(['0', '1', '2', '3', '4']);
  expect(a.buffered).toBe(0);
});

test('a wire that is cut breaks what waits with disconnected, wherever it is cut', async () => {
  for (let cutAfter = 0; cutAfter < 12; cutAfter += 1) {
    const [a, b] = memoryPair({ cutAfter });
    const host = captp<object>(a, { bootstrap });
    const client = captp<Echo>(b);
    const outcomes = new Set<unknown>();
    for (let i = 0; i < 20; i += 1)
      outcomes.add(
        await E(client.bootstrap)
          .echo(i)
          .then(
            () => 'answered',
            (error: { code: string }) => error.code,
          ),
      );
    expect([...outcomes].at(-1)).toBe('disconnected');
    expect((await Promise.all([client.closed, host.closed])).map(({ code }) => code)).toEqual([1006, 1006]);
    expect(host.stats()).toEqual({ questions: 0, answers: 0, imports: 0, exports: 0, promises: 0, bytes: 0 });
  }
});

test('a wire that goes silent tells nobody', async () => {
  const [a, b] = memoryPair({ silentAfter: 1 });
  const got: unknown[] = [];
  b.onFrame((frame) => got.push(frame));
  a.send('first');
  a.send('second');
  await new Promise((resolve) => setTimeout(resolve, 10));
  expect(got).toEqual(['first']);
  a.close(1000, '');
});
