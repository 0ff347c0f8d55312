/**
 * A granter approves or refuses a request.
 *
 * Promise: an answer is for the request whose id it names. If it names a digest, it must be the request's;
 * the `hob` command always sends it. An answer counts once, and only while everything is as it was shown: the
 * object of the offer, the files of the diff, the grants of the call and the asker. If one has changed, the
 * request is filed again. Only a granter that the session names can answer. No answer grants more than was
 * asked. Where the offer needs a passkey, a yes is signed by one of the granter, for this request as it was shown.
 */
import { checkTerms } from '@hob/revocable';
import { CapError, E, ledgerLine, vatTime, wallTime } from '@hob/vat';
import { breakAnswer, type OptionNames, takeOptions } from '@hob/vat/forwarder';
import { needsPasskey } from '../passkeys/needed.ts';
import { afterProof, readProof } from '../passkeys/passkeys.ts';
import { grantState, type Initiator, madeUntilOf } from '../state/c-list.ts';
import { sessionOf } from '../state/groups.ts';
import { type HostState, powersOf, tablesOf } from '../state/host-state.ts';
import { checkName, skeletonOf } from '../state/names.ts';
import type { HostTables, RequestRecord, SessionRecord } from '../state/records.ts';
import { withoutReservedName } from '../state/reserved.ts';
import { type GrantTerms, parseTerms } from '../state/terms.ts';
import { safeText } from '../text/safe-text.ts';
import { challengeOf, type PasskeyProof } from '../webauthn/proof.ts';
import { grantOffer } from './grant-offer.ts';
import { mostMethods } from './inspect-offer.ts';
import { closeRequest, digestKey, logWithdrawn, resolveRequest } from './pending.ts';
import { filesUnchanged } from './preview.ts';
import { suggestAlternatives } from './request.ts';
import { methodsOf, stricter } from './stricter.ts';

/**
 * `grant`: the terms that were asked for, or narrower ones. The grant has the stricter of the two, term by
 * term, and a wider term is `invalid`. `as` is the petname of the new grant. `digest` is the digest that
 * was shown, so the answer is for what a person read. Without it the id alone names the request: an id is
 * never used again, and a request that changes gets another id. `passkey` is for a request that needs one.
 */
export type RequestAnswer = (
  | { readonly grant: GrantTerms; readonly as?: string; readonly passkey?: PasskeyProof }
  | { readonly refuse: string; readonly lasting?: boolean; readonly instead?: string }
) & { readonly digest?: string };

const answerOptions: OptionNames<RequestAnswer> = {
  grant: true,
  as: true,
  refuse: true,
  lasting: true,
  instead: true,
  digest: true,
  passkey: true,
};

/** Whether a session names the granter. */
export type IsGranterOf = (session: SessionRecord | undefined) => boolean;

/** In a turn. */
export function requestNamed(tables: HostTables, names: IsGranterOf, id: unknown): RequestRecord {
  const pending = typeof id === 'string' ? tables.requests.get(id) : undefined;
  if (pending === undefined || !names(sessionOf(tables, pending.session)))
    throw new CapError('no-such-object', 'no request has that id: it was answered, has ended, or never existed');
  if (vatTime() >= pending.deadline)
    throw new CapError('expired', 'nobody answered this in time: it will be asked again if it is still needed');
  return pending;
}

/** In a turn of the granter. */
export function answerRequest(
  hostState: HostState,
  names: IsGranterOf,
  initiator: Initiator,
  id: string,
  answer: RequestAnswer,
): Promise<void> | undefined {
  if (typeof id !== 'string') throw new CapError('invalid', 'an answer is for one request: give its id');
  const said = takeOptions(answer, 'answer', answerOptions);
  const tables = tablesOf(hostState);
  const pending = requestNamed(tables, names, id);
  if (typeof (said.digest ?? '') !== 'string')
    throw new CapError('invalid', 'an answer is {grant: {…}} or {refuse: "why"}, and may name the digest of what was shown: {…, digest}'); // biome-ignore format: one line
  if (said.digest !== undefined && said.digest !== pending.digest)
    throw new CapError('denied', 'the digest is not that of the request as it is now: look at the request again');
  if ('refuse' in said) return void refuseRequest(tables, pending, initiator, said);
  if (typeof said.grant !== 'object' || said.grant === null)
    throw new CapError('invalid', 'say yes with the terms of the grant ({} for a call), or no with a reason');
  if (!needsPasskey(tables, pending)) return approve({ hostState, names, initiator, pending, said });
  if (said.passkey === undefined)
    throw new CapError('denied', 'a yes to this needs a passkey: answer it on the page that hob console opens');
  const proof = readProof(said.passkey);
  return afterProof(hostState, initiator.by, proof, { challenge: challengeOf(pending) }, (now) => {
    // It may have been answered, or have changed, while the proof was checked.
    const still = requestNamed(now, names, id);
    return approve({ hostState, names, initiator: { ...initiator, passkey: proof.id }, pending: still, said });
  }) as Promise<void>;
}

