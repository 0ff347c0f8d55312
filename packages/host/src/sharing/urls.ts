/**
 * Object URLs, for a program that must put a cap into text (Goblins' Mandy pattern).
 *
 * Promise: only the session that made a URL resolves it, until its time is over or the grant of its cap has
 * ended. Only a hash of its id is stored. Every other try gets the same error and is a ledger line.
 */
import type { GrantStatus } from '@hob/revocable';
import { CapError, E, ledgerLine, vatTime, wallTime } from '@hob/vat';
import { hashSecret } from '@hob/vat/forwarder';
import { capNamed, grantState, hasEnded } from '../state/c-list.ts';
import { sessionOf } from '../state/groups.ts';
import { type HostState, powersOf, tablesOf } from '../state/host-state.ts';
import { skeletonOf } from '../state/names.ts';
import type { HostTables, PublishedUrl, SessionRecord } from '../state/records.ts';

/** 32 random bytes, base32. */
const form = /^\/object\/([a-z2-7]{52})$/;
const defaultTime = 15 * 60_000;
const longestTime = 24 * 3_600_000;
const most = 1000;

export const hashObjectId = (id: string): string => hashSecret(`object:${id}`);

/** In a turn. Errors: `invalid`, `no-such-object`, `limit`. */
export function publishUrl(
  hostState: HostState,
  sessionId: string,
  petname: string,
  ms: number = defaultTime,
): Promise<string> {
  if (!(typeof ms === 'number' && ms > 0 && ms <= longestTime))
    throw new CapError('invalid', 'for is a number of ms above 0, and a day at the most');
  const openSessionIn = (tables: HostTables): SessionRecord => {
    const session = sessionOf(tables, sessionId);
    if (session === undefined) throw new CapError('revoked', 'this session has ended: open a new one');
    capNamed(session, petname);
    const state = stateOfPetname(tables, session, petname);
    if (hasEnded(state)) throw new CapError(state, `the grant of "${petname}" has ended (${state}): it can get no URL`);
    return session;
  };
  const before = tablesOf(hostState);
  openSessionIn(before);
  return E.when(E(powersOf(before)).objectId(), ({ id, hash }) => {
    const tables = tablesOf(hostState);
    const session = openSessionIn(tables);
    const { urls } = session;
    const [vat, wall] = [vatTime(), wallTime()];
    // Looking for ended grants costs more than comparing times, so it is done only when room is needed.
    const full = urls.size >= most;
    for (const [old, published] of [...urls.entries()])
      if (full ? isDead(tables, session, published) : isExpired(published)) urls.delete(old);
    if (urls.size >= most)
      throw new CapError(
        'limit',
        `a session has ${most} object URLs at the most: revoke some, or wait until some expire`,
      );
    urls.set(hash, { petname, deadline: vat + ms, wallDeadline: wall + ms });
    return `/object/${id}`;
  });
}

const idIn = (url: unknown): string | undefined => (typeof url === 'string' ? form.exec(url)?.[1] : undefined);

/** In a turn. An unknown URL is no error. */
export function unpublishUrl({ urls }: SessionRecord, url: string): void {
  const id = idIn(url);
  if (id !== undefined) urls.delete(hashObjectId(id));
}

/** The state of the grant behind a petname. */
function stateOfPetname(tables: HostTables, { held }: SessionRecord, petname: string): GrantStatus {
  const id = held.get(skeletonOf(petname))?.grant;
  const grant = id === undefined ? undefined : tables.grants.get(id);
  return grant === undefined ? 'revoked' : grantState(tables, grant);
}

const isExpired = ({ deadline, wallDeadline }: PublishedUrl): boolean =>
  vatTime() >= deadline || wallTime() >= wallDeadline;

/** Its time is over, or the grant of its cap has ended. */
const isDead = (tables: HostTables, session: SessionRecord, published: PublishedUrl): boolean =>
  isExpired(published) || hasEnded(stateOfPetname(tables, session, published.petname));

/**
 * In a turn. Throws `no-such-object`, always with the same text, so that a dead id looks like a random one.
 */
export function resolveUrl(tables: HostTables, session: SessionRecord, url: unknown): object {
  const id = idIn(url);
  const found = id === undefined ? undefined : session.urls.get(hashObjectId(id));
  if (found !== undefined && !isDead(tables, session, found)) return capNamed(session, found.petname);
  ledgerLine('refuse', { session: session.id, what: 'object', code: 'no-such-object' });
  throw new CapError('no-such-object', noSuchObject);
}

const noSuchObject = 'this names no object here';
