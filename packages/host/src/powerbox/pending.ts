/**
 * The requests that wait for an answer, as rows of the host.
 *
 * Promise: a request keeps the text that it was filed with. If something changes, it becomes another
 * request with another digest. A request ends once: by an answer, its deadline, or the end of its asker or
 * of the process. Each end is a ledger line. The number of requests of a session is limited. Equal requests
 * of one asker are joined.
 */
import { CapError, cancelWake, E, ledgerLine, vatTime, wakeAt } from '@hob/vat';
import { tellAnyway } from '@hob/vat/forwarder';
import { chainText, nextNumber, powersOf, storeTagOf } from '../state/host-state.ts';
import { lookAgainAt } from '../state/lapsing.ts';
import type { HostTables, RequestCounts, RequestDisplay, RequestRecord, SessionRecord } from '../state/records.ts';
import type { RequestOutcome, WaitResult } from '../state/waiters.ts';

/** Limits on requests, far above what a person would answer. */
export const askingLimits: Readonly<Record<'pending' | 'hourly' | 'together', number>> = Object.freeze({
  pending: 16,
  hourly: 120,
  together: 64,
});
const hour = 3_600_000;

// Shared errors, because a flood of requests must not make a stack trace for each.
const limitError = (what: string): CapError => Object.freeze(new CapError('limit', what));
const tooManyPending = limitError(
  `${askingLimits.pending} requests of this session wait for an answer: wait for one of them`,
);
const tooManyThisHour = limitError(`this session has asked ${askingLimits.hourly} times within an hour: wait, and ask for more in one request`); // biome-ignore format: one line
const tooManyTogether = limitError(
  `this was asked ${askingLimits.together} times already and is not answered yet: wait for the answer`,
);

export const digestKey = (asker: string, digest: string): string => `${asker} ${digest}`;

export type NewRequest = Omit<
  RequestRecord,
  'id' | 'proposals' | 'count' | 'since' | 'deadline' | 'wake' | keyof RequestDisplay
> & {
  /** Called only for a request that is filed, because most of a flood is refused. */
  readonly shown: () => RequestDisplay;
};

/**
 * In a turn: files the request, or joins the equal one that waits. `first` runs if it is filed. Errors:
 * `denied` (refused for good before), `limit`.
 */
export function fileRequest(tables: HostTables, asking: NewRequest, first?: () => void): string {
  const { asker, payer, digest } = asking;
  const key = digestKey(asker, digest);
  const no = tables.refusals.get(key);
  if (no !== undefined) {
    ledgerLine('refuse', { session: asker, what: 'request', code: 'denied' });
    throw new CapError('denied', no);
  }
  const same = tables.requestByDigest.get(key);
  const there = same === undefined ? undefined : tables.requests.get(same);
  if (there !== undefined) {
    if (there.count >= askingLimits.together) throw tooManyTogether;
    const { personOnly } = asking;
    tables.requests.set(there.id, { ...there, count: there.count + 1, ...(personOnly && { personOnly }) });
    tellGranters(tables, there.session);
    return there.id;
  }
  first?.();
  const counted = checkedCounts(tables, payer);
  tables.requestCounts.set(payer, { ...counted, pending: counted.pending + 1 });
  const id = `q${String(nextNumber(tables, 'requests')).padStart(3, '0')}-${storeTagOf(tables)}`;
  const since = vatTime();
  const deadline = since + Number(tables.facts.get('askMs') ?? hour);
  const wake = wakeAt(deadline, powerboxOf(tables), 'expire', id);
  const { shown, ...rest } = asking;
  tables.requests.set(id, { ...rest, ...shown(), id, proposals: [], count: 1, since, deadline, wake });
  tables.requestByDigest.set(key, id);
  tellGranters(tables, rest.session);
  E.sendOnly(powersOf(tables)).filed({ id, kind: rest.kind, session: asker, asks: rest.asks, digest, leftMs: deadline - since }); // biome-ignore format: one line
  const askerSession = tables.sessions.get(asker) as SessionRecord;
  const { session, asks, kind, under, method, stale, draft } = asking;
  ledgerLine('request', {
    request: id,
    session,
    chain: chainText(tables, askerSession),
    digest,
    ...(kind === 'grant' ? { asks } : { grant: under.at(-1), method }),
    ...(stale === undefined ? {} : { stale }),
    ...(draft === undefined ? {} : { draft }),
  });
  return id;
}

/** In a turn: counts a request before any work is done for it. Errors: `limit`. */
export function countRequest(tables: HostTables, payer: string): void {
  const counted = checkedCounts(tables, payer);
  if (counted.asked >= askingLimits.hourly) throw tooManyThisHour;
  tables.requestCounts.set(payer, { ...counted, asked: counted.asked + 1 });
}

