/** Finds out who a secret belongs to: a session, a granter, or the bearer of a sturdyref. */
import { authenticate } from '../sessions/sessions.ts';
import { openSturdyref, sturdyrefCaller } from '../sharing/sturdyrefs.ts';
import { sessionOf } from '../state/groups.ts';
import type { HostTables } from '../state/records.ts';
import { payerOf } from './session-meters.ts';

/** `payer` names the meter that pays for the connection. `face` is what the connection bootstraps as. */
export interface FoundPeer {
  readonly who: string;
  readonly session: string | undefined;
  readonly payer: string;
  readonly face: object;
}

/** In a turn: undefined for a secret that opens nothing. */
export function peerOf(tables: HostTables, secret: string): FoundPeer | undefined {
  const owner = authenticate(tables, secret);
  const session = owner?.session === undefined ? undefined : sessionOf(tables, owner.session);
  if (session !== undefined)
    return { who: session.id, session: session.id, payer: payerOf(session.payer), face: session.face };
  if (owner?.sturdyref !== undefined) {
    const opened = openSturdyref(tables, owner.sturdyref, secret);
    if (opened === undefined) return undefined;
    const [, grant] = owner.sturdyref;
    const payer = payerOf(opened.session.payer);
    return { who: sturdyrefCaller(grant), session: undefined, payer, face: opened.cap };
  }
  const granter = owner?.granter === undefined ? undefined : tables.granters.get(owner.granter);
  if (granter === undefined) return undefined;
  const who = `granter:${granter.name}`;
  return { who, session: undefined, payer: who, face: granter.wire };
}
