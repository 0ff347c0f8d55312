/**
 * The metrics of a host and of its store.
 *
 * Promise: the labels are kinds of ledger lines, names of budgets, bounds of commit times and the version of Hob. No
 * other name, and no text, id, path or secret is in the metrics. They tell how much a host does, and not what it does.
 */
import type { HostCounts } from '@hob/host';
import type { StoreHosts } from '@hob/store-postgres';
import type { Family } from '../../line/open-metrics.ts';
import type { StoreNow } from '../../line/store-lines.ts';

type Single = Pick<Family, 'name' | 'help'> & { readonly unit?: 'seconds' | 'bytes' | 'ratio' };

const gauge = (single: Single, value: number): Family => ({ ...single, type: 'gauge', samples: [{ value }] });
const counter = (single: Single, value: number): Family => ({ ...single, type: 'counter', samples: [{ value }] });

/** The input of `hostFamilies`. */
interface HostNow {
  readonly counts: HostCounts;
  readonly version: string;
  /** When the host began, in ms since 1970. */
  readonly since: number;
}

/** The budget for the time of one turn. The use of it that a meter reports is the sum over all turns. */
const TURN_TIME = 'turnMs';

/** The numbers of a host. Counters start at zero with the host, except the one for the lines of the ledger. */
export const hostFamilies = ({ counts, version, since }: HostNow): readonly Family[] => [
  { name: 'hob', type: 'info', help: 'The version of Hob.', samples: [{ labels: { version }, value: 1 }] },
  gauge(
    { name: 'hob_start_time_seconds', unit: 'seconds', help: 'When the host began, in seconds since 1970.' },
    since / 1000,
  ),
  gauge({ name: 'hob_sessions', help: 'Sessions.' }, counts.sessions),
  gauge(
    { name: 'hob_grants', help: 'Grants of these sessions, also those that are used up or have ended.' },
    counts.grants,
  ),
  gauge({ name: 'hob_requests_waiting', help: 'Requests that wait for an answer.' }, counts.requests),
  gauge({ name: 'hob_connections', help: 'Connections of sessions and granters.' }, counts.connections),
  counter(
    {
      name: 'hob_calls_admitted',
      help: 'Calls that were let through. Parts of streams without a ledger line are not counted.',
    },
    counts.entries['call'] ?? 0,
  ),
  counter({ name: 'hob_calls_refused', help: 'Refused calls, requests and URLs.' }, counts.entries['refuse'] ?? 0),
  {
    ...{ name: 'hob_ledger_entries', type: 'counter', help: 'Entries that turns wrote to the ledger, by kind.' },
    samples: Object.entries(counts.entries).map(([kind, value]) => ({ labels: { kind }, value })),
  },
  counter({ name: 'hob_ledger_lines', help: 'The number of the last line of the ledger.' }, counts.lines),
  counter({ name: 'hob_turns', help: 'Turns of vats.' }, counts.turns),
  {
    ...{ name: 'hob_commit_seconds', unit: 'seconds', type: 'histogram', help: 'How long commits took.' },
    samples: {
      within: counts.commits.within.map(({ ms, count }) => ({ bound: ms / 1000, count })),
      ...{ count: counts.commits.done, sum: counts.commits.ms / 1000 },
    },
  },
  counter({ name: 'hob_commits_failed', help: 'Commits that failed. Their turns were undone.' }, counts.commits.failed),
  counter(
    { name: 'hob_session_turn_seconds', unit: 'seconds', help: 'Time of turns that sessions paid for.' },
    (counts.budgets[TURN_TIME]?.used ?? 0) / 1000,
  ),
  {
    ...{
      name: 'hob_budget_used',
      type: 'gauge',
      help: 'Use of each budget by the sessions that were entered since the start and go on.',
    },
    samples: Object.entries(counts.budgets)
      .filter(([budget]) => budget !== TURN_TIME)
      .map(([budget, { used: value }]) => ({ labels: { budget }, value })),
  },
  {
    ...{ name: 'hob_budget_fullest_ratio', unit: 'ratio', type: 'gauge' },
    help: 'The largest share of the limit of a budget that one session uses.',
    samples: Object.entries(counts.budgets).flatMap(([budget, { fullest: value }]) =>
      value === undefined ? [] : [{ labels: { budget }, value }],
    ),
  },
  gauge({ name: 'hob_store_epoch', help: 'How often the store was opened.' }, counts.epoch),
];

/** The numbers of a store in a database. Times are measured by the clock of the database. */
export function storeFamilies(now: StoreNow): readonly Family[] {
  const up = gauge({ name: 'hob_store_up', help: '1 if the database answers.' }, 'wrong' in now ? 0 : 1);
  return 'wrong' in now ? [up] : [up, ...leaseFamilies(now), ...replicationFamilies(now)];
}

const leaseFamilies = ({ epoch, holder, standbys }: StoreHosts): readonly Family[] => [
  gauge({ name: 'hob_lease_epoch', help: 'How often the store was opened, as the database says.' }, epoch),
  gauge(
    { name: 'hob_lease_remaining_seconds', unit: 'seconds', help: 'How long the lease runs unless it is renewed.' },
    (holder?.leaseMs ?? 0) / 1000,
  ),
  gauge({ name: 'hob_lease_connected', help: '1 if the host that has the lease is connected.' }, holder?.connected === true ? 1 : 0), // biome-ignore format: one line
  gauge({ name: 'hob_hosts_waiting', help: 'Hosts that wait for the store.' }, standbys.length),
];

const replicationFamilies = ({ replication: { mode, standbys, hidden } }: StoreHosts): readonly Family[] => [
  gauge(
    { name: 'hob_replication_synchronous', help: '1 if a commit waits for a standby of the database server.' },
    mode === 'synchronous' ? 1 : 0,
  ),
  gauge({ name: 'hob_replication_standbys', help: 'Standbys of the database server.' }, standbys.length + hidden),
  ...(standbys.length === 0
    ? []
    : [
        gauge(
          {
            name: 'hob_replication_lag_bytes',
            unit: 'bytes',
            help: 'Bytes of the write-ahead log that the standby that is furthest behind has not stored.',
          },
          Math.max(...standbys.map(({ unflushedBytes }) => unflushedBytes)),
        ),
        gauge(
          {
            name: 'hob_replication_lag_seconds',
            unit: 'seconds',
            help: 'How long the slowest standby took to store a commit.',
          },
          Math.max(...standbys.map(({ flushMs = 0 }) => flushMs)) / 1000,
        ),
      ]),
];
