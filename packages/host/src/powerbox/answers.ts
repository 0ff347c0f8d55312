/**
 * A granter answers.
 *
 * Promise: an answer is for the request whose id, and digest, it names, counts once, and only while everything is as it was shown: the cap behind the name,
 * the files of the diff, the grants of a call, the asker. What has changed is asked anew. Only a granter whom the session names can answer. No answer
 * grants more than was asked.
 */
import { checkTerms } from '@hob/revocable';
import { breakAnswer, CapError, E, ledgerLine, vatTime, wallTime } from '@hob/vat';
import { type Act, stateOf } from '../state/c-list.ts';
import { sessionOf } from '../state/groups.ts';
import { type HostState, powersOf, tablesOf } from '../state/host-state.ts';
import { checkName, lookOf } from '../state/names.ts';
import type { HostTables, Pending, SessionRecord } from '../state/records.ts';
import { unreserved } from '../state/reserved.ts';
import { type GrantTerms, scoped } from '../state/terms.ts';
import { giveOut } from './give.ts';
import { askedKey, decide, settle, tellWithdrawn } from './pending.ts';
import { unchanged } from './preview.ts';
import { instead } from './request.ts';
import { stricter } from './stricter.ts';

/**
 * `grant`: terms that are as narrow as what was asked, or narrower. The grant has the stricter of the two, term by term; a wider one is `invalid`.
 * `as` is the petname of what is granted. `digest` is that of the request as it was shown: a face that shows requests to people says it, so that what
 * was read is what is answered. Without it the id alone says which: that is never given to another request, and what changes is asked under a new one.
 */
export type Answer = (
  | { readonly grant: GrantTerms; readonly as?: string }
  | { readonly refuse: string; readonly lasting?: boolean; readonly instead?: string }
) & { readonly digest?: string };

/** Whether a granter is named by a session. */
export type Names = (room: SessionRecord | undefined) => boolean;

/** In a turn. */
export function pendingOf(book: HostTables, names: Names, id: unknown): Pending {
  const pending = typeof id === 'string' ? book.requests.get(id) : undefined;
  if (pending === undefined || !names(sessionOf(book, pending.session)))
    throw new CapError('no-such-object', 'nothing of that id is asked: it was answered, or has ended, or never was');
  if (vatTime() >= pending.deadline)
    throw new CapError('expired', 'nobody answered this in time: it will be asked again if it is still needed');
  return pending;
}

/** In a turn of the granter. */
export function answer(house: HostState, names: Names, act: Act, id: string, said: Answer): Promise<void> | undefined {
  const book = tablesOf(house);
  const pending = pendingOf(book, names, id);
  if (typeof said !== 'object' || said === null || typeof (said.digest ?? '') !== 'string')
    throw new CapError('invalid', 'an answer is {grant: {…}} or {refuse: "why"}, and may name the digest of what was shown: {…, digest}'); // biome-ignore format: one line
  if (said.digest !== undefined && said.digest !== pending.digest)
    throw new CapError('denied', 'this answers something else than what is asked now: look at the request again');
  if ('refuse' in said) return void refuse(book, pending, act, said);
  if (typeof said.grant !== 'object' || said.grant === null)
    throw new CapError('invalid', 'say yes with the terms of the grant, {} for a call, or no with a reason');
  if (book.offered.get(pending.offered)?.number !== pending.offer) return changed(book, pending);
  if (pending.kind === 'grant') return void grant(book, house, pending, act, said);
  if (Object.keys(said.grant).some((term) => term !== 'uses' || said.grant.uses !== 1))
    throw new CapError('invalid', 'a call is let through as it is, once: answer {grant: {}}');
  checkLive(book, pending);
  if (pending.seen.length === 0) return void letGo(book, pending, act);
  const { seen, digest } = pending;
  const of = E(powersOf(book)).behind(id) as unknown as Promise<object>;
  return E.when(of, (object) =>
    E.when(unchanged(object, seen), (same) => {
      const now = tablesOf(house);
      // It may have been answered, or have ended, while the files were looked at.
      const still = pendingOf(now, names, id);
      if (still.digest !== digest) throw new CapError('no-such-object', 'nothing of that id is asked any more');
      if (!same) return changed(now, still);
      checkLive(now, still);
      letGo(now, still, act);
    }),
  ) as unknown as Promise<void>;
}

