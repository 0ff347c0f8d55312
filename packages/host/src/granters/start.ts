/**
 * The session that a program opens when it starts, such as the session "workspace" of `npm start`.
 *
 * Promise: a state grants once for one purpose, such as a directory. A later start continues that session
 * with what is left of its grants, and opens none if the session has ended. So a restart brings nothing
 * back that was revoked, used up or expired. `fresh` ends the earlier session and opens another one; that
 * is a person's act and a line in the ledger. One turn writes the session, its grants and the purpose, so a
 * crash leaves all of them or none.
 */
import { CapError, ledgerLine } from '@hob/vat';
import { takeOptions } from '@hob/vat/forwarder';
import { grantOffer } from '../powerbox/grant-offer.ts';
import { endSession } from '../sessions/removal.ts';
import { openSession } from '../sessions/sessions.ts';
import { sessionOf } from '../state/groups.ts';
import type { HostState } from '../state/host-state.ts';
import type { HostTables, SessionRecord } from '../state/records.ts';
import type { GrantTerms } from '../state/terms.ts';
import { type Grant, grantView } from './own-rows.ts';

/**
 * A session with its grants, opened in one act. An earlier start with the same name, purpose and grants is
 * continued instead. Errors: `invalid`, `no-such-object`.
 */
export interface StartOptions {
  /** The name of the session. */
  readonly name: string;
  /** The name of the granter. */
  readonly granter: string;
  /** The purpose of the session, such as a directory. Another purpose gets another session. */
  readonly purpose: string;
  readonly grants: readonly { readonly petname: string; readonly offered: string; readonly terms: GrantTerms }[];
  /** Ends the session of an earlier start and opens another one, with new grants. */
  readonly fresh?: boolean;
  /** Is kept with a session that is opened. A later start is told it, and can see what differs. */
  readonly note?: string;
}

/** A copy of the options. Errors: `invalid`. */
export function takeStartOptions(given: StartOptions): StartOptions {
  const options = takeOptions(given, 'startSession', {
    name: true,
    granter: true,
    purpose: true,
    grants: true,
    fresh: true,
    note: true,
  });
  if (!Array.isArray(options.grants))
    throw new CapError('invalid', 'grants is a list of {petname, offered, terms}: give [] to grant nothing');
  const grants = (options.grants as StartOptions['grants']).map((grant) =>
    takeOptions(grant, 'a grant of startSession', { petname: true, offered: true, terms: true }),
  );
  return { ...options, grants };
}

/** `again`: the session of an earlier start goes on. `ended`: it has ended, and no other was opened. */
export interface StartResult {
  readonly how: 'opened' | 'again' | 'ended';
  /** The id of the session. Undefined if it has ended and the state does not know its id. */
  readonly session: string | undefined;
  /** Its grants, as they are now. */
  readonly grants: readonly Grant[];
  /** The note of the start that opened it. */
  readonly note?: string | undefined;
}

const by = { by: 'hob start --fresh', surface: 'process' } as const;

/**
 * In a turn. `secret` is the hash of the secret of a session that is opened. Errors: `no-such-object`,
 * `invalid`.
 */
export function startSession(
  tables: HostTables,
  hostState: HostState,
  { name, granter, purpose, grants, fresh = false, note }: StartOptions,
  secret: string,
): StartResult {
  const earlier = earlierSession(tables, { name, purpose, grants });
  if (earlier !== undefined && !fresh) {
    const session = earlier.session === undefined ? undefined : sessionOf(tables, earlier.session);
    if (session === undefined) return { how: 'ended', session: earlier.session, grants: [] };
    tables.starts.set(purpose, session.id);
    return {
      how: 'again',
      session: session.id,
      grants: grantsHeld(tables, session),
      note: tables.facts.get(noteOf(purpose)),
    };
  }
  const open = sessionCalled(tables, name);
  if (open !== undefined) void endSession(tables, open, fresh ? by : { by: 'host' }, 'another session takes its place');
  const session = openSession(tables, hostState, { name, granters: [granter], secret, by: 'host' });
  if (fresh) ledgerLine('session', { session: session.id, what: 'fresh', ...by, before: earlier?.session ?? open?.id });
  for (const { petname, offered, terms } of grants)
    grantOffer(tables, hostState, session, { petname, offered, terms, initiator: { by: granter, surface: 'program' } });
  tables.starts.set(purpose, session.id);
  if (note === undefined) tables.facts.delete(noteOf(purpose));
  else tables.facts.set(noteOf(purpose), note);
  return { how: 'opened', session: session.id, grants: grantsHeld(tables, session) };
}

const noteOf = (purpose: string): string => `start:${purpose}`;

function sessionCalled(tables: HostTables, name: string): SessionRecord | undefined {
  const id = tables.rootSessions.get(name);
  return id === undefined ? undefined : sessionOf(tables, id);
}

function grantsHeld(tables: HostTables, { held }: SessionRecord): readonly Grant[] {
  return [...held.entries()].flatMap(([, { grant: id }]) => {
    const grant = tables.grants.get(id);
    return grant === undefined ? [] : [grantView(tables, grant)];
  });
}

/** Returns the session that an earlier start opened for this purpose, or undefined. */
function earlierSession(
  tables: HostTables,
  { name, purpose, grants }: Pick<StartOptions, 'name' | 'purpose' | 'grants'>,
): { readonly session: string | undefined } | undefined {
  const noted = tables.starts.get(purpose);
  if (noted !== undefined) return { session: noted };
  // Older versions recorded no start. If such a store ever had a session, assume that it was for this
  // purpose. That is the only safe guess.
  const noNotes = !tables.facts.has('starts') && tables.starts.size === 0;
  if (!noNotes || (tables.counts.get('sessions') ?? 0) === 0) return undefined;
  const session = sessionCalled(tables, name);
  const offers = new Set(grants.map(({ offered }) => offered));
  const same = session !== undefined && grantsHeld(tables, session).some(({ offered }) => offers.has(offered));
  return { session: same ? session.id : undefined };
}
