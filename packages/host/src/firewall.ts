/**
 * The port of the firewall: a host tells it of each call that a grant allows, before the call goes on.
 *
 * Promise: a firewall only makes stricter. It is not asked about a call that a grant refuses. It can let a call go
 * on, make it wait for a granter, or refuse it. If it fails, or returns no decision, the call waits. A call is assessed once, at the grant
 * that leads to the offer, whichever face or child session it came through.
 */
import type { CallOutcome, GuardedCall, Guarding } from '@hob/revocable';
import { CapError, spawn } from '@hob/vat';
import { currentCauses, type Effects, freshName, lastingName } from '@hob/vat/forwarder';
import { type HookedCap, HookJudgeActor } from './hooks/hook-judge.ts';
import { OnlookerActor } from './hooks/onlooker.ts';
import { ReviewActor, undoable } from './hooks/review.ts';
import { GateAskActor, keepFromJudges } from './powerbox/gate.ts';
import { isNamedCall } from './sessions/calls.ts';
import type { AnswerVerdict, HookedCall, HookedOutcome, HookPowers, HookVerdict } from './state/hooked.ts';
import { type HostState, tablesOf } from './state/host-state.ts';
import { keepLoops, recentRow } from './state/loops.ts';
import type { GrantRecord, HostTables } from './state/records.ts';

/** A call that a grant allows, as a firewall sees it. */
export interface CallFacts extends HookedCall {
  /** The terms of the grant make each call of this method wait anyway. */
  readonly waits: boolean;
}

/** The decision of a firewall about one call. */
export interface CallDecision {
  /** The call waits for a granter. */
  readonly waits: boolean;
  /** If it waits, it is for a person alone: no judge sees it. */
  readonly personOnly?: boolean;
  /** It goes on, and a granter looks at it afterwards. It counts if `undoes`, and if the call does not wait. */
  readonly review?: boolean;
  /** Fields of the ledger line of the call. Plain data without secrets and without text of the call. */
  readonly trace: Readonly<Record<string, string | number | boolean>>;
  /** Lines for the granter: why the call waits. Text of ours. */
  readonly reasons: readonly string[];
}

/** Decides about each call, synchronously and in the turn of the call. Throws a `CapError` to refuse it at no cost. */
export interface CallFirewall {
  decide(call: CallFacts): CallDecision;
  /** Notices callers that go round in circles. */
  readonly loops?: LoopGuard;
  /** Programs that look at calls and answers. */
  readonly hooks?: CallHooks;
}

/** Programs that look at calls. A rejection refuses the call, or withholds the answer. They run in both modes. */
export interface CallHooks {
  /** In a turn: whether one looks at the call before it goes on, and whether one looks at its answer. */
  looksAt(call: CallFacts): { readonly before: boolean; readonly after: boolean };
  before(call: HookedCall, signal: AbortSignal): Promise<HookVerdict>;
  after(call: HookedCall, outcome: HookedOutcome, signal: AbortSignal): Promise<AnswerVerdict>;
}

/** A call of the cap that a session holds, as a loop guard sees it. */
export interface LoopCall {
  readonly method: string;
  readonly args: readonly unknown[];
  readonly effects: Effects | undefined;
  readonly reads: readonly string[];
  /** Stands for the object that is called: the cap, or one that came out of it. */
  object(): string;
}

/**
 * Follows the calls of each cap of each session. It has no state: the host keeps it for each grant, in its store.
 * `kept` is undefined at first, and after a turn of a person.
 */
export interface LoopGuard {
  /** Before a call. Throws a `CapError` to answer it without sending it, at no cost. */
  before(call: LoopCall, kept: unknown): void;
  /**
   * After a call: data to keep in place of `kept`, and a warning for the caller. Undefined if nothing changes. What is
   * not `lasting` is kept until the host ends: a first sight is worth no write to the disk.
   */
  after(
    call: LoopCall,
    outcome: CallOutcome,
    kept: unknown,
  ): { readonly kept: unknown; readonly lasting: boolean; readonly warning?: string | undefined } | undefined;
}

/** A firewall, and the driver of its hooks. */
interface GuardedBy {
  readonly firewall: CallFirewall;
  readonly hooks: HookPowers | undefined;
}

/** In a turn: asks the firewall about a call of a grant of this host. */
export function guardCall(
  hostState: HostState,
  { firewall, hooks }: GuardedBy,
  call: GuardedCall,
): Guarding | undefined {
  const tables = tablesOf(hostState);
  const grant = tables.grants.get(call.grant);
  // A grant that the program made itself is no grant of a session.
  if (grant === undefined) return undefined;
  // Loops are those of the session that calls, so its own grant counts them.
  const ended = firewall.loops !== undefined && call.outermost ? follow(hostState, firewall.loops, grant, call) : undefined; // biome-ignore format: one line
  if (!leadsToOffer(grant)) return ended && { ended };
  const guarding = decided(hostState, { firewall, hooks }, grant, call);
  return ended === undefined ? guarding : { ...guarding, ended };
}

