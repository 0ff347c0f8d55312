/**
 * What a granter sees of what is asked.
 *
 * Promise: only of sessions that name them; and in words of ours. The agent's own reason stands apart and says whose words it is, also in a face
 * that prints it without thinking.
 */
import { E, vatTime } from '@hob/vat';
import { sessionOf } from '../state/groups.ts';
import { chainOf, type HostState, powersOf, tablesOf } from '../state/host-state.ts';
import { numberOf } from '../state/order.ts';
import type { Pending, Proposal, Shown } from '../state/records.ts';
import { reservedAmong } from '../state/reserved.ts';
import type { GrantTerms } from '../state/terms.ts';
import { quoted } from '../words/words.ts';
import type { Names } from './answers.ts';
import { askersOf } from './gate.ts';
import { isUnseen } from './pending.ts';

export interface Request extends Shown {
  readonly id: string;
  /** A grant is asked for, or a call of a gated grant waits. */
  readonly kind: 'grant' | 'call';
  /** The session whose granters decide. */
  readonly session: string;
  /** Who asks: the sessions from the first one down. */
  readonly asker: readonly string[];
  readonly asks: string;
  /** Marked as the agent's words, escaped, cut. */
  readonly why: string;
  /** What would be granted; of a call, nothing. */
  readonly terms?: GrantTerms;
  /** Whoever answers names it. */
  readonly digest: string;
  readonly ageMs: number;
  /** How long it can still be answered. */
  readonly leftMs: number;
  /** Whether who asked is still connected and waits. */
  readonly waiting: boolean;
  /** How often the same was asked. */
  readonly count: number;
  /** The request that this one takes the place of: what it showed has changed. */
  readonly stale?: string;
  /** What a judge thinks: no more than words. */
  readonly proposals: readonly Proposal[];
}

const page = 50;
/** Diffs are large, and a page has to fit into a frame, its quotes escaped. */
const pageChars = 120_000;
export const longestWhyShown = 500;

/** In a turn. */
export function inbox(house: HostState, names: Names, after: unknown = ''): Promise<readonly Request[]> {
  const book = tablesOf(house);
  const found: Pending[] = [];
  let chars = 0;
  const from = typeof after === 'string' ? (numberOf(after) ?? 0) : 0;
  // Few wait at a time, and their keys do not sort by number.
  const waiting = [...book.requests.entries()].map(([id, pending]) => [numberOf(id) ?? 0, pending] as const);
  for (const [number, pending] of waiting.sort(([a], [b]) => a - b)) {
    if (found.length >= page || chars > pageChars) break;
    if (number <= from || !names(sessionOf(book, pending.session))) continue;
    found.push(pending);
    if (isUnseen(pending)) book.requests.set(pending.id, { ...pending, looked: true });
    chars += 2000 + (pending.diff?.length ?? 0);
  }
  const asked = E(powersOf(book)).waiting(found.map(({ id }) => id));
  return E.when(asked as unknown as Promise<readonly { readonly there: boolean }[]>, (states) =>
    found.map((pending, at) => view(house, pending, states[at]?.there === true)),
  ) as unknown as Promise<readonly Request[]>;
}

function view(house: HostState, pending: Pending, waiting: boolean): Request {
  const { id, kind, session, asker, asks, why, terms, digest, since, deadline, count, stale, proposals } = pending;
  const { effect, table, diff, permits, flags } = pending;
  const now = vatTime();
  const book = tablesOf(house);
  const room = sessionOf(book, asker);
  const marks = room === undefined ? [] : reservedAmong(book, chainOf(book, room));
  return {
    id,
    kind,
    session,
    asker: askersOf(book, asker),
    asks,
    why: why === '' ? '' : `the agent says: ${quoted(why, longestWhyShown)}`,
    effect,
    table,
    ...(diff === undefined ? {} : { diff }),
    permits,
    flags: [...flags, ...marks],
    ...(terms === undefined ? {} : { terms }),
    digest,
    ageMs: now - since,
    leftMs: Math.max(0, deadline - now),
    waiting,
    count,
    ...(stale === undefined ? {} : { stale }),
    proposals,
  };
}
