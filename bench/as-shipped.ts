/**
 * The cost of a call for an agent: over `hob.1`, through a session and a grant, with a ledger line that is
 * on disk before the call leaves. The peer is the same object on the same wire with nothing between. For most goals the
 * peer is capnweb, which has neither grants nor a ledger. Then come the parts of a call, each alone (`call-parts.ts`).
 *
 * Promise: the host runs in a process of its own and is opened as a program opens it. Every call writes its
 * line and waits for the disk.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ByteSource, connect, E, type Far, iterate } from '@hob/vat';
import type { Connected } from '@hob/vat/wire';
import type { Service, Shipped } from './as-shipped-server.ts';
import { callParts } from './call-parts.ts';
import { chunkBytes, dial } from './captp-wires.ts';
import type { Case, Goal, Suite } from './measure.ts';

const folder = mkdtempSync(join(tmpdir(), 'hob-shipped-'));
const server = fork(new URL('as-shipped-server.ts', import.meta.url), [join(folder, 'state')], {
  execArgv: process.execArgv.filter((flag) => !flag.startsWith('--cpu-prof')),
});
const [told] = (await once(server, 'message')) as [Shipped];

const open: Connected<object>[] = [];
async function session(secret: string): Promise<Far<Service>> {
  const peer = await connect<{ cap(petname: string): Service }>(told.url, { secret });
  open.push(peer);
  return (await E(peer.bootstrap).cap('service')) as unknown as Far<Service>;
}
const free = await session(told.free);
const counted = await session(told.counted);
// That server lets everybody in.
const direct = await connect<Service>(`ws://127.0.0.1:${told.port}`, { secret: 'none' });
open.push(direct);
const capnweb = await dial('capnweb', told.capnweb);
const parts = await callParts(folder);

const text = 'x'.repeat(1_000_000);
const records = Array.from({ length: 20_000 }, (_, id) => ({ id, name: `name-${id}`, done: id % 2 === 0 }));
async function streamed(service: Far<Service>): Promise<void> {
  const source = (await E(service).stream(16 << 20)) as unknown as Far<ByteSource>;
  let got = 0;
  for await (const chunk of iterate(source, { max: chunkBytes, ahead: 2 })) got += chunk.length;
  if (got !== 16 << 20) throw new Error('bytes are missing');
}

type Call = () => Promise<unknown>;
type Timed = (n: number) => Promise<number>;
const perCall = async (n: number, unit: 'us' | 'ms', all: () => Promise<void>): Promise<number> => {
  const began = performance.now();
  await all();
  return ((performance.now() - began) * (unit === 'us' ? 1000 : 1)) / n;
};
const inTurn =
  (call: Call, unit: 'us' | 'ms' = 'us'): Timed =>
  (n) =>
    perCall(n, unit, async () => {
      for (let i = 0; i < n; i += 1) await call();
    });
const atOnce =
  (call: Call): Timed =>
  (n) =>
    perCall(n, 'us', async () => {
      for (let done = 0; done < n; done += 500) await Promise.all(Array.from({ length: 500 }, call));
    });

const { bootstrap: bare } = direct;
const ping = (service: Far<Service>) => (): Promise<unknown> => E(service).ping('hello');
const hop = (service: Far<Service>) => (): Promise<unknown> =>
  E(E(service).counter() as unknown as Far<{ next(): number }>).next();
const echo = (service: Far<Service>, value: unknown) => (): Promise<unknown> => E(service).echo(value);
const stream = (service: Far<Service>) => (): Promise<unknown> => streamed(service);
const us = { n: 100, unit: 'us', rounds: 9 } as const;
const ms = { n: 1, unit: 'ms', rounds: 9 } as const;
const ratio = (bound: number): Goal => ({ text: `<= ${bound} x`, met: (row) => row.ratio <= bound });
const atMost = (bound: number): Goal => ({ text: `<= ${bound} us`, met: ({ ours }) => ours <= bound });

/** The cases with capnweb as the peer. They have goals. */
const goals = (grant: string, service: Far<Service>, isCounted: boolean): readonly Case[] => [
  isCounted
    ? {
        ...us,
        name: `${grant}: sequential call vs capnweb and one fsync`,
        ours: inTurn(ping(service)),
        peer: inTurn(async () => {
          await capnweb.ping();
          parts.fsync();
        }),
        goal: ratio(1.3),
      }
    : {
        ...us,
        name: `${grant}: sequential call vs capnweb`,
        ours: inTurn(ping(service)),
        peer: inTurn(() => capnweb.ping()),
        goal: ratio(2),
      },
  {
    ...us,
    n: 1000,
    name: `${grant}: 500 calls at once vs capnweb`,
    ours: atOnce(ping(service)),
    peer: atOnce(() => capnweb.ping()),
    goal: atMost(15),
  },
  {
    ...ms,
    name: `${grant}: a text of 1,000,000 ASCII, there and back, vs capnweb`,
    ours: inTurn(echo(service, text), 'ms'),
    peer: inTurn(() => capnweb.echo(text), 'ms'),
    goal: ratio(1.2),
  },
];

/** The cases whose peer is the same object on the same wire. A stream has its goal here: capnweb pushes its parts. */
const between = (grant: string, service: Far<Service>, isCounted: boolean): readonly Case[] => [
  { ...us, name: `${grant}: sequential call`, ours: inTurn(ping(service)), peer: inTurn(ping(bare)) },
  { ...us, n: 1000, name: `${grant}: 500 calls at once`, ours: atOnce(ping(service)), peer: atOnce(ping(bare)) },
  { ...us, n: 50, name: `${grant}: two hops with a new object`, ours: inTurn(hop(service)), peer: inTurn(hop(bare)) },
  {
    ...ms,
    name: `${grant}: 20,000 records, there and back`,
    ours: inTurn(echo(service, records), 'ms'),
    peer: inTurn(echo(bare, records), 'ms'),
  },
  {
    ...ms,
    n: 5,
    name: `${grant}: 16 MB of bytes by a stream`,
    ours: inTurn(stream(service), 'ms'),
    peer: inTurn(stream(bare), 'ms'),
    ...(isCounted ? {} : { goal: ratio(1.2) }),
  },
];

const withoutUses = 'a grant without a number of uses';
const withUses = 'a grant of so many uses';
export const suite: Suite = {
  name: 'as-shipped',
  cases: [
    ...goals(withoutUses, free, false),
    ...goals(withUses, counted, true),
    ...between(withoutUses, free, false),
    ...between(withUses, counted, true),
    ...parts.cases,
  ],
  async close() {
    for (const peer of open) peer.close();
    capnweb.close();
    await parts.close();
    const gone = once(server, 'exit');
    server.send('close');
    await gone;
    rmSync(folder, { recursive: true });
  },
};
