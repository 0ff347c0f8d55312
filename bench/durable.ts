/**
 * The cost of a durable turn, beside a bare SQLite in a worker thread that commits one row and one hashed
 * line.
 *
 * Promise: both write to the same disk with `synchronous=FULL`, and rounds alternate. Times are from the
 * call to the durable answer, on the thread that called.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { E, type Far, openStore, openVats } from '@hob/vat';
import { BareCommits } from './bare-commits.ts';
import { Counter, definitions, Hop } from './durable-actors.ts';
import type { Case, Suite } from './measure.ts';
import { slowDisk } from './slow-disk.ts';

const folder = mkdtempSync(join(tmpdir(), 'hob-bench-'));
const CALLERS = 64;

// ---- ours

const store = await openStore({ path: join(folder, 'ours') });
const vats = await openVats({ store, definitions });
const vat = vats.vat('bench');
const counters = await Promise.all(
  Array.from({ length: CALLERS }, (_, i) => vat.root(`counter-${i}`, () => Counter(0))),
);
const [counter] = counters as [Far<Counter>];

/** A chain of vats, each with one actor that sends on to the next. */
let first: Far<Hop> | null = null;
for (let i = 4; i >= 0; i -= 1) {
  const next: Far<Hop> | null = first;
  first = await vats.vat(`hop-${i}`).root('hop', () => Hop(0, next));
}
const hops = first as Far<Hop>;

async function ask(from: Far<Counter>, times: number): Promise<void> {
  for (let i = 0; i < times; i += 1) await E(from).next();
}
async function go(far: number, times: number): Promise<void> {
  for (let i = 0; i < times; i += 1) await E(hops).go(far);
}

// ---- the peer

const bare = new BareCommits(folder);
const bareGrouped = new BareCommits(folder, { grouped: true });

/** us per operation. */
async function timed(n: number, body: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await body();
  return ((performance.now() - began) * 1000) / n;
}
const all = (n: number, caller: (i: number, times: number) => Promise<void>): Promise<unknown> =>
  Promise.all(Array.from({ length: CALLERS }, (_, i) => caller(i, n / CALLERS)));
const ours64 = (n: number): Promise<number> =>
  timed(n, () => all(n, (i, times) => ask(counters[i] as Far<Counter>, times)));
const bare64 =
  (peer: BareCommits) =>
  (n: number): Promise<number> =>
    timed(n, () => all(n, (i, times) => peer.ask(`a/bench/${i}`, times)));

const speed: readonly Case[] = [
  {
    name: 'one turn alone, host to durable answer vs bare lone commit',
    n: 100,
    unit: 'us',
    ours: (n) => timed(n, () => ask(counter, n)),
    peer: (n) => timed(n, () => bare.ask('a/bench/1', n)),
    goal: { text: '<= its + 60 us', met: ({ ours, peer }) => ours <= peer + 60 },
  },
  {
    name: 'four hops between vats vs one hop',
    n: 100,
    unit: 'us',
    ours: (n) => timed(n, () => go(4, n)),
    peer: (n) => timed(n, () => go(1, n)),
    goal: { text: '<= 1.5 x', met: ({ ratio }) => ratio <= 1.5 },
  },
  {
    name: '64 callers vs bare, a commit each',
    n: 6400,
    unit: 'us',
    ours: ours64,
    peer: bare64(bare),
  },
  {
    name: '64 callers vs bare that commits in groups',
    n: 6400,
    unit: 'us',
    ours: ours64,
    peer: bare64(bareGrouped),
    goal: { text: '>= 0.5 x its throughput', met: ({ ratio }) => ratio <= 2 },
  },
];

// ---- what needs a process of its own

const run = promisify(execFile);
async function child(args: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<number> {
  const program = new URL('durable-child.ts', import.meta.url).pathname;
  const { stdout } = await run(process.execPath, [...process.execArgv, program, ...args], { env });
  return Number(stdout);
}

const onSlowDisk = (): NodeJS.ProcessEnv => slowDisk(folder, 5);
const loop: Case = {
  name: "event loop's delay under load vs idle, fsync of 5 ms (p99)",
  n: 1,
  rounds: 3,
  unit: 'ms',
  slow: true,
  ours: () => child(['load', mkdtempSync(join(folder, 'slow-'))], onSlowDisk()),
  peer: () => child(['idle', mkdtempSync(join(folder, 'slow-'))], onSlowDisk()),
  goal: { text: '<= idle + 2 ms', met: ({ ours, peer }) => ours <= peer + 2 },
  whenMissed: 'commits have a thread of their own: the rest is other work of the machine',
};

let million: string | undefined;
async function millionActors(n: number): Promise<string> {
  if (million === undefined) {
    million = join(folder, 'million');
    const made = await child(['make', million, String(n)]);
    if (made < n) throw new Error(`only ${made} actors were made`);
  }
  return million;
}
const opening: Case = {
  name: 'open a store of 1,000,000 actors, to the durable answer of the first turn',
  n: 1_000_000,
  rounds: 3,
  unit: 'ms',
  slow: true,
  ours: async (n) => child(['open', await millionActors(n)]),
  goal: { text: '<= 1 s', met: ({ ours }) => ours <= 1000 },
};

const sweeping: Case = {
  name: 'sweep of a store of 1,000,000 actors: the longest time that the event loop is kept',
  n: 1_000_000,
  rounds: 3,
  unit: 'ms',
  slow: true,
  ours: async (n) => child(['sweep', await millionActors(n)]),
  goal: { text: '<= 5 ms', met: ({ ours }) => ours <= 5 },
  whenMissed: 'a slice is 3 ms: the rest is other work of the machine, or of the garbage collector',
};

let lines: string | undefined;
const verifying = (from: 'store' | 'file'): Case => ({
  name: `verify 1,000,000 ledger lines from a ${from}`,
  n: 1_000_000,
  rounds: 3,
  unit: 'ms',
  slow: true,
  async ours(n) {
    if (lines === undefined) {
      lines = join(folder, 'lines');
      const made = await child(['lines', lines, String(n)]);
      if (made < n) throw new Error(`only ${made} lines were written`);
    }
    return child([`verify-${from}`, lines]);
  },
  goal: { text: '<= 10 s', met: ({ ours }) => ours <= 10_000 },
});

export const suite: Suite = {
  name: 'durable',
  cases: [...speed, loop, opening, sweeping, verifying('store'), verifying('file')],
  async close() {
    await Promise.all([bare.close(), bareGrouped.close()]);
    await vats.close();
    await store.close();
    rmSync(folder, { recursive: true });
  },
};
