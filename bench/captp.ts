/**
 * Calls, values, bytes and connections over a socket on loopback, between two processes. `hob.1` stands
 * beside capnweb and beside bare `ws` with JSON; the dialect `captp` beside `@endo/captp`.
 *
 * Promise: both processes are locked down, hold all wires, and do the same work on each. Rounds alternate.
 * Times are wall time at the caller, so both processes count.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { Ports } from './captp-server.ts';
import { type Client, dial, type WireName, wireNames } from './captp-wires.ts';
import { type Case, type Goal, percentile, type Suite } from './measure.ts';

const server: ChildProcess = fork(new URL('captp-server.ts', import.meta.url), {
  execArgv: [...process.execArgv.filter((flag) => !flag.startsWith('--cpu-prof')), '--expose-gc'],
});
const told = async <T>(): Promise<T> => ((await once(server, 'message')) as [T])[0];
const ports = await told<Ports>();
const clients = Object.fromEntries(
  await Promise.all(wireNames.map(async (name) => [name, await dial(name, ports[name])] as const)),
) as Readonly<Record<WireName, Client>>;

/** us per operation. */
async function timed(n: number, body: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await body();
  return ((performance.now() - began) * 1000) / n;
}
async function oneByOne(n: number, body: () => Promise<unknown>): Promise<void> {
  for (let i = 0; i < n; i += 1) await body();
}
/** In batches, so that no wire has more than so many answers to keep. */
const batch = 500;
async function atOnce(n: number, body: () => Promise<unknown>): Promise<void> {
  for (let done = 0; done < n; done += batch) await Promise.all(Array.from({ length: batch }, body));
}

const text = 'x'.repeat(1_000_000);
const records = Array.from({ length: 20_000 }, (_, id) => ({ id, name: `name-${id}`, done: id % 2 === 0 }));
/** Records with some of these eleven keys. 148 of the 20,000 have the same keys as the record before. */
const names = ['id', 'name', 'done', 'owner', 'size', 'kind', 'path', 'line', 'text', 'time', 'tags'];
const unlike = Array.from({ length: 20_000 }, (_, id) =>
  Object.fromEntries(
    names.filter((_name, bit) => ((id * 2_654_435_761) >>> (bit + 8)) % 4 === 0).map((name) => [name, id]),
  ),
);

async function echoed(client: Client, value: { readonly length: number }): Promise<void> {
  const back = (await client.echo(value)) as { readonly length: number };
  if (back.length !== value.length) throw new Error('something else came back');
}
async function streamed(client: Client, total: number): Promise<void> {
  if ((await client.bytes(total)) !== total) throw new Error('bytes are missing');
}

interface Work {
  readonly name: string;
  readonly n: number;
  readonly unit: 'us' | 'ms';
  readonly rounds?: number;
  run(client: Client, n: number): Promise<void>;
}
const us = { unit: 'us', rounds: 15 } as const;
const ms = { unit: 'ms', n: 1, rounds: 9 } as const;
const sequential: Work = { name: 'sequential call', n: 300, ...us, run: (c, n) => oneByOne(n, () => c.ping()) };
const pipelined: Work = { name: '500 calls at once', n: 2000, ...us, run: (c, n) => atOnce(n, () => c.ping()) };
const hop: Work = { name: 'two hops with a new object', n: 300, ...us, run: (c, n) => oneByOne(n, () => c.hop()) };
const hops: Work = { name: '500 times two hops at once', n: 1000, ...us, run: (c, n) => atOnce(n, () => c.hop()) };
const aText: Work = { name: 'a text of 1,000,000 ASCII, there and back', ...ms, run: (c) => echoed(c, text) };
const aList: Work = { name: '20,000 records, there and back', ...ms, run: (c) => echoed(c, records) };
const aMixedList: Work = {
  name: '20,000 records of different shapes, there and back',
  ...ms,
  run: (c) => echoed(c, unlike),
};
const stream: Work = { name: '64 MB of bytes by a stream', ...ms, run: (c) => streamed(c, 64 << 20) };