interface Approval {
  readonly hostState: HostState;
  readonly names: IsGranterOf;
  readonly initiator: Initiator;
  readonly pending: RequestRecord;
  readonly said: { readonly grant: GrantTerms; readonly as?: string };
}

/** In a turn. */
function approve({ hostState, names, initiator, pending, said }: Approval): Promise<void> | undefined {
  const tables = tablesOf(hostState);
  const { id } = pending;
  if (tables.offerInfo.get(pending.offered)?.number !== pending.offer) return askAnew(tables, pending);
  if (pending.kind === 'grant') return void approveGrant(tables, hostState, pending, initiator, said);
  if (Object.keys(said.grant).some((term) => term !== 'uses' || said.grant.uses !== 1))
    throw new CapError('invalid', 'an approved call runs once, as it was asked: answer {grant: {}}');
  checkGrantsLive(tables, pending);
  if (pending.seen.length === 0) return void approveCall(tables, pending, initiator);
  const { seen, digest } = pending;
  const of = E(powersOf(tables)).targetOf(id) as unknown as Promise<object>;
  return E.when(of, (object) =>
    E.when(filesUnchanged(object, seen), (same) => {
      const now = tablesOf(hostState);
      // The request may have been answered or have ended while the files were looked at.
      const still = requestNamed(now, names, id);
      if (still.digest !== digest)
        throw new CapError('no-such-object', 'no request has that id any more: look at the inbox again');
      if (!same) return askAnew(now, still);
      checkGrantsLive(now, still);
      approveCall(now, still, initiator);
    }),
  ) as unknown as Promise<void>;
}

/**
 * A call whose grant has ended goes nowhere, also with an approval. A grant that is used up is no obstacle:
 * this call is one of its uses. A grant that has run out of time is no obstacle either, while objects that it made are
 * left: they have a time of their own. A waiting call of the grant itself ends after the grace of the grant.
 */
function checkGrantsLive(tables: HostTables, { under }: RequestRecord): void {
  for (const id of under) {
    const grant = tables.grants.get(id);
    const state = grant === undefined ? 'revoked' : grantState(tables, grant);
    if (state === 'expired' && grant !== undefined && madeUntilOf(tables, grant) !== undefined) continue;
    if (state !== 'live' && state !== 'exhausted')
      throw new CapError(state === 'suspended' ? 'unavailable' : state, `the grant that the call was made under has ended (${state})`); // biome-ignore format: one line
  }
}

const logAnswer = (
  kind: 'approve' | 'deny',
  { id, session, digest }: RequestRecord,
  initiator: Initiator,
  more: object,
): void => ledgerLine(kind, { request: id, session, digest, ...initiator, ...more });

function approveCall(tables: HostTables, pending: RequestRecord, initiator: Initiator): void {
  closeRequest(tables, pending);
  logAnswer('approve', pending, initiator, { grant: pending.under.at(-1) });
  resolveRequest(tables, pending.id, pending.change === true ? { go: true, all: true } : { go: true });
}

