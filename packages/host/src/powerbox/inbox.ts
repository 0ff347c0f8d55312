/**
 * The requests that a granter sees.
 *
 * Promise: a granter sees the requests of sessions that name it, in our words. The reason that the agent
 * gives stands apart. It is marked as the agent's, also in a program that prints it as it is.
 */
import { CapError, E, vatTime } from '@hob/vat';
import { canonicalText } from '@hob/vat/forwarder';
import { needsPasskey } from '../passkeys/needed.ts';
import { sessionOf } from '../state/groups.ts';
import { chainOf, type HostState, powersOf, tablesOf } from '../state/host-state.ts';
import { numberOf } from '../state/order.ts';
import type { Proposal, RequestDisplay, RequestRecord } from '../state/records.ts';
import { reservedNameFlags } from '../state/reserved.ts';
import type { GrantTerms } from '../state/terms.ts';
import { quoted } from '../text/safe-text.ts';
import { challengeOf } from '../webauthn/proof.ts';
import type { IsGranterOf } from './answer-request.ts';
import type { Rows } from './display.ts';
import { askerChain } from './gate.ts';
import { withWhere } from './offer-text.ts';
import { isUnseen } from './pending.ts';

/**
 * A pending request as a granter sees it. Times are in ms. Text of an agent is quoted and cut. `digest`
 * binds an approval to what is asked, its terms or call, and the files shown.
 */
export interface Request extends RequestDisplay {
  readonly id: string;
  /** `grant`: a grant is asked for. `call`: a call of a gated grant waits. */
  readonly kind: 'grant' | 'call';
  /** The session whose granters decide. */
  readonly session: string;
  /** The sessions from the root session down to the asker. */
  readonly asker: readonly string[];
  readonly asks: string;
  /** The agent's reason: marked as its words, escaped and cut. */
  readonly why: string;
  /** The terms that are asked for. Absent for a call. */
  readonly terms?: GrantTerms;
  /** The digest that an answer names. */
  readonly digest: string;
  readonly ageMs: number;
  /** The time in which it can still be answered. */
  readonly leftMs: number;
  /** Whether the asker is still connected and waits. */
  readonly waiting: boolean;
  /** A change that is kept as a draft: the asker was told so, and does not wait for it. */
  readonly draft?: true;
  /** It is for a person alone: no judge sees it, and it is answered by itself. */
  readonly personOnly?: true;
  /** A yes needs a passkey of the granter, which signs `challenge`: `{grant, digest, passkey}`. */
  readonly needs?: 'passkey';
  readonly challenge?: string;
  /** How often it was asked. */
  readonly count: number;
  /** The request that this one replaces, because what it showed has changed. */
  readonly stale?: string;
  /** Proposals of judges. They are text only. */
  readonly proposals: readonly Proposal[];
}

/**
 * A call that waits, as data: for a program that answers by rules of its own. It is not escaped, so a person never
 * reads it, and no judge gets it.
 */
export interface RequestedCall {
  readonly method: string;
  /** Undefined if they are longer than 100,000 letters. */
  readonly args?: readonly unknown[];
  /** The digest that an answer names: the answer is for exactly these arguments. */
  readonly digest: string;
}

/** In a turn. Errors: `no-such-object` (it is no request for a call that waits). */
export function requestedCall(hostState: HostState, names: IsGranterOf, id: unknown): RequestedCall {
  const tables = tablesOf(hostState);
  const pending = typeof id === 'string' ? tables.requests.get(id) : undefined;
  if (pending?.method === undefined || !names(sessionOf(tables, pending.session)))
    throw new CapError('no-such-object', 'no request for a call of this id waits: it was answered, or has ended');
  if (isUnseen(pending)) tables.requests.set(pending.id, { ...pending, looked: true });
  const { method, args, digest } = pending;
  return { method, ...(args === undefined ? {} : { args }), digest };
}

const page = 50;
/** A page has no more than this and one request. Together they fit into a frame, with quotes escaped. */
const pageBytes = 400_000;
const longestWhyShown = 500;

/** Says it wherever a request is read, also where no passkey can sign. */
const PASSKEY_ROW = ['a yes needs', 'a passkey, on the page that hob console opens'] as const;

/** The viewer: a granter is told where things are on this host, a judge is not. Its words go to the agent. */
type Viewer = 'granter' | 'judge';

/** In a turn. */
export function inbox(
  hostState: HostState,
  names: IsGranterOf,
  viewer: Viewer,
  after: unknown = '',
): Promise<readonly Request[]> {
  const tables = tablesOf(hostState);
  const found: RequestRecord[] = [];
  let bytes = 0;
  const from = typeof after === 'string' ? (numberOf(after) ?? 0) : 0;
  // Few requests wait at a time, and their keys do not sort by number.
  const waiting = [...tables.requests.entries()].map(([id, pending]) => [numberOf(id) ?? 0, pending] as const);
  for (const [number, pending] of waiting.sort(([a], [b]) => a - b)) {
    if (found.length >= page || bytes > pageBytes) break;
    if (number <= from || !names(sessionOf(tables, pending.session))) continue;
    if (viewer === 'judge' && pending.personOnly === true) continue;
    found.push(pending);
    // A judge is no person: a call that only a judge has seen costs nothing if it ends.
    if (viewer === 'granter' && isUnseen(pending)) tables.requests.set(pending.id, { ...pending, looked: true });
    bytes += shownBytes(pending);
  }
  const asked = E(powersOf(tables)).waiting(found.map(({ id }) => id));
  return E.when(asked as unknown as Promise<readonly { readonly there: boolean }[]>, (states) =>
    found.map((pending, at) => requestView(hostState, pending, { waiting: states[at]?.there === true, viewer })),
  ) as unknown as Promise<readonly Request[]>;
}

/** An agent chooses most of these texts, and one of its characters can be shown as eight. */
function shownBytes({ asks, why, effect, table, diff, permits, flags, terms, proposals }: RequestRecord): number {
  const shown = [asks, why, effect, table, diff ?? '', permits, flags, terms ?? '', proposals];
  return 1000 + Buffer.byteLength(canonicalText(shown as unknown));
}

function requestView(
  hostState: HostState,
  pending: RequestRecord,
  { waiting, viewer }: { readonly waiting: boolean; readonly viewer: Viewer },
): Request {
  const {
    id,
    kind,
    session: sessionId,
    asker,
    asks,
    why,
    terms,
    digest,
    since,
    deadline,
    count,
    stale,
    draft,
    personOnly,
    proposals,
  } = pending;
  const { effect, diff, permits, flags } = pending;
  const now = vatTime();
  const tables = tablesOf(hostState);
  const place = viewer === 'granter' ? tables.offerInfo.get(pending.offered)?.place : undefined;
  const placed: Rows = place === undefined ? pending.table : withWhere(pending.table, place);
  const isSigned = needsPasskey(tables, pending);
  const table: Rows = isSigned ? [...placed, PASSKEY_ROW] : placed;
  const askerSession = sessionOf(tables, asker);
  const marks = askerSession === undefined ? [] : reservedNameFlags(tables, chainOf(tables, askerSession));
  return {
    id,
    kind,
    session: sessionId,
    asker: askerChain(tables, asker),
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
    ...(draft === undefined ? {} : { draft }),
    ...(personOnly === undefined ? {} : { personOnly }),
    ...(isSigned ? { needs: 'passkey' as const, challenge: challengeOf(pending) } : {}),
    proposals,
  };
}
