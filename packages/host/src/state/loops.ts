/**
 * What a firewall remembers of the calls of a grant, to notice a caller that goes round in circles.
 *
 * Promise: it lasts like the grant, also over a restart. A turn of a person makes all of it count no more.
 */
import { CapError } from '@hob/vat';
import type { HostTables, LoopRow, LoopWarning } from './records.ts';

const turnOf = (tables: HostTables, session: string): number => tables.personTurns.get(session) ?? 0;

/** In a turn: the row of a grant of `session`, or undefined if nothing counts since a person had a turn. */
export function loopRow(tables: HostTables, { id, session }: { id: string; session: string }): LoopRow | undefined {
  const row = tables.loops.get(id);
  return row?.turn === turnOf(tables, session) ? row : undefined;
}

const mostWarnings = 8;

/** In a turn: keeps what a firewall knows now, and its warning about the call that has ended. */
export function keepLoops(
  tables: HostTables,
  grant: { readonly id: string; readonly session: string },
  change: { readonly kept: unknown; readonly warning: LoopWarning | undefined },
): void {
  const before = loopRow(tables, grant)?.warnings ?? [];
  const warnings = change.warning === undefined ? before : [...before, change.warning].slice(-mostWarnings);
  tables.loops.set(grant.id, { turn: turnOf(tables, grant.session), kept: change.kept, warnings });
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
