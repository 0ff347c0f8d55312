/**
 * Asks a granter about each call of a gated grant, through the inbox.
 *
 * Promise: the call that goes on is the call that was shown, on the object that it was shown for, while the
 * files that it would change are as they were shown. Otherwise it is asked anew. The terms of the grant
 * decide whether a call waits, or is kept as a draft. Nothing in the call does. The caller of a draft is told so at once,
 * with the error `drafted`. Nothing has changed then; a yes makes the change, once, under the same grants.
 */
import { type GatedCall, isData, type Judge } from '@hob/revocable';
import { attempt, CapError, type Definition, define, E, ledgerLine } from '@hob/vat';
import { breakAnswer } from '@hob/vat/forwarder';
import { callerUnder } from '../sharing/sturdyrefs.ts';
import { sessionOf } from '../state/groups.ts';
import { chainOf, type HostState, powersOf, tablesOf } from '../state/host-state.ts';
import type { GrantRecord, HostTables, SessionRecord } from '../state/records.ts';
import { quoted } from '../text/safe-text.ts';
import { digestOf } from './digest.ts';
import { argumentRows, fitsFrame, flagsIn, methodText } from './display.ts';
import { offerRows, offerText } from './offer-text.ts';
import { countRequest, fileRequest, refundUses, waitForAnswer } from './pending.ts';
import { filesUnchanged, previewOf } from './preview.ts';
import type { Preview } from './preview-text.ts';

export const GateAskActor: Definition<
  Judge,
  [
    hostState: HostState,
    gatedGrant: string,
    drafts?: readonly string[] | undefined,
    reasons?: readonly string[] | undefined,
    personOnly?: boolean | undefined,
  ]
> = define('host.gate', (_bcom, hostState, gatedGrant, drafts, reasons = [], personOnly = false) => ({
  ask(call, target, charged, earlier?: Partial<PinnedRequest>) {
    const isDraft = drafts?.includes(call.method) === true;
    const why = reasons.map((reason) => ['why it waits', reason] as const);
    // Once, because the call may be asked anew.
    const marked = tablesOf(hostState).personOnly.delete(judgeless(gatedGrant, call));
    const asked = { hostState, gatedGrant, call, target, charged, isDraft, reasons: why };
    const alone = personOnly || marked || earlier?.personOnly === true;
    return askGranters({ ...asked, personOnly: alone }, earlier?.request) as never;
  },
}));

/** A call that somebody is asked about. */
export type AskedCall = Omit<CallContext, 'callingGrants' | 'isDraft' | 'personOnly'> & {
  readonly isDraft?: boolean;
  /** No judge sees it. */
  readonly personOnly?: boolean;
};

/** In a turn: asks the granters about the call, and returns what a judge returns. */
export const askGranters = (asked: AskedCall, stale?: string): Promise<GateDecision> =>
  E.when(callingGrantsOf(asked.hostState), (callingGrants) =>
    askAboutCall({ isDraft: false, personOnly: false, ...asked, callingGrants }, stale),
  ) as unknown as Promise<GateDecision>;

/** In a turn: refuses a call that no granter was shown. It costs no use. */
export const refuseUnseen = (asked: Omit<AskedCall, 'reasons'>, why: string): Promise<false> =>
  E.when(callingGrantsOf(asked.hostState), (callingGrants) =>
    refundAndBreak(
      { isDraft: false, personOnly: false, ...asked, reasons: [], callingGrants },
      new CapError('denied', why),
    ),
  ) as unknown as Promise<false>;

/**
 * In a turn: files a change that goes on at once, so that a granter can look at it. Returns its id, or undefined if it
 * cannot be filed. `refused` runs if a granter refuses it; a review that ends otherwise leaves the change as it is.
 */