/** A call whose grant has ended meanwhile goes nowhere, whoever says yes. That it has used up its uses is no end: this call is one of them. */
function checkLive(book: HostTables, { under }: Pending): void {
  for (const id of under) {
    const kept = book.grants.get(id);
    const state = kept === undefined ? 'revoked' : stateOf(book, kept);
    if (state !== 'live' && state !== 'exhausted')
      throw new CapError(state === 'suspended' ? 'unavailable' : state, `the grant that it was asked under has ended (${state})`); // biome-ignore format: one line
  }
}

const tell = (kind: 'approve' | 'deny', { id, session, digest }: Pending, act: Act, more: object): void =>
  ledgerLine(kind, { request: id, session, digest, ...act, ...more });

function letGo(book: HostTables, pending: Pending, act: Act): void {
  settle(book, pending);
  tell('approve', pending, act, { grant: pending.under.at(-1) });
  decide(book, pending.id, { go: true });
}

function grant(
  book: HostTables,
  house: HostState,
  pending: Pending,
  act: Act,
  said: { readonly grant: GrantTerms; readonly as?: string },
): void {
  // biome-ignore format: one line
  const { id, digest, asker, offered, terms: asked = {} } = pending;
  const room = sessionOf(book, asker);
  if (room === undefined) throw new CapError('no-such-object', 'who asked has ended');
  const petname = said.as ?? freeName(room, unreserved(book, pending.asks));
  checkName(petname, 'a petname');
  checkTerms(scoped(said.grant).terms);
  const given = stricter(asked, said.grant, wallTime());
  const { cap, kept } = giveOut(book, house, room, { petname, offered, given, act, request: { id, digest } });
  settle(book, pending);
  tell('approve', pending, act, { grant: kept.id });
  decide(book, id, { cap });
}

/** A petname is never bound anew: "notes", "notes-2", "notes-3", … */
function freeName(room: SessionRecord, asks: string): string {
  for (let n = 1; ; n += 1) {
    const name = n === 1 ? asks : `${asks.slice(0, 50)}-${n}`;
    if (!room.held.has(lookOf(name))) return name;
  }
}

const longestReason = 500;

/** In a turn: who asked is told why not, and what to ask for instead. */
export function refuse(
  book: HostTables,
  pending: Pending,
  act: Act,
  said: { readonly refuse: string; readonly lasting?: boolean; readonly instead?: string },
): void {
  const { asker, digest, kind, asks } = pending;
  const why = String(said.refuse).slice(0, longestReason);
  const room = sessionOf(book, asker);
  const hint =
    said.instead !== undefined
      ? `you could ask for ${String(said.instead).slice(0, longestReason)}`
      : room === undefined || kind === 'call'
        ? `you could ask for another call, or for a grant with request({asks: "${asks}", …})`
        : instead(book, room, asks);
  const message = `a granter said no${why === '' ? '' : `: ${why}`}; ${hint}`;
  settle(book, pending);
  const lasting = said.lasting === true;
  if (lasting) book.refusals.set(askedKey(asker, digest), `${message} (for as long as this session lasts)`);
  tell('deny', pending, act, { why, ...(lasting ? { lasting } : {}) });
  decide(book, pending.id, { code: 'denied', message });
}

/** In a turn that commits: it is asked anew, by who waits for it, and the granter is told. */
function changed(book: HostTables, pending: Pending): undefined {
  settle(book, pending);
  tellWithdrawn(pending, 'STALE');
  decide(book, pending.id, { again: true });
  breakAnswer(new CapError('STALE', 'it has changed since it was shown, and is asked anew: look at the inbox again'));
  return undefined;
}