function decided(
  hostState: HostState,
  { firewall, hooks }: GuardedBy,
  grant: GrantRecord,
  call: GuardedCall,
): Guarding {
  const tables = tablesOf(hostState);
  const facts = factsOf(tables, grant, call);
  const { waits, trace: fields, reasons, review = false, personOnly = false } = decideSafely(firewall, facts);
  if (facts.waits && personOnly) keepFromJudges(tables, grant.id, call);
  const { before, after } = hooks === undefined ? none : looking(firewall, facts);
  const { method: _method, args: _args, waits: termsWait, ...cap } = facts;
  const onlooker = after && hooks !== undefined ? spawn(OnlookerActor(hooks, cap satisfies HookedCap)) : undefined;
  const isReviewed = review && facts.undoes && !waits && !termsWait;
  const reviewer = isReviewed ? spawn(ReviewActor(hostState, grant.id, reasons, undefined, onlooker)) : undefined;
  const seen = reviewer ?? onlooker;
  const shown = seen === undefined ? {} : { onlooker: seen };
  if (before && hooks !== undefined) {
    const judge = spawn(HookJudgeActor(hostState, hooks, cap, { waits, termsWait, reasons, personOnly }, reviewer));
    return { fields: { ...fields, hooked: true }, judge, ...shown };
  }
  if (reviewer !== undefined) return { fields, judge: reviewer, ...shown };
  if (!waits || termsWait) return { fields, ...shown };
  return { fields, judge: spawn(GateAskActor(hostState, grant.id, undefined, reasons, personOnly)), ...shown };
}

const none = { before: false, after: false } as const;

/** If nobody knows which programs look at a call, all do: those that do not are told by their own table. */
function looking({ hooks }: CallFirewall, facts: CallFacts): { readonly before: boolean; readonly after: boolean } {
  try {
    return hooks?.looksAt(facts) ?? { before: false, after: false };
  } catch {
    return { before: true, after: true };
  }
}

/** In a turn: throws if the call is stopped. Returns the function that is told how it ended. */
function follow(hostState: HostState, loops: LoopGuard, grant: GrantRecord, call: GuardedCall): Guarding['ended'] {
  const tables = tablesOf(hostState);
  const { effects, reads = [] } = tables.offerInfo.get(grant.offered) ?? {};
  const object = (): string => standsFor(call.inner);
  const followed: LoopCall = { method: call.method, args: call.args, effects, reads, object };
  loops.before(followed, recentRow(hostState, tables, grant)?.kept);
  const group = currentCauses().find(isNamedCall);
  return (outcome) => {
    const now = tablesOf(hostState);
    if (!now.grants.has(grant.id)) return;
    const change = loops.after(followed, outcome, recentRow(hostState, now, grant)?.kept);
    if (change === undefined) return;
    const { kept, lasting, warning } = change;
    keepLoops(hostState, now, grant, { kept, lasting, warning: warning === undefined ? undefined : { call: group, text: warning } }); // biome-ignore format: one line
  };
}

const objects = new WeakMap<object, string>();

/** An object that a cap gave out is another one each time, and lasts no longer than the process. */
function standsFor(inner: object): string {
  const known = objects.get(inner);
  if (known !== undefined) return known;
  const made = lastingName(inner) ?? freshName('object');
  objects.set(inner, made);
  return made;
}

/**
 * A delegated grant and a facet that asks pass the call on to another grant, which is asked about. A delegated grant of
 * an earlier version is not marked: its calls are assessed twice, and never less strictly.
 */
const leadsToOffer = ({ delegated, asks }: GrantRecord): boolean => delegated !== true && asks !== true;

function factsOf(tables: HostTables, grant: GrantRecord, { method, args }: GuardedCall): CallFacts {
  const info = tables.offerInfo.get(grant.offered);
  const waits = grant.waits === true || (grant.waits ?? []).includes(method) || (grant.drafts ?? []).includes(method);
  return {
    session: grant.session,
    grant: grant.id,
    petname: grant.petname,
    offer: grant.offered,
    method,
    args,
    effects: info?.effects,
    reads: info?.reads ?? [],
    level: grant.level ?? 'medium',
    waits,
    undoes: info?.directory === true && undoable.includes(method),
  };
}

const failed: CallDecision = Object.freeze({
  waits: true,
  trace: Object.freeze({ assess: 'failed' }),
  reasons: Object.freeze(['the assessment of the call failed, so a person decides']),
});

function decideSafely(firewall: CallFirewall, facts: CallFacts): CallDecision {
  try {
    const decision: unknown = firewall.decide(facts);
    return isDecision(decision) ? decision : failed;
  } catch (error) {
    // The grant writes the line of a refusal.
    if (!(error instanceof CapError)) return failed;
    throw error;
  }
}

/** A promise, or a misspelt `waits`, would let every call go on. */
function isDecision(given: unknown): given is CallDecision {
  const { waits, trace, reasons } = (given ?? {}) as Partial<Record<keyof CallDecision, unknown>>;
  return typeof waits === 'boolean' && typeof trace === 'object' && trace !== null && Array.isArray(reasons);
}
