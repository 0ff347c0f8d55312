/**
 * The metrics of one machine of a cluster.
 *
 * Promise: the labels are names of machines and tenants. No id, text, path or secret is in them.
 */
import type { ClusterStatus } from '@hob/cluster';
import type { HostCounts } from '@hob/host';
import type { Family } from '../line/open-metrics.ts';

type Rows = readonly (readonly [name: string, value: number])[];
type Named = Pick<Family, 'name' | 'help'> & { readonly unit?: 'seconds' };

/** `counts` has the tenants that are open here. */
export function clusterFamilies(
  { connected, member, hosts, tenants }: ClusterStatus,
  counts: ReadonlyMap<string, HostCounts>,
): readonly Family[] {
  const machines = (named: Named, value: (each: (typeof hosts)[number]) => number): Family =>
    family('machine', named, hosts.map((each) => [each.name, value(each)])); // biome-ignore format: one line
  const all = (named: Named, value: (each: (typeof tenants)[number]) => number): Family =>
    family('tenant', named, tenants.map((each) => [each.name, value(each)])); // biome-ignore format: one line
  const open = (named: Named, value: (each: HostCounts) => number, type?: 'counter'): Family =>
    family('tenant', named, [...counts].map(([name, each]) => [name, value(each)]), type); // biome-ignore format: one line
  return [
    one({ name: 'hob_cluster_connected', help: '1 if the database answers.' }, Number(connected)),
    one(
      {
        name: 'hob_cluster_member',
        help: '1 if this process has joined the cluster, 0 if another process has taken its name.',
      },
      Number(member),
    ),
    machines({ name: 'hob_machine_live', help: '1 if the machine was heard in the last 3 s.' }, (each) =>
      Number(each.live),
    ),
    machines(
      {
        name: 'hob_machine_heard_seconds',
        unit: 'seconds',
        help: 'How long ago the machine was heard, by the clock of the database.',
      },
      (each) => each.heardMs / 1000,
    ),
    all({ name: 'hob_tenant_open', help: '1 if the tenant is open on this machine.' }, (each) =>
      Number(each.here === 'open'),
    ),
    all({ name: 'hob_tenant_failed', help: '1 if the tenant could not be opened on this machine.' }, (each) =>
      Number(each.failure !== undefined),
    ),
    all(
      {
        name: 'hob_tenant_lease_remaining_seconds',
        unit: 'seconds',
        help: 'How long the lease of the store still runs if it is not renewed. 0 if no machine has it.',
      },
      (each) => (each.store?.holder?.leaseMs ?? 0) / 1000,
    ),
    open({ name: 'hob_tenant_sessions', help: 'Sessions of a tenant that is open here.' }, (each) => each.sessions),
    open({ name: 'hob_tenant_grants', help: 'Grants of the sessions of the tenant.' }, (each) => each.grants),
    open(
      { name: 'hob_tenant_requests_waiting', help: 'Requests of the tenant that wait for an answer.' },
      (each) => each.requests,
    ),
    open(
      { name: 'hob_tenant_connections', help: 'Connections of sessions and granters of the tenant.' },
      (each) => each.connections,
    ),
    open(
      { name: 'hob_tenant_turns', help: 'Turns of the tenant since it was opened here.' },
      (each) => each.turns,
      'counter',
    ),
    open(
      { name: 'hob_tenant_commits_failed', help: 'Commits of the tenant that failed. Their turns were undone.' },
      (each) => each.commits.failed,
      'counter',
    ),
    open(
      {
        name: 'hob_tenant_session_turn_seconds',
        unit: 'seconds',
        help: 'Time of turns that was charged to sessions of the tenant.',
      },
      (each) => (each.budgets['turnMs']?.used ?? 0) / 1000,
      'counter',
    ),
  ];
}

const one = (named: Named, value: number): Family => ({ ...named, type: 'gauge', samples: [{ value }] });

const family = (label: string, named: Named, rows: Rows, type: 'gauge' | 'counter' = 'gauge'): Family => ({
  ...named,
  type,
  samples: rows.map(([name, value]) => ({ labels: { [label]: name }, value })),
});
