/**
 * The cost of a call for an agent: over `hob.1`, through a session and a grant, with a ledger line that is
 * on disk before the call leaves. The peer is the same object on the same wire with nothing between.
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
import { chunkBytes } from './captp-wires.ts';
import type { Case, Suite } from './measure.ts';

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

interface Work {
  readonly name: string;
  readonly n: number;
  readonly unit: 'us' | 'ms';
  readonly rounds: number;
  run(service: Far<Service>): Promise<unknown>;
  readonly atOnce?: true;
}
const text = 'x'.repeat(1_000_000);
const records = Array.from({ length: 20_000 }, (_, id) => ({ id, name: `name-${id}`, done: id % 2 === 0 }));
async function streamed(service: Far<Service>): Promise<void> {
  const source = (await E(service).stream(16 << 20)) as unknown as Far<ByteSource>;
  let got = 0;
  for await (const chunk of iterate(source, { max: chunkBytes, ahead: 2 })) got += chunk.length;
  if (got !== 16 << 20) throw new Error('bytes are missing');
}
const works: readonly Work[] = [
  { name: 'sequential call', n: 100, unit: 'us', rounds: 9, run: (s) => E(s).ping('hello') },
  { name: '500 calls at once', n: 1000, unit: 'us', rounds: 9, run: (s) => E(s).ping('hello'), atOnce: true },
  {
    name: 'two hops with a new object',
    n: 50,
    unit: 'us',
    rounds: 9,
    run: (s) => E(E(s).counter() as unknown as Far<{ next(): number }>).next(),
  },
  { name: 'a text of 1,000,000 ASCII, there and back', n: 1, unit: 'ms', rounds: 7, run: (s) => E(s).echo(text) },
  { name: '20,000 records, there and back', n: 1, unit: 'ms', rounds: 7, run: (s) => E(s).echo(records) },
  { name: '16 MB of bytes by a stream', n: 1, unit: 'ms', rounds: 7, run: streamed },
];

const side =
  (service: Far<Service>, { unit, run, atOnce }: Work) =>
  async (n: number): Promise<number> => {
    const began = performance.now();
    if (atOnce === true)
      for (let done = 0; done < n; done += 500) await Promise.all(Array.from({ length: 500 }, () => run(service)));
    else for (let i = 0; i < n; i += 1) await run(service);
    return ((performance.now() - began) * (unit === 'us' ? 1000 : 1)) / n;
  };
const versus = (grant: string, service: Far<Service>): readonly Case[] =>
  works.map((work) => ({
    name: `${grant}: ${work.name}`,
    n: work.n,
    unit: work.unit,
    rounds: work.rounds,
    ours: side(service, work),
    peer: side(direct.bootstrap, work),
  }));

export const suite: Suite = {
  name: 'as-shipped',
  cases: [...versus('a grant without a number of uses', free), ...versus('a grant of so many uses', counted)],
  async close() {
    for (const peer of open) peer.close();
    const gone = once(server, 'exit');
    server.send('close');
    await gone;
    rmSync(folder, { recursive: true });
  },
};