const versus = (ours: WireName, peer: WireName, work: Work, goal?: Goal): Case => {
  const side = (wire: WireName) => async (n: number) => {
    const perOperation = await timed(n, () => work.run(clients[wire], n));
    return work.unit === 'ms' ? perOperation / 1000 : perOperation;
  };
  const { name, n, unit, rounds } = work;
  return {
    name: `${ours} vs ${peer}: ${name}`,
    n,
    unit,
    ...(rounds === undefined ? {} : { rounds }),
    ours: side(ours),
    peer: side(peer),
    ...(goal === undefined ? {} : { goal }),
  };
};
const atMost = (bound: number): Goal => ({ text: `<= ${bound} x`, met: ({ ratio }) => ratio <= bound });
const faster: Goal = { text: 'faster', met: ({ ratio }) => ratio < 1 };

const calls: readonly Case[] = [
  versus('hob.1', 'capnweb', sequential, atMost(0.75)),
  versus('hob.1', 'capnweb', pipelined, atMost(0.5)),
  versus('hob.1', 'capnweb', hop, atMost(1.4)),
  versus('hob.1', 'capnweb', hops, atMost(1.4)),
  versus('hob.1', 'capnweb', aText, atMost(1.2)),
  versus('hob.1', 'capnweb', aList, atMost(1.2)),
  versus('hob.1', 'capnweb', aMixedList, atMost(1.2)),
  versus('hob.1', 'bare', stream, { text: '>= 0.7 x its throughput', met: ({ ratio }) => ratio <= 1 / 0.7 }),
  versus('hob.1', 'capnweb', stream),
  versus('hob.1', 'bare', sequential),
  versus('hob.1', 'bare', pipelined),
  versus('hob.1', 'bare', aText),
  versus('hob.1', 'bare', aList),
  versus('captp', 'endo', sequential, faster),
  versus('captp', 'endo', pipelined, faster),
  versus('captp', 'endo', hop, faster),
  versus('captp', 'endo', hops, faster),
  versus('captp', 'endo', aText, faster),
  versus('captp', 'endo', aList, faster),
];

// ---- many connections

const many = (wire: WireName, n: number): Promise<Client[]> =>
  Promise.all(Array.from({ length: n }, () => dial(wire, ports[wire])));
const pause = (time: number): Promise<void> => new Promise((done) => setTimeout(done, time));

/** Each connection makes 30 calls, one a second. Returns their p99 in ms. An error ends the suite. */
async function everySecond(wire: WireName, n: number): Promise<number> {
  const open = await many(wire, n);
  const took: number[] = [];
  const start = performance.now();
  await Promise.all(
    open.map(async (client, i) => {
      for (let call = 0; call < 30; call += 1) {
        await pause(Math.max(0, start + (call + i / n) * 1000 - performance.now()));
        const began = performance.now();
        await client.ping();
        took.push(performance.now() - began);
      }
    }),
  );
  for (const client of open) client.close();
  return percentile(took, 99);
}

/** Bytes that the serving process holds, once what was closed is gone: the least of some looks. */
async function held(): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let same = 0; same < 4; ) {
    const answer = told<{ readonly used: number }>();
    server.send('memory');
    const { used } = await answer;
    same = used < least * 0.998 ? 0 : same + 1;
    least = Math.min(least, used);
    await pause(250);
  }
  return least;
}

/** Memory of the serving process for a connection that has called once, in kB, without that of the kernel. */
async function idle(wire: WireName, n: number): Promise<number> {
  const before = await held();
  const open = await many(wire, n);
  await Promise.all(open.map((client) => client.ping()));
  const after = await held();
  for (const client of open) client.close();
  return (after - before) / n / 1000;
}

const connections: readonly Case[] = [
  {
    name: '1,000 connections, each a call a second for 30 s without an error (p99)',
    n: 1000,
    rounds: 1,
    unit: 'ms',
    slow: true,
    ours: (n) => everySecond('hob.1', n),
    peer: (n) => everySecond('capnweb', n),
  },
  {
    name: 'memory of an idle connection, of 1,000, in the serving process',
    n: 1000,
    rounds: 3,
    unit: 'kB',
    slow: true,
    ours: (n) => idle('hob.1', n),
    peer: (n) => idle('capnweb', n),
  },
  {
    name: 'memory of an idle connection, of 1,000, vs bare ws',
    n: 1000,
    rounds: 3,
    unit: 'kB',
    slow: true,
    ours: (n) => idle('hob.1', n),
    peer: (n) => idle('bare', n),
  },
];

export const suite: Suite = {
  name: 'captp',
  cases: [...calls, ...connections],
  async close() {
    for (const client of Object.values(clients)) client.close();
    const gone = once(server, 'exit');
    server.disconnect();
    await gone;
  },
};