export function fileReview(
  asked: AskedCall,
  callingGrants: readonly string[],
  preview: Preview,
  refused: () => void,
): string | undefined {
  const gated = { personOnly: false, ...asked, isDraft: false, callingGrants };
  const tables = tablesOf(gated.hostState);
  try {
    return attempt(() => {
      const { asking, session } = askerOf(tables, gated);
      countRequest(tables, session.payer);
      const id = fileCall(gated, preview, undefined, 'review');
      if (tables.requests.get(id)?.count !== 1) throw new CapError('limit', 'the same change is in review already');
      const answered = waitForAnswer(tables, id, callerUnder(tables, session.id, asking.id), gated.target);
      void E.when(
        answered,
        () => undefined,
        (error) => {
          if ((error as { readonly code?: string }).code === 'denied') refused();
        },
      );
      return id;
    });
  } catch {
    return undefined;
  }
}

export const callingGrantsOf = (hostState: HostState): Promise<readonly string[]> =>
  E(powersOf(tablesOf(hostState))).callingGrants() as unknown as Promise<readonly string[]>;

interface CallContext {
  readonly hostState: HostState;
  readonly gatedGrant: string;
  readonly call: GatedCall;
  readonly target: object;
  /** The grants that the call was made under, outermost first. */
  readonly callingGrants: readonly string[];
  /** When the uses of the call were charged, in vat time. */
  readonly charged: number;
  /** The grant keeps such calls as drafts. It counts for directories only, because their changes can be shown. */
  readonly isDraft: boolean;
  /** Rows for the granter: why a firewall makes the call wait. */
  readonly reasons: readonly (readonly [name: string, text: string])[];
  readonly personOnly: boolean;
}

type GateDecision = boolean | PinnedRequest;

/** A yes for the files as they were shown. If they have changed, the call is asked anew, as the one that replaces it. */
interface PinnedRequest {
  readonly with: readonly unknown[];
  readonly request: string;
  readonly personOnly: boolean;
}

