/**
 * Counts of the work of a host, for a program that monitors it.
 *
 * Promise: numbers only. No name, text or id of a session, a granter, an offer or an agent is among them.
 */
import type { Vats } from '@hob/vat';
import type { BudgetUse } from './door/session-meters.ts';
import type { HostTables } from './state/records.ts';

/** The counts of the vats since the host was opened, and how many sessions, grants and so on it has now. */
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

/** Call it in a turn. It reads no row, so it takes as long with many sessions as with one. */
export const rowCounts = ({ sessions, grants, requests }: HostTables): RowCounts => ({
  sessions: sessions.size,
  grants: grants.size,
  requests: requests.size,
});

/** The parts of a host that `countsOf` reads. */
interface Counted {
  readonly vats: Pick<Vats, 'counts'>;
  connections(): readonly unknown[];
}

export const countsOf = (
  { vats, connections }: Counted,
  budgets: HostCounts['budgets'],
  rows: RowCounts,
): HostCounts => ({
  ...{ ...vats.counts(), ...rows },
  connections: connections().length,
  budgets,
});
