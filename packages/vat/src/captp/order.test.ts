/**
 * Order with several payers: messages that a third party forwards wait in another queue than those of their
 * sender.
 */
import { expect, onTestFinished, test } from 'vitest';
import { HobPeer } from '../../test/hob-peer.ts';
import { type Definition, define, driver, E, openVats } from '../index.ts';
import { captp } from './captp.ts';
import { memoryPair } from './transport/memory-pair.ts';

interface Log {
  add(line: string): number;
  lines(): readonly string[];
  /** Takes its time. */
  labour(): void;
}
const Log: Definition<Log, [lines: readonly string[]]> = define('Log', (bcom, lines) => ({
  add: (line) => bcom(Log([...lines, line]), lines.length + 1),
  lines: () => lines,
  labour: () => {
    const until = performance.now() + 1;
    while (performance.now() < until);
  },
}));

test('who asks whether all has arrived is answered after what waits in a busy session’s queue', async () => {
  const vats = await openVats();
  const log = await vats.vat('logs').spawn(Log([]));
  let kept: unknown;
  const bootstrap = driver<{ keep(x: unknown): void; kept(): unknown; log(): unknown }>({
    keep: ([x]) => {
      kept = x;
    },
    kept: () => kept,
    log: () => log,
  });
  const peer = (name: string): HobPeer => {
    const [ours, theirs] = memoryPair();
    const connection = captp(ours, { bootstrap, meter: vats.meter(name) });
    onTestFinished(async () => {
      connection.close();
      await connection.closed;
    });
    return new HobPeer(theirs);
  };
  const [a, b] = [peer('a'), peer('b')];
  onTestFinished(() => vats.close());

  // A's messages to a promise of B's go to B, which sends them on to the log.
  b.say(['deliver', 0, 'keep', [[{ '@': 'promise', n: 1 }]], 1], ['deliver', 0, 'log', [], 2]);
  const { n: logOfB } = JSON.parse(await b.answer(2)) as { n: number };
  a.say(['deliver', 0, 'kept', [], 1]);
  const [{ n: shared }] = JSON.parse(await a.answer(1)) as [{ n: number }];
  a.say(['deliver', shared, 'add', ['first'], 2]);
  await b.until(([name, , method]) => name === 'deliver' && method === 'add');
  b.say(['resolve', 1, { '@': 'yours', n: logOfB }]);
  const [, , , , asked] = (await b.until(([, , method]) => method === '__flush__')) as unknown[];
  b.say(
    ...Array.from({ length: 40 }, () => ['deliver', logOfB, 'labour', []]),
    ['deliver', logOfB, 'add', ['first'], 3],
    ['deliver', logOfB, '__flush__', [], 4],
  );
  await b.answer(4);
  b.say(['return', asked, { '@': 'undefined' }]);
  // A is told what it became, and sends the next one itself.
  const [, , { n: logOfA }] = (await a.until(([name]) => name === 'resolve')) as [string, number, { n: number }];
  a.say(['deliver', logOfA, 'add', ['second'], 3]);
  await Promise.all([a.answer(3), b.answer(3)]);
  expect(await E(log).lines()).toEqual(['first', 'second']);
});
