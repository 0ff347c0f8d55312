/**
 * How soon a revocation at the door of one machine of a cluster is noticed at the door of another. The tenant is served by
 * a third one, so both are relayed. Three machines, each a process of its own; the agent and the granter are this process.
 *
 * The time runs from the acknowledgement of the revocation to the refusal of a call. No call that begins after the
 * acknowledgement may pass. The peer is a call that passes, which also waits for the database: what the way costs.
 */
import './lockdown.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Granter, SessionFace } from '@hob/host';
import { connect, E, type Far } from '@hob/vat';
import { openCluster as openServer } from '../test/postgres-cluster.ts';
import { type Bell, fillTenant, type Machine, startMachine, type Tenant } from './cluster-machines.ts';
import { type Case, percentile, type Suite } from './measure.ts';

/** The number of sessions of each tenant. One session of each calls. */
const SESSIONS = { few: 1, many: 11_001 } as const;
type Name = keyof typeof SESSIONS;

const folder = mkdtempSync(join(tmpdir(), 'hob-bench-revoke-'));
const server = await openServer();
const pause = (ms: number): Promise<void> => new Promise((then) => setTimeout(then, ms));

const filled = (name: Name): Promise<Tenant> =>
  fillTenant(server.url, name, join(folder, `fill-${name}`), SESSIONS[name], 1);
const tenants: Readonly<Record<Name, Tenant>> = { few: await filled('few'), many: await filled('many') };
const open = new Set<string>();
const [owner, there, far] = (await Promise.all(
  ['alpha', 'beta', 'gamma'].map((name) => startMachine(server.url, name, join(folder, name), open)),
)) as [Machine, Machine, Machine];
for (const name of Object.keys(tenants)) await server.sql`INSERT INTO hob_cluster.tenant VALUES (${name}, 'alpha')`;
while (open.size < 2) await pause(20);

let grants = 0;
/** The times of rounds: of the call that passes, and of the one that is refused. */
async function rounds(name: Name, n: number): Promise<{ readonly passed: number[]; readonly refused: number[] }> {
  const { granter, active } = tenants[name];
  const session = active[0] as Tenant['active'][number];
  const ann = await connect<Granter>(`${there.url}/${name}`, { secret: granter });
  const agent = await connect<SessionFace>(`${far.url}/${name}`, { secret: session.secret });
  const [passed, refused]: [number[], number[]] = [[], []];
  for (let round = 0; round < n; round += 1) {
    const petname = `bell-${(grants += 1)}`;
    const { id } = await E(ann.bootstrap).grant(session.id, petname, 'bell', { for: 60_000 });
    const bell = (await E(agent.bootstrap).cap(petname)) as unknown as Far<Bell>;
    const began = performance.now();
    await E(bell).ring();
    passed.push(performance.now() - began);
    await E(ann.bootstrap).revoke({ grant: id });
    const acknowledged = performance.now();
    const code = await E(bell)
      .ring()
      .catch((error: { readonly code?: string }) => error.code);
    refused.push(performance.now() - acknowledged);
    if (code !== 'revoked') throw new Error(`a call after the acknowledgement: ${code}`);
  }
  for (const { close, closed } of [ann, agent]) {
    close();
    await closed;
  }
  return { passed, refused };
}

const measured = new Map<Name, ReturnType<typeof rounds>>();
/** Each tenant is measured once, after rounds that are not counted. */
const timesOf = (name: Name): ReturnType<typeof rounds> => {
  const made = measured.get(name) ?? rounds(name, 200).then(() => rounds(name, 1000));
  measured.set(name, made);
  return made;
}; // biome-ignore format: one line

const p99 = (name: Name, title: string): Case => ({
  name: `${title}: p99 from the acknowledgement of a revocation at one door to the refusal at another (peer: a call that passes)`,
  ...{ rounds: 1, n: 1, unit: 'ms', slow: true },
  ours: async () => percentile((await timesOf(name)).refused, 99),
  peer: async () => percentile((await timesOf(name)).passed, 99),
  goal: { text: '<= 5 ms', met: ({ ours }) => ours <= 5 },
}); // biome-ignore format: one line
const median = (name: Name, title: string): Case => ({
  name: `${title}: the same, median`,
  ...{ rounds: 1, n: 1, unit: 'ms', slow: true },
  ours: async () => percentile((await timesOf(name)).refused, 50),
  peer: async () => percentile((await timesOf(name)).passed, 50),
}); // biome-ignore format: one line

export const suite: Suite = {
  name: 'cluster-revoke',
  cases: [
    p99('few', 'a tenant with one session'),
    median('few', 'a tenant with one session'),
    p99('many', 'a tenant with 11,001 sessions'),
    median('many', 'a tenant with 11,001 sessions'),
  ],
  async close() {
    for (const { child } of [owner, there, far]) child.kill('SIGKILL');
    await server.remove();
    rmSync(folder, { recursive: true, force: true });
  },
};