/** A directory that comes out of a directory by one of these methods. */
const dirSteps = /^(?:subdir|readOnly|only|except|withQuota)\(/;

function isDirectory(tables: HostTables, { offered }: GrantRecord, { via }: GatedCall): boolean {
  return tables.offerInfo.get(offered)?.directory === true && via.every((step) => dirSteps.test(step));
}

function grantRecord(tables: HostTables, id: string | undefined): GrantRecord {
  const grant = id === undefined ? undefined : tables.grants.get(id);
  if (grant === undefined) throw new CapError('revoked', 'this grant has ended: ask for a new one');
  return grant;
}

/** The caller: the outermost grant and its session. */
function askerOf(
  tables: HostTables,
  { callingGrants, gatedGrant }: CallContext,
): { readonly asking: GrantRecord; readonly session: SessionRecord } {
  const asking = grantRecord(tables, callingGrants[0] ?? gatedGrant);
  const session = sessionOf(tables, asking.session);
  if (session === undefined) throw new CapError('revoked', 'this session has ended: ask for a new one');
  return { asking, session };
}

/** The grants that the call was made under, the gated one last. */
const grantsOfCall = ({ callingGrants, gatedGrant }: CallContext): readonly string[] =>
  callingGrants.includes(gatedGrant) ? callingGrants : [...callingGrants, gatedGrant];

/**
 * In a turn: ends a call that nobody was shown, so it costs nothing. The caller gets the error. The
 * returned value goes nowhere.
 */
function refundAndBreak(gated: CallContext, error: Error): false {
  refundUses(tablesOf(gated.hostState), { under: grantsOfCall(gated), charged: gated.charged }, 1);
  breakAnswer(error);
  return false;
}

/**
 * If `ask` throws, nobody was shown the call, and its uses are given back. A call that is asked anew may
 * have been shown before, and stays charged.
 */
function orRefund<T>(gated: CallContext, stale: string | undefined, ask: () => T): T | false {
  if (stale !== undefined) return ask();
  try {
    return attempt(ask);
  } catch (error) {
    return refundAndBreak(gated, error as Error);
  }
}

function askAboutCall(gated: CallContext, stale: string | undefined): GateDecision | Promise<GateDecision> {
  return orRefund(gated, stale, () => previewAndAsk(gated, stale));
}

function previewAndAsk(gated: CallContext, stale: string | undefined): Promise<GateDecision> {
  const { hostState, gatedGrant, call, target } = gated;
  const tables = tablesOf(hostState);
  // Counted before files are read for it.
  if (stale === undefined) countRequest(tables, askerOf(tables, gated).session.payer);
  const shown = isDirectory(tables, grantRecord(tables, gatedGrant), call)
    ? previewOf(target, call.method, call.args)
    : E.when(true, (): Preview => ({ effect: '', files: [], rows: [], suspicious: [] }));
  return E.when(
    shown as Promise<Preview>,
    (preview) => orRefund(gated, stale, () => fileAndWait(gated, preview, stale)),
    (error) => {
      if (stale !== undefined) throw error;
      return refundAndBreak(gated, error);
    },
  ) as unknown as Promise<GateDecision>;
}

/** In a turn: files the call as a request, and returns its id. */
function fileCall(
  gated: CallContext,
  preview: Preview,
  stale: string | undefined,
  as: 'call' | 'review' = 'call',
): string {
  const { hostState, gatedGrant, call, callingGrants, charged } = gated;
  const tables = tablesOf(hostState);
  const grant = grantRecord(tables, gatedGrant);
  const { asking, session } = askerOf(tables, gated);
  const { method, args, via } = call;
  const facts = tables.offerInfo.get(grant.offered);
  const offer = facts?.number ?? 0;
  const named = offerText(grant.offered, facts);
  const directory = isDirectory(tables, grant, call);
  const isDraft = gated.isDraft && directory;
  const isReview = as === 'review';
  // Between quotes. Otherwise a path that the agent chose could be read as one more step.
  const steps = via.map((step) => quoted(step, 200));
  const where = steps.length === 0 ? '' : `, in what ${steps.join(' and then ')} gave out`;
  const does = preview.effect === '' ? `calls ${methodText(method)}` : preview.effect;
  return fileRequest(tables, {
    kind: 'call',
    session: grant.session,
    asker: session.id,
    payer: session.payer,
    digest: digestOf({
      cap: [
        callingGrants,
        gatedGrant,
        grant.offered,
        offer,
        via,
        ...(isDraft ? ['draft'] : []),
        ...(isReview ? ['review'] : []),
      ],
      method,
      data: args,
      files: preview.files,
    }),
    asks: asking.petname,
    why: '',
    offered: grant.offered,
    offer,
    terms: undefined,
    method: method.slice(0, 64),
    ...(fitsFrame(args) ? { args } : {}),
    under: grantsOfCall(gated),
    charged,
    ...(isDraft ? { draft: true as const } : {}),
    ...(isReview ? { review: true as const } : {}),
    ...(gated.personOnly || grant.personOnly === true ? { personOnly: true as const } : {}),
    looked: stale !== undefined,
    seen: isReview ? [] : preview.files,
    stale,
    shown: () => ({
      effect: `${isReview ? 'for review, as it goes on at once: ' : ''}${does}, through “${grant.petname}”${facts?.label === undefined ? '' : `, which is ${named}`}${where}`,
      table: [
        ...offerRows(grant.offered, facts),
        ['cap', `“${grant.petname}” of session “${grant.session}”${where}`],
        ['method', methodText(method)],
        ...argumentRows(method, args, directory),
        ...preview.rows,
        ...gated.reasons,
      ],
      ...(preview.diff === undefined ? {} : { diff: preview.diff }),
      permits: [permitOf(isDraft, isReview)],
      flags: flagsIn([method, args, via, preview.suspicious, facts?.label]),
    }),
  });
}

const permitOf = (isDraft: boolean, isReview: boolean): string =>
  isReview
    ? 'that this change stays: a refusal takes it back, while the file is as the change left it'
    : isDraft
      ? 'this one change, which is made at your yes'
      : 'this one call, and nothing else';

function fileAndWait(gated: CallContext, preview: Preview, stale: string | undefined): Promise<GateDecision> {
  const { hostState, gatedGrant, call, target } = gated;
  const tables = tablesOf(hostState);
  const isDraft = gated.isDraft && isDirectory(tables, grantRecord(tables, gatedGrant), call);
  const { asking, session } = askerOf(tables, gated);
  const id = fileCall(gated, preview, stale);
  if (isDraft && (tables.requests.get(id)?.count ?? 0) > 1) return toldDrafted(id, stale);
  const answered = waitForAnswer(tables, id, callerUnder(tables, session.id, asking.id), target);
  if (isDraft) {
    keepDraft(gated, { id, preview, answered });
    return toldDrafted(id, stale);
  }
  return E.when(answered, (verdict) => {
    if ('unseen' in verdict) return refundAndBreak(gated, new CapError(verdict.unseen.code, verdict.unseen.message));
    if (!('go' in verdict)) return askAboutCall(gated, id);
    if (preview.pinned !== undefined) return { with: preview.pinned, request: id, personOnly: gated.personOnly };
    if (preview.files.length === 0) return true;
    // A change that cannot name the version is checked once more, as late as possible.
    return E.when(filesUnchanged(target, preview.files), (same): GateDecision | Promise<GateDecision> =>
      same ? true : askAboutCall(gated, id),
    );
  }) as unknown as Promise<GateDecision>;
}

const judgeless = (grant: string, { method, args }: Pick<GatedCall, 'method' | 'args'>): string =>
  `${grant} ${digestOf({ cap: [], method, data: args, files: [] })}`;

/** In the turn of a call that waits by the terms of its grant: no judge sees it. */
export function keepFromJudges(tables: HostTables, grant: string, call: Pick<GatedCall, 'method' | 'args'>): void {
  // A call whose arguments are not data never waits.
  if (isData(call.args)) tables.personOnly.set(judgeless(grant, call), true);
}

/** The caller of a draft gets an error, because the change was not made. One that is filed anew has no caller. */
function toldDrafted(id: string, stale: string | undefined): Promise<GateDecision> {
  if (stale === undefined)
    breakAnswer(
      new CapError(
        'drafted',
        `kept as the draft ${id}, and nothing has changed: a person sees the change and decides. Do not call again, and do not rely on it`, // biome-ignore format: one line
      ),
    );
  return false as never;
}

interface Draft {
  readonly id: string;
  readonly preview: Preview;
  readonly answered: ReturnType<typeof waitForAnswer>;
}

/** In a turn: makes the change when a granter said yes. Nobody waits for the outcome, so the ledger has it. */
function keepDraft(gated: CallContext, { id, preview, answered }: Draft): void {
  const { hostState, target, call, charged } = gated;
  void E.when(
    answered,
    (verdict) => {
      const tables = tablesOf(hostState);
      if ('unseen' in verdict) return refundUses(tables, { under: grantsOfCall(gated), charged }, 1);
      if (!('go' in verdict)) return void askAboutCall(gated, id);
      if (preview.pinned !== undefined) return makeDraft(gated, id, preview.pinned);
      return E.when(filesUnchanged(target, preview.files), (same) =>
        same ? makeDraft(gated, id, call.args) : void askAboutCall(gated, id),
      );
    },
    // It was refused, or its grant or session has ended. Another line says so.
    () => undefined,
  );
}

type Methods = Readonly<Record<string, (...args: readonly unknown[]) => Promise<unknown>>>;

function makeDraft(gated: CallContext, id: string, args: readonly unknown[]): void {
  const { hostState, gatedGrant, target, call } = gated;
  const { session } = grantRecord(tablesOf(hostState), gatedGrant);
  const about = { request: id, session, grant: gatedGrant, method: call.method.slice(0, 64) };
  ledgerLine('draft', { ...about, what: 'begin' });
  void E.when(
    (E(target) as unknown as Methods)[call.method]?.(...args) as Promise<unknown>,
    () => undefined,
    (error) => {
      const { code = 'error' } = error as { readonly code?: string };
      ledgerLine('draft', { ...about, what: 'fail', code });
      if (code === 'STALE') void askAboutCall(gated, id);
    },
  );
}

/** The sessions from the root session down to the asker. */
export function askerChain(tables: HostTables, id: string): readonly string[] {
  const session = sessionOf(tables, id);
  return session === undefined ? [id] : chainOf(tables, session).map(({ id: each }) => each);
}