function approveGrant(
  tables: HostTables,
  hostState: HostState,
  pending: RequestRecord,
  initiator: Initiator,
  said: { readonly grant: GrantTerms; readonly as?: string },
): void {
  const { id, digest, asker, offered, terms: asked = {}, lease } = pending;
  const session = sessionOf(tables, asker);
  if (session === undefined)
    throw new CapError('no-such-object', 'the session that asked has ended: nothing is left to approve');
  const petname = lease === undefined ? (said.as ?? freeName(session, withoutReservedName(tables, pending.asks))) : pending.asks; // biome-ignore format: one line
  if (lease !== undefined) checkLease(tables, lease, said);
  checkName(petname, 'a petname');
  checkTerms(parseTerms(said.grant).terms);
  const given = stricter(asked, said.grant, wallTime());
  checkMethods(tables, offered, said.grant);
  const { cap, grant } = grantOffer(tables, hostState, session, {
    petname,
    offered,
    terms: given,
    initiator,
    request: { id, digest },
    ...(lease === undefined ? {} : { lease }),
  });
  closeRequest(tables, pending);
  logAnswer('approve', pending, initiator, { grant: grant.id });
  resolveRequest(tables, id, { cap, grant: grant.id });
}

/**
 * Refuses a grant if the object has none of its methods. Otherwise a mistyped method would make a grant that allows no
 * call, and the session could not ask again until that grant ends. One known method is enough: the others may belong to
 * objects that calls return.
 */
function checkMethods(tables: HostTables, offered: string, said: GrantTerms): void {
  const methods = methodsOf(said);
  const known = tables.offerInfo.get(offered)?.methods;
  const isKnown = known !== undefined && known.length > 0 && known.length < mostMethods;
  if (methods === undefined || !isKnown || methods.some((name) => known.includes(name))) return;
  const names = known.slice(0, 50).map((name) => safeText(name, 64).text);
  throw new CapError('invalid', `the object has none of these methods: choose from ${names.join(', ')}`);
}

/** A cap that is granted to a facet that asks has no name of its own, and ends with the facet. */
function checkLease(tables: HostTables, lease: string, { as }: { readonly as?: string }): void {
  if (as !== undefined)
    throw new CapError('invalid', 'the session uses this grant through the cap that asked: leave out the petname');
  const facet = tables.grants.get(lease);
  const state = facet === undefined ? 'revoked' : grantState(tables, facet);
  // The waiting call was counted, so a facet that is used up is no obstacle.
  if (state !== 'live' && state !== 'exhausted')
    throw new CapError(state === 'suspended' ? 'unavailable' : state, `the cap that asked has ended (${state})`);
}

/** A petname is never bound again, so the next free one is taken: "notes", "notes-2", "notes-3". */
function freeName(session: SessionRecord, asks: string): string {
  for (let n = 1; ; n += 1) {
    const name = n === 1 ? asks : `${asks.slice(0, 50)}-${n}`;
    if (!session.held.has(skeletonOf(name))) return name;
  }
}

const longestReason = 500;

/** In a turn: tells the asker why it was refused, and what to ask for instead. */
export function refuseRequest(
  tables: HostTables,
  pending: RequestRecord,
  initiator: Initiator,
  said: { readonly refuse: string; readonly lasting?: boolean; readonly instead?: string },
): void {
  const { asker, digest, kind, asks } = pending;
  const why = String(said.refuse).slice(0, longestReason);
  const session = sessionOf(tables, asker);
  const hint =
    said.instead !== undefined
      ? `you could ask for ${String(said.instead).slice(0, longestReason)}`
      : session === undefined || kind === 'call'
        ? `you could ask for another call, or for a grant with request({asks: "${asks}", …})`
        : suggestAlternatives(tables, session, asks);
  const message = `a granter said no${why === '' ? '' : `: ${why}`}; ${hint}`;
  closeRequest(tables, pending);
  const lasting = said.lasting === true;
  if (lasting) tables.refusals.set(digestKey(asker, digest), `${message} (for as long as this session lasts)`);
  logAnswer('deny', pending, initiator, { why, ...(lasting ? { lasting } : {}) });
  resolveRequest(tables, pending.id, { code: 'denied', message });
}

/** In a turn that commits: closes the request. Its waiter asks anew, and the granter gets `STALE`. */
function askAnew(tables: HostTables, pending: RequestRecord): undefined {
  closeRequest(tables, pending);
  logWithdrawn(pending, 'STALE');
  resolveRequest(tables, pending.id, { again: true });
  breakAnswer(
    new CapError('STALE', 'the request has changed since it was shown, and has a new id: look at the inbox again'),
  );
  return undefined;
}
