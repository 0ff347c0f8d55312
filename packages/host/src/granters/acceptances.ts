/**
 * A granter accepts a text, and ends that.
 *
 * Promise: every grant that was made for a text ends in the turn in which its acceptance ends.
 */
import { CapError } from '@hob/vat';
import { allOf, type Revoking, revokeThese } from '../sessions/removal.ts';
import { acceptanceOf, addAcceptance, checkText, removeAcceptance } from '../state/acceptances.ts';
import type { Initiator } from '../state/c-list.ts';
import { sessionOf } from '../state/groups.ts';
import { sessionsFrom } from '../state/order.ts';
import type { AcceptanceRecord, AcceptedText, GrantRecord, HostTables } from '../state/records.ts';

/** In a turn: accepts a text. Another text of that name is accepted no more. Errors: `invalid`, `limit`. */
export function accept(tables: HostTables, given: AcceptedText, act: Initiator): AcceptanceRecord {
  const text = checkText(given);
  const earlier = acceptanceOf(tables, act.by, text.name);
  if (earlier?.hash === text.hash) return earlier;
  if (earlier !== undefined) void end(tables, earlier, { act, why: 'another text was accepted' });
  return addAcceptance(tables, text, act);
}

/** In a turn: the text is accepted no more. Fulfilled when the drivers have stopped. Errors: `no-such-object`. */
export function endAcceptance(tables: HostTables, name: string, revoking: Revoking): Promise<void> | undefined {
  const row = typeof name === 'string' ? acceptanceOf(tables, revoking.act.by, name) : undefined;
  if (row === undefined) throw new CapError('no-such-object', 'no text of that name is accepted');
  return end(tables, row, revoking);
}

function end(tables: HostTables, row: AcceptanceRecord, { act, why }: Revoking): Promise<void> | undefined {
  const grants = [...grantsFor(tables, row)];
  removeAcceptance(tables, row, { act, why, grants: grants.length });
  return allOf(revokeThese(tables, grants, { act, why }));
}

/** The grants of open sessions that were made for a text. Those below them end with them. */
function* grantsFor(tables: HostTables, { name, hash, granter }: AcceptanceRecord): Generator<GrantRecord> {
  for (const session of sessionsFrom(tables)) {
    if (!session.granters.includes(granter) || sessionOf(tables, session.id) === undefined) continue;
    for (const [, held] of session.held.entries()) {
      const grant = tables.grants.get(held.grant);
      if (grant?.granter === granter && grant.accepted?.name === name && grant.accepted.hash === hash) yield grant;
    }
  }
}
