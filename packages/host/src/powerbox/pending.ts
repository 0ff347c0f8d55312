/**
 * What is asked and not answered yet: rows of the house.
 *
 * Promise: a request is asked in the words that it was filed with; what changes it makes it another one, with another digest. It ends once: by an
 * answer, its deadline, the end of its asker or of the process, and each of these is a line. How much a session may ask is limited, and whoever
 * asks the same twice is told the same.
 */
import { CapError, cancelWake, E, ledgerLine, tellAnyway, vatTime, wakeAt } from '@hob/vat';
import { chainText, eraOf, next, powersOf } from '../state/host-state.ts';
import type { Asker, HostTables, Pending, SessionRecord, Shown } from '../state/records.ts';
import type { Verdict, Waited } from '../state/waiters.ts';

/** How much may be asked: far more than a person would answer. */
export const askingLimits: Readonly<Record<'pending' | 'hourly' | 'together', number>> = Object.freeze({
  pending: 16,
  hourly: 120,
  together: 64,
});
const hour = 3_600_000;

// One for all: a flood must not make us write down a stack for each.
const limit = (what: string): CapError => Object.freeze(new CapError('limit', what));
const tooMany = limit(`${askingLimits.pending} requests of this session wait for an answer: wait for one of them`);
const tooOften = limit(`this session has asked ${askingLimits.hourly} times within an hour: wait, and ask for more at once`); // biome-ignore format: one line
const asSaid = limit(`this was asked ${askingLimits.together} times already and is not answered yet: wait for that`);

export const askedKey = (asker: string, digest: string): string => `${asker} ${digest}`;

export type Asking = Omit<Pending, 'id' | 'proposals' | 'count' | 'since' | 'deadline' | 'wake' | keyof Shown> & {
  /** Made only where it will be shown: most of what a flood asks is refused. */
  readonly shown: () => Shown;
};

/**
 * In a turn: files it, or joins the one that asks the same. `first` runs where it is filed for the first time. Errors: `denied` (refused before),
 * `limit`.
 */
export function file(book: HostTables, asking: Asking, first?: () => void): string {
  const { asker, payer, digest } = asking;
  const key = askedKey(asker, digest);
  const no = book.refusals.get(key);
  if (no !== undefined) {
    ledgerLine('refuse', { session: asker, what: 'request', code: 'denied' });
    throw new CapError('denied', no);
  }
  const same = book.asked.get(key);
  const there = same === undefined ? undefined : book.requests.get(same);
  if (there !== undefined) {
    if (there.count >= askingLimits.together) throw asSaid;
    book.requests.set(there.id, { ...there, count: there.count + 1 });
    return there.id;
  }
  first?.();
  const counted = roomToAsk(book, payer);
  book.askers.set(payer, { ...counted, pending: counted.pending + 1 });
  const id = `q${String(next(book, 'requests')).padStart(3, '0')}-${eraOf(book)}`;
  const since = vatTime();
  const deadline = since + Number(book.facts.get('askMs') ?? hour);
  const wake = wakeAt(deadline, powerboxOf(book), 'expire', id);
  const { shown, ...rest } = asking;
  book.requests.set(id, { ...rest, ...shown(), id, proposals: [], count: 1, since, deadline, wake });
  book.asked.set(key, id);
  const room = book.rooms.get(asker) as SessionRecord;
  const { session, asks, kind, under, method, stale } = asking;
  ledgerLine('request', {
    request: id,
    session,
    chain: chainText(book, room),
    digest,
    ...(kind === 'grant' ? { asks } : { grant: under.at(-1), method }),
    ...(stale === undefined ? {} : { stale }),
  });
  return id;
}

/** In a turn: counts that it asks, before anything is done for it. Errors: `limit`. */
export function countAsk(book: HostTables, payer: string): void {
  const counted = roomToAsk(book, payer);
  if (counted.asked >= askingLimits.hourly) throw tooOften;
  book.askers.set(payer, { ...counted, asked: counted.asked + 1 });
}

