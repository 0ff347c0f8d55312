/**
 * Many sessions on a cluster of three machines: 100,000 idle ones, each with a grant, and 1,000 that call. Each of the
 * 1,000 comes by one of the three doors, so two of three calls are relayed.
 *
 * The machines are processes of their own. The agents and the granter are this process.
 */
import './lockdown.ts';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SessionFace } from '@hob/host';
import { connect, E, type Far } from '@hob/vat';
import type { Connected } from '@hob/vat/wire';
import { openCluster as openServer } from '../test/postgres-cluster.ts';
import { type Bell, fillTenant, type Machine, startMachine, type Tenant } from './cluster-machines.ts';
import { type Case, percentile, type Suite } from './measure.ts';

const IDLE = Number(process.env['HOB_BENCH_IDLE'] ?? 100_000);
const ACTIVE = Number(process.env['HOB_BENCH_ACTIVE'] ?? 1000);
const TENANTS = 9;
const MACHINES = ['alpha', 'beta', 'gamma'] as const;
const SECONDS = 20;

const folder = mkdtempSync(join(tmpdir(), 'hob-bench-crowd-'));
const server = await openServer();
const pause = (ms: number): Promise<void> => new Promise((then) => setTimeout(then, ms));

interface Crowd {
  readonly tenants: readonly Tenant[];
  readonly machines: readonly Machine[];
  /** ms from the start of the machines to the last tenant that is open. */
  readonly startMs: number;
}
let crowd: Promise<Crowd> | undefined;
const children: ChildProcess[] = [];
/** The filled cluster, made by the first case that needs it. */
async function made(): Promise<Crowd> {
  const tenants: Tenant[] = [];
  const of = (all: number): number => Math.ceil(all / TENANTS);
  for (let n = 0; n < TENANTS; n += 1)
    tenants.push(await fillTenant(server.url, `t${n}`, join(folder, `fill-${n}`), of(IDLE) + of(ACTIVE), of(ACTIVE)));
  const open = new Set<string>();
  const began = performance.now();
  const machines = await Promise.all(MACHINES.map((name) => startMachine(server.url, name, join(folder, name), open)));
  children.push(...machines.map(({ child }) => child));
  for (const [n, { name }] of tenants.entries())
    await server.sql`INSERT INTO hob_cluster.tenant VALUES (${name}, ${MACHINES[n % 3] as string})`;
  while (open.size < TENANTS) await pause(20);
  return { tenants, machines, startMs: performance.now() - began };
}
const theCrowd = (): Promise<Crowd> => (crowd ??= made());

/** A cap of a session, by the door of a machine. */
async function enter(url: string, tenant: string, secret: string): Promise<Connected<SessionFace>> {
  return await connect<SessionFace>(`${url}/${tenant}`, { secret });
}

const figures: string[] = [];
/** Returns the p99 of the calls of all active sessions, each of which calls once a second. */
async function calls(): Promise<number> {
  const { tenants, machines } = await theCrowd();
  const connections: Connected<SessionFace>[] = [];
  const bells: Far<Bell>[] = [];
  for (const [n, { name, active }] of tenants.entries())
    for (const [k, { secret }] of active.entries()) {
      const connection = await enter((machines[(n + k) % 3] as Machine).url, name, secret);
      connections.push(connection);
      bells.push(E(connection.bootstrap).cap('bell') as unknown as Far<Bell>);
    }
  const took: number[] = [];
  let failed = 0;
  const call = async (bell: Far<Bell>): Promise<void> => {
    const began = performance.now();
    await E(bell)
      .ring()
      .catch(() => (failed += 1));
    took.push(performance.now() - began);
  };
  const agent = async (bell: Far<Bell>, n: number): Promise<void> => {
    await pause((1000 * n) / bells.length);
    for (let second = 0; second < SECONDS; second += 1) {
      const next = pause(1000);
      await call(bell);
      await next;
    }
  };
  await Promise.all(bells.map(agent));
  for (const { close } of connections) close();
  await Promise.all(connections.map(({ closed }) => closed));
  if (failed > 0) throw new Error(`${failed} calls failed`);
  figures.push(`${bells.length} sessions, ${took.length} calls: median ${percentile(took, 50).toFixed(1)} ms, p99 ${percentile(took, 99).toFixed(1)} ms`); // biome-ignore format: one line
  return percentile(took, 99);
}

/** The largest memory of a machine, in MiB. */
async function memory(): Promise<number> {
  const { machines } = await theCrowd();
  const all = machines.map(
    ({ child }) =>
      new Promise<number>((then) => {
        child.on('message', (said: { readonly rss?: number }) => said.rss !== undefined && then(said.rss));
        child.send('memory');
      }),
  );
  return Math.max(...(await Promise.all(all))) / (1 << 20);
}

const shared = { rounds: 1, slow: true } as const;
const cases: readonly Case[] = [
  {
    name: `${IDLE} idle sessions in nine tenants: from the start of three machines to the last open tenant`,
    ...{ ...shared, n: 1, unit: 'ms' },
    ours: async () => (await theCrowd()).startMs,
  },
  {
    name: 'memory of the largest machine (RSS)',
    ...{ ...shared, n: 1, unit: 'MiB' },
    ours: memory,
  },
  {
    name: `p99 of ${ACTIVE} active sessions, a call a second each, two of three relayed (no error)`,
    ...{ ...shared, n: 1, unit: 'ms' },
    ours: calls,
  },
];

export const suite: Suite = {
  name: 'cluster-crowd',
  cases,
  async close() {
    for (const text of figures) console.error(text);
    for (const child of children) child.kill('SIGKILL');
    await server.remove();
    rmSync(folder, { recursive: true, force: true });
  },
};
