/**
 * E-order: what one vat sends through one reference or promise arrives in that order, however promises are
 * shortened.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Definition, define, E, type Far, openVats, promise } from '../index.ts';

interface Sink {
  take(sender: number, through: number, n: number): void;
}
interface Sender {
  send(through: number, to: Far<Sink>, from: number, count: number): void;
}
const promises = 5;

type Act =
  | readonly ['send', sender: number, through: number, count: number]
  | readonly ['link', from: number, to: number]
  | readonly ['resolve', through: number, sink: number]
  | readonly ['pause'];
const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.tuple(fc.constant('send' as const), fc.nat(2), fc.nat(promises - 1), fc.integer({ min: 1, max: 4 })),
  },
  { weight: 2, arbitrary: fc.tuple(fc.constant('link' as const), fc.nat(promises - 1), fc.nat(promises - 1)) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('resolve' as const), fc.nat(promises - 1), fc.nat(1)) },
  { weight: 4, arbitrary: fc.constant(['pause'] as const) },
);

test('messages of one sender through one promise arrive in the order they were sent, each at most once, beside any others', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 20, maxLength: 60, size: 'max' }), async (acts) => {
      const vats = await openVats();
      const got: (readonly [sink: number, sender: number, through: number, n: number])[] = [];
      const SinkOf: Definition<Sink, [id: number]> = define('Sink', (_bcom, id) => ({
        take: (sender, through, n) => void got.push([id, sender, through, n]),
      }));
      const SenderOf: Definition<
        {
          send(
            through: number,
            to: Far<{ take(sender: number, through: number, n: number): void }>,
            from: number,
            count: number,
          ): void;
        },
        [id: number]
      > = define('Sender', (_bcom, id) => ({
        send: (through, to, from, count) => {
          for (let n = from; n < from + count; n += 1) E.sendOnly(to).take(id, through, n);
        },
      }));
      // Every vat has a meter of its own.
      const sinks = [await vats.vat('s0').spawn(SinkOf(0)), await vats.vat('s1').spawn(SinkOf(1))];
      const senders = [
        await vats.vat('a').spawn(SenderOf(0)),
        await vats.vat('b').spawn(SenderOf(1)),
        await vats.vat('s0').spawn(SenderOf(2)),
      ];
      const pool = Array.from({ length: promises }, () => promise<unknown>());
      for (const { promise: p } of pool) p.catch(() => {});
      const sent = new Map<string, number>();
      for (const one of acts) {
        if (one[0] === 'send') {
          const [, sender, through, count] = one;
          const key = `${sender} ${through}`;
          const from = sent.get(key) ?? 0;
          sent.set(key, from + count);
          // From inside the sender's vat, under its own meter.
          const to = (pool[through] as (typeof pool)[number]).promise as never;
          const by = senders[sender] as (typeof senders)[number];
          void vats
            .vat(['a', 'b', 's0'][sender] as string)
            .turn(() => (by as never as Sender).send(through, to, from, count));
        } else if (one[0] === 'link') pool[one[1]]?.resolver.resolve((pool[one[2]] as (typeof pool)[number]).promise);
        else if (one[0] === 'resolve') pool[one[1]]?.resolver.resolve(sinks[one[2]]);
        else await vats.vat('b').turn(() => undefined);
      }
      for (let i = 0; i < 4; i += 1)
        for (const name of ['a', 'b', 's0', 's1']) await vats.vat(name).turn(() => undefined);
      const next = new Map<string, number>();
      for (const [sink, sender, through, n] of got) {
        const key = `${sender} ${through}`;
        // The promise resolves to one sink: every message arrives there, in order.
        expect([sink, n]).toEqual([
          next.has(`${through} sink`) ? next.get(`${through} sink`) : sink,
          next.get(key) ?? 0,
        ]);
        next.set(`${through} sink`, sink);
        next.set(key, n + 1);
      }
      for (const [key, count] of next) if (!key.endsWith('sink')) expect(count).toBe(sent.get(key));
      await vats.close();
    }),
    { numRuns: 150 },
  );
});
