/**
 * What a host does, as numbers, for a program that watches it.
 *
 * Promise: numbers only. No name, text or id of a session, a granter, an offer or an agent is among them.
 */
import type { Meter, Vats } from '@hob/vat';
import type { HostTables } from './state/records.ts';

/** The use of one budget by all sessions that were entered since the host was opened. */
export interface BudgetUse {
  readonly used: number;
  /** The largest part of its limit that one session uses: 1 is all of it. Undefined for a budget without a limit. */
  readonly fullest?: number;
}

/** Numbers of a host: those of its vats since it was opened, and of what there is now. */
export interface HostCounts extends ReturnType<Vats['counts']> {
  /** Sessions, also those whose rows are being removed. */
  readonly sessions: number;
  /** Grants of these sessions, also those that are over or used up. */
  readonly grants: number;
  /** Requests that wait for an answer. */
  readonly requests: number;
  readonly connections: number;
  /** By the names of the budgets of a meter. */
  readonly budgets: Readonly<Record<string, BudgetUse>>;
}

export type RowCounts = Pick<HostCounts, 'sessions' | 'grants' | 'requests'>;

/** In a turn. Reads no row, so it takes as long with many sessions as with one. */
export const rowCounts = ({ sessions, grants, requests }: HostTables): RowCounts => ({
  sessions: sessions.size,
  grants: grants.size,
  requests: requests.size,
});

type Meters = Iterable<readonly [name: string, meter: Meter]>;

/** The parts of a host that are asked. */
interface Counted {
  readonly vats: Pick<Vats, 'counts'>;
  connections(): readonly unknown[];
}

export const countsOf = ({ vats, connections }: Counted, meters: Meters, rows: RowCounts): HostCounts => ({
  ...{ ...vats.counts(), ...rows },
  connections: connections().length,
  budgets: budgetsOf(meters),
});

/** Adds up the meters of sessions. A child session uses the meter of the session above it. */
function budgetsOf(meters: Meters): HostCounts['budgets'] {
  const found: Record<string, { used: number; fullest?: number }> = {};
  for (const [name, meter] of meters) {
    if (!name.startsWith('session:')) continue;
    const limits = meter.limits();
    for (const [budget, used] of Object.entries(meter.used())) {
      // It limits one argument, and is never counted.
      if (budget === 'argumentBytes') continue;
      const limit = limits[budget] ?? Number.POSITIVE_INFINITY;
      const all = (found[budget] ??= { used: 0 });
      all.used += used;
      if (Number.isFinite(limit) && limit > 0) all.fullest = Math.max(all.fullest ?? 0, used / limit);
    }
  }
  return found;
}