function roomToAsk(book: HostTables, payer: string): Asker {
  const now = vatTime();
  const before = book.askers.get(payer) ?? { since: now, asked: 0, pending: 0 };
  if (before.pending >= askingLimits.pending) throw tooMany;
  return now - before.since >= hour ? { since: now, asked: 0, pending: before.pending } : before;
}

export function powerboxOf(book: HostTables): object {
  const powerbox = book.powerbox.get('powerbox');
  if (powerbox === undefined) throw new CapError('unavailable', 'the host is starting: try again');
  return powerbox;
}

/** In a turn: it is no longer asked. */
export function settle(book: HostTables, { id, asker, digest, payer, wake }: Pending): void {
  cancelWake(wake);
  book.requests.delete(id);
  if (book.asked.get(askedKey(asker, digest)) === id) book.asked.delete(askedKey(asker, digest));
  const counted = book.askers.get(payer);
  if (counted !== undefined) book.askers.set(payer, { ...counted, pending: Math.max(0, counted.pending - 1) });
}

/** In a turn: it ends without an answer, and who waits is told. */
export function withdraw(book: HostTables, pending: Pending, code: string, message: string): void {
  settle(book, pending);
  tellWithdrawn(pending, code);
  decide(book, pending.id, { code, message, unseen: isUnseen(pending) });
}

/** Whether it is a call that no granter was shown: it then costs nothing. */
export const isUnseen = ({ kind, looked }: Pending): boolean => kind === 'call' && looked !== true;

/**
 * In a turn: gives back the uses that so many calls cost which nobody was asked about. They were charged to the gated grant, and to those that were
 * handed on from it, down to the one that was called; a grant whose object made the call itself (a program, say) has done its work and is charged.
 */
export function giveBack(
  book: HostTables,
  { under, charged }: Pick<Pending, 'under' | 'charged'>,
  calls: number,
): void {
  let above: string | undefined;
  for (const id of under.toReversed()) {
    const kept = book.grants.get(id);
    if (charged === undefined || kept === undefined || (above !== undefined && kept.parent !== above)) return;
    kept.gate.giveBack(charged, calls);
    above = id;
  }
}

export function tellWithdrawn({ id, session, digest }: Pending, code: string): void {
  ledgerLine('withdraw', { request: id, session, digest, code });
}

/**
 * In a turn: waits for the answer. Who is cut off, because a grant that it was asked under has ended, runs no more turns: so that is looked for from
 * elsewhere.
 */
export function waitFor(book: HostTables, id: string, asker: string, of: object | undefined): Promise<Waited> {
  const waited = E(powersOf(book)).wait(id, asker, of) as unknown as Promise<Waited>;
  tellAnyway(powerboxOf(book), 'check', id);
  return waited;
}

export function decide(book: HostTables, id: string, verdict: Verdict): void {
  E.sendOnly(powersOf(book)).decide(id, verdict as never);
}

function* askedBy(book: HostTables, asker: string): Generator<Pending> {
  for (const [key, id] of book.asked.entries(`${asker} `)) {
    if (!key.startsWith(`${asker} `)) return;
    const pending = book.requests.get(id);
    if (pending !== undefined) yield pending;
  }
}

/** In a turn: nobody comes back for what this session has asked. */
export function withdrawAll(book: HostTables, asker: string, code: string, message: string): void {
  for (const pending of [...askedBy(book, asker)]) withdraw(book, pending, code, message);
}

/** In a turn: the session has ended, and is forgotten here. */
export function forgetAsker(book: HostTables, asker: string): void {
  withdrawAll(book, asker, 'revoked', 'this session has ended: ask for a new one');
  for (const [key] of [...book.refusals.entries(`${asker} `)]) {
    if (!key.startsWith(`${asker} `)) break;
    book.refusals.delete(key);
  }
  book.askers.delete(asker);
}
