/** Looks up what a program names by id or name, and throws where it is not there. */
import { CapError } from '@hob/vat';
import { sessionOf } from './groups.ts';
import type { GranterRecord, HostTables, SessionRecord } from './records.ts';

/** In a turn: the open session of that id. Errors: `no-such-object`. */
export function openSessionNamed(tables: HostTables, id: unknown): SessionRecord {
  const session = typeof id === 'string' ? sessionOf(tables, id) : undefined;
  if (session === undefined)
    throw new CapError('no-such-object', 'there is no session of that id: it has ended, or never existed');
  return session;
}

/** In a turn: the granter of that name. Errors: `no-such-object`. */
export function granterNamed(tables: HostTables, name: unknown): GranterRecord {
  const row = typeof name === 'string' ? tables.granters.get(name) : undefined;
  if (row === undefined)
    throw new CapError('no-such-object', `there is no granter called "${String(name).slice(0, 64)}": add it first`);
  return row;
}
