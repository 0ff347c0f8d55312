/**
 * The memory of a firewall about the calls of a grant. It notices a caller that goes round in circles.
 *
 * Promise: what was seen twice, or failed, lasts like the grant, also over a restart. A first sight lasts as long as
 * the host: it is kept outside of the store, because most reading calls are made once. A turn of a person makes all of
 * it count no more.
 */
import { CapError } from '@hob/vat';
import type { HostState } from './host-state.ts';
import type { HostTables, LoopRow, LoopWarning } from './records.ts';

const turnOf = (tables: HostTables, session: string): number => tables.personTurns.get(session) ?? 0;

/** In a turn: the row of a grant of `session`, or undefined if nothing counts since a person had a turn. */
function loopRow(tables: HostTables, { id, session }: { id: string; session: string }): LoopRow | undefined {
  const row = tables.loops.get(id);
  return row?.turn === turnOf(tables, session) ? row : undefined;
}

/** The latest rows of a host, by grant. A turn that is undone leaves a sight that did not happen, and no more. */
const recent = new WeakMap<HostState, Map<string, LoopRow>>();
const mostRecent = 1000;

/** In a turn: as `loopRow`, with what is not on the disk. */
export function recentRow(
  hostState: HostState,
  tables: HostTables,
  grant: { readonly id: string; readonly session: string },
): LoopRow | undefined {
  const row = recent.get(hostState)?.get(grant.id);
  return row === undefined ? loopRow(tables, grant) : row.turn === turnOf(tables, grant.session) ? row : undefined;
}

const mostWarnings = 8;

/** In a turn: keeps what a firewall knows now, and its warning about the call that has ended. */
export function keepLoops(
  hostState: HostState,
  tables: HostTables,
  grant: { readonly id: string; readonly session: string },
  change: { readonly kept: unknown; readonly lasting: boolean; readonly warning: LoopWarning | undefined },
): void {
  const { kept, lasting, warning } = change;
  const before = recentRow(hostState, tables, grant)?.warnings ?? [];
  const warnings = warning === undefined ? before : [...before, warning].slice(-mostWarnings);
  const row: LoopRow = { turn: turnOf(tables, grant.session), kept, warnings };
  const rows = recent.get(hostState) ?? new Map<string, LoopRow>();
  recent.set(hostState, rows);
  // The one that was not called for longest is forgotten first.
  rows.delete(grant.id);
  const [oldest] = rows.keys();
  if (rows.size >= mostRecent && oldest !== undefined) rows.delete(oldest);
  rows.set(grant.id, row);
  if (lasting) tables.loops.set(grant.id, row);
}

/** In a turn: a person has had a turn in this session, so what was stopped in it goes on. */
export function notePersonTurn(tables: HostTables, session: string): void {
  if (!tables.sessions.has(session)) throw new CapError('revoked', 'this session has ended: ask for a new one');
  tables.personTurns.set(session, turnOf(tables, session) + 1);
}

/** In a turn: the warnings about the call of that group, or all of the latest. */
export function warningsOf(
  tables: HostTables,
  grant: { readonly id: string; readonly session: string },
  call?: string,
): readonly string[] {
  const all = loopRow(tables, grant)?.warnings ?? [];
  return (call === undefined ? all : all.filter((each) => each.call === call)).map(({ text }) => text);
}