function checkedCounts(tables: HostTables, payer: string): RequestCounts {
  const now = vatTime();
  const before = tables.requestCounts.get(payer) ?? { since: now, asked: 0, pending: 0 };
  if (before.pending >= askingLimits.pending) throw tooManyPending;
  return now - before.since >= hour ? { since: now, asked: 0, pending: before.pending } : before;
}

function powerboxOf(tables: HostTables): object {
  const powerbox = tables.powerbox.get('powerbox');
  if (powerbox === undefined) throw new CapError('unavailable', 'the host is starting: try again');
  return powerbox;
}

/** In a turn: the requests of a session are others now. A session that has ended is still there in this turn. */
function tellGranters(tables: HostTables, session: string): void {
  E.sendOnly(powersOf(tables)).changed(tables.sessions.get(session)?.granters ?? []);
}

/** In a turn: removes the request. */
export function closeRequest(tables: HostTables, { id, session, asker, digest, payer, wake }: RequestRecord): void {
  tellGranters(tables, session);
  cancelWake(wake);
  tables.requests.delete(id);
  if (tables.requestByDigest.get(digestKey(asker, digest)) === id)
    tables.requestByDigest.delete(digestKey(asker, digest));
  const counted = tables.requestCounts.get(payer);
  if (counted !== undefined) tables.requestCounts.set(payer, { ...counted, pending: Math.max(0, counted.pending - 1) });
}

/** In a turn: ends the request without an answer, and tells its waiters. */
export function withdrawRequest(tables: HostTables, pending: RequestRecord, code: string, message: string): void {
  closeRequest(tables, pending);
  logWithdrawn(pending, code);
  resolveRequest(tables, pending.id, { code, message, unseen: isUnseen(pending) });
}

/** Whether it is a call that no granter was shown. Such a call costs nothing. */
export const isUnseen = ({ kind, looked }: RequestRecord): boolean => kind === 'call' && looked !== true;

/**
 * In a turn: gives back the uses of calls that no granter was shown. The gated grant was charged, and so
 * were the grants delegated from it, down to the one that was called. A grant whose object made the call
 * itself, such as a program, has done its work and stays charged.
 */
export function refundUses(
  tables: HostTables,
  { under, charged }: Pick<RequestRecord, 'under' | 'charged'>,
  calls: number,
): void {
  let above: string | undefined;
  for (const id of under.toReversed()) {
    const grant = tables.grants.get(id);
    if (charged === undefined || grant === undefined || (above !== undefined && grant.parent !== above)) return;
    grant.gate.giveBack(charged, calls);
    lookAgainAt(tables, grant);
    above = id;
  }
}

export function logWithdrawn({ id, session, digest }: RequestRecord, code: string): void {
  ledgerLine('withdraw', { request: id, session, digest, code });
}

/**
 * In a turn: waits for the answer. If a grant of the call has ended, the caller runs no more turns. So the
 * powerbox checks from outside whether somebody waits.
 */
export function waitForAnswer(
  tables: HostTables,
  id: string,
  asker: string,
  of: object | undefined,
): Promise<WaitResult> {
  const waited = E(powersOf(tables)).wait(id, asker, of) as unknown as Promise<WaitResult>;
  tellAnyway(powerboxOf(tables), 'check', id);
  return waited;
}

export function resolveRequest(tables: HostTables, id: string, verdict: RequestOutcome): void {
  E.sendOnly(powersOf(tables)).decide(id, verdict as never);
}

function* requestsOf(tables: HostTables, asker: string): Generator<RequestRecord> {
  for (const [key, id] of tables.requestByDigest.entries(`${asker} `)) {
    if (!key.startsWith(`${asker} `)) return;
    const pending = tables.requests.get(id);
    if (pending !== undefined) yield pending;
  }
}

/** In a turn: withdraws every request of a session whose client does not come back. */
export function withdrawRequestsOf(tables: HostTables, asker: string, code: string, message: string): void {
  for (const pending of [...requestsOf(tables, asker)]) withdrawRequest(tables, pending, code, message);
}

/** In a turn: forgets all requests and refusals of a session that has ended. */
export function forgetAsker(tables: HostTables, asker: string): void {
  withdrawRequestsOf(tables, asker, 'revoked', 'this session has ended: ask for a new one');
  for (const [key] of [...tables.refusals.entries(`${asker} `)]) {
    if (!key.startsWith(`${asker} `)) break;
    tables.refusals.delete(key);
  }
  tables.requestCounts.delete(asker);
}
