/**
 * The end of a session's grace time, in slices.
 *
 * Promise: a session whose last connection was lost ends when its grace time is over and none of its grants
 * lasts. A turn looks at `most` grants, and other turns run in between. A row holds the last grant that was
 * looked at (`state/lapsing.ts`), and the next slice is a message to a durable actor. So after a crash the
 * next start continues.
 */
import { type Definition, define, E, spawn } from '@hob/vat';
import { withdrawRequestsOf } from '../powerbox/pending.ts';
import { sessionOf } from '../state/groups.ts';
import { type HostState, tablesOf } from '../state/host-state.ts';
import { beginLook, endLook, keepsOpen, lookedUpTo, noteLooked } from '../state/lapsing.ts';
import { grantsFrom } from '../state/order.ts';
import type { GrantRecord, HostTables } from '../state/records.ts';
import { endSession } from './removal.ts';

/** Grants that one turn looks at: some 5 ms of work. */
const most = 256;

interface Grace {
  /** Looks at some grants, and sends itself a message for the rest. Returns whether the session goes on. */
  look(session: string): boolean | Promise<boolean>;
}

export const GraceActor: Definition<Grace, [hostState: HostState]> = define('host.grace', (bcom, hostState) => ({
  look: (session) => {
    const tables = tablesOf(hostState);
    return lookAtSome(tables, session) ?? lookOn(bcom.self as unknown as Grace, session);
  },
}));

/** In the first turn of a process. */
export function openGrace(tables: HostTables, hostState: HostState): void {
  if (!tables.remover.has('grace')) tables.remover.set('grace', spawn(GraceActor(hostState)));
}

const lookOn = (actor: Grace, session: string): Promise<boolean> =>
  E(actor).look(session) as unknown as Promise<boolean>;

/** In a turn, when the grace time is over. Returns whether the session goes on. */
export function endUnlessLasting(tables: HostTables, id: string): boolean | Promise<boolean> {
  if (sessionOf(tables, id) === undefined) return false;
  withdrawRequestsOf(tables, id, 'disconnected', 'the connection was lost for too long: ask again');
  beginLook(tables, id);
  return lookAtSome(tables, id) ?? lookOn(tables.remover.get('grace') as Grace, id);
}

/** In a turn: looks at the next grants. Undefined where there are more. */
export function lookAtSome(tables: HostTables, id: string, atMost: number = most): boolean | undefined {
  const session = sessionOf(tables, id);
  const after = lookedUpTo(tables, id);
  // The turn that deleted the row has decided that the session stays open.
  if (session === undefined || after === undefined) {
    endLook(tables, id);
    return session !== undefined;
  }
  let last: GrantRecord | undefined;
  let looked = 0;
  // In the order of their numbers, so a grant that is made in between comes last.
  for (const grant of grantsFrom(tables, id, after)) {
    if (looked === atMost) {
      noteLooked(tables, last as GrantRecord);
      return undefined;
    }
    if (keepsOpen(session, grant)) {
      endLook(tables, id);
      return true;
    }
    last = grant;
    looked += 1;
  }
  endLook(tables, id);
  void endSession(tables, session, { by: 'host' }, 'its connection was lost and the grace time is over');
  return false;
}
