/**
 * The cost of a durable turn on a store in PostgreSQL, beside a bare INSERT on the same server.
 *
 * Promise: both are clients of one server on this machine, over its Unix socket, with `fsync` and `synchronous_commit` on,
 * and rounds alternate. The turn changes one actor and adds a hashed ledger line; the INSERT adds one row of that size.
 */
import { fork } from 'node:child_process';
import { postgresStore } from '@hob/store-postgres';
import { E, type Far, openVats } from '@hob/vat';
import postgres from 'postgres';
import { openCluster } from '../test/postgres-cluster.ts';
import { Counter, definitions } from './durable-actors.ts';
import type { Suite } from './measure.ts';

const CALLERS = 64;
const cluster = await openCluster();
const store = await postgresStore({ url: cluster.url, schema: 'ours' });
const vats = await openVats({ store, definitions });
const counters = await Promise.all(
  Array.from({ length: CALLERS }, (_, i) => vats.vat('bench').root(`counter-${i}`, () => Counter(0))),
);

const bare = postgres({ host: cluster.socket, user: 'hob', database: 'postgres', max: 10, fetch_types: false });
const lone = postgres({ host: cluster.socket, user: 'hob', database: 'postgres', max: 1, fetch_types: false });
await bare`CREATE TABLE bare (seq bigserial PRIMARY KEY, bytes bytea NOT NULL)`;
const line = Buffer.alloc(250, 'x');
const insert = async (client: postgres.Sql, times: number): Promise<void> => {
  for (let i = 0; i < times; i += 1) await client`INSERT INTO bare (bytes) VALUES (${line})`;
};
const ask = async (counter: Far<Counter>, times: number): Promise<void> => {
  for (let i = 0; i < times; i += 1) await E(counter).next();
};

/** us per operation. */
async function timed(n: number, body: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await body();
  return ((performance.now() - began) * 1000) / n;
}
const all = (n: number, caller: (i: number, times: number) => Promise<void>): Promise<unknown> =>
  Promise.all(Array.from({ length: CALLERS }, (_, i) => caller(i, n / CALLERS)));

let schemas = 0;
/** ms from the end of one host to the first durable answer of the next. */
async function takeOver(how: 'closes' | 'killed'): Promise<number> {
  const schema = `take_over_${(schemas += 1)}`;
  const host = fork(new URL('postgres-host.ts', import.meta.url), [cluster.url, schema]);
  await new Promise((then) => host.once('message', then));
  const over = new Promise((then) => host.once('exit', then));
  const began = performance.now();
  if (how === 'killed') host.kill('SIGKILL');
  else host.send('close');
  await over;
  const next = await postgresStore({ url: cluster.url, schema });
  const there = await openVats({ store: next, definitions });
  await E((await there.vat('bench').root('counter', () => Counter(0))) as Far<Counter>).next();
  const took = performance.now() - began;
  await there.close();
  await next.close();
  return took;
}

export const suite: Suite = {
  name: 'postgres',
  cases: [
    {
      name: 'one turn alone, host to durable answer vs a bare INSERT',
      n: 200,
      unit: 'us',
      ours: (n) => timed(n, () => ask(counters[0] as Far<Counter>, n)),
      peer: (n) => timed(n, () => insert(lone, n)),
      goal: { text: '<= 1.3 x', met: ({ ratio }) => ratio <= 1.3 },
      whenMissed: 'the trip to the thread of the store wakes two sleeping threads',
    },
    {
      name: '64 callers vs 64 callers of a bare INSERT, over 10 connections',
      n: 6400,
      unit: 'us',
      ours: (n) => timed(n, () => all(n, (i, times) => ask(counters[i] as Far<Counter>, times))),
      peer: (n) => timed(n, () => all(n, (_, times) => insert(bare, times))),
      goal: { text: '>= 0.5 x its throughput', met: ({ ratio }) => ratio <= 2 },
    },
    {
      name: 'from the close of a host to the first durable answer of the next',
      n: 1,
      rounds: 5,
      unit: 'ms',
      ours: () => takeOver('closes'),
      goal: { text: '<= 1 s', met: ({ ours }) => ours <= 1000 },
    },
    {
      name: 'from kill -9 of a host to the first durable answer of the next',
      n: 1,
      rounds: 5,
      unit: 'ms',
      ours: () => takeOver('killed'),
      goal: { text: '<= 10 s', met: ({ ours }) => ours <= 10_000 },
    },
  ],
  async close() {
    await Promise.all([bare.end(), lone.end()]);
    await vats.close();
    await store.close();
    await cluster.remove();
  },
};
