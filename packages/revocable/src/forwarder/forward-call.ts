/**
 * How a forwarder handles one call: it asks its policy, charges, writes the ledger line, sends the call on,
 * and wraps the result.
 *
 * A change of state is made in the turn that sends the call on. It is therefore on disk before the call
 * leaves.
 */
import { type Bcom, CapError, E, isReference, ledgerLine, type Portrait, vatTime } from '@hob/vat';
import { callOrSend, isNear } from '@hob/vat/actors';
import {
  actorBehind,
  breakAnswer,
  foresee,
  frozenCopy,
  passOn,
  refusalOf,
  tellAnyway,
  under,
} from '@hob/vat/forwarder';
import { type Crossing, cross, forwardTargetOf } from './cross.ts';
import type { EndedCall, ForwarderState, ForwardTarget } from './forwarder.ts';
import { type Guarding, guardOf } from './guard.ts';
import type { Opened, Parts } from './parts.ts';
import { asItIs, type FullPolicy, noGroups, opaque, shown } from './policy.ts';
import { checkCanWait, seenBy, sendIfApproved } from './waiting.ts';

/**
 * How a call arrived. `forwarder`: in the turn of another forwarder, which undoes its own charge if this one
 * refuses.
 */
type ReachedBy = 'near' | 'message' | 'forwarder';

interface Call {
  readonly method: string;
  readonly args: readonly unknown[];
}

/** A call that the policy allows. */
interface Admitted<S> {
  readonly target: ForwardTarget;
  readonly call: Call;
  readonly reachedBy: ReachedBy;
  readonly state: S;
  /** The state after the call was charged. */
  readonly next: S | undefined;
  readonly guarding: Guarding | undefined;
  readonly parts: Parts | undefined;
}

/** The behaviour of a forwarder's state. `portraitOf` makes the portrait of the next state. */
export function forwarderStateOf<S extends readonly unknown[]>(
  bcom: Bcom<never>,
  portraitOf: (next: S) => Portrait<unknown>,
  state: S,
  policy: FullPolicy<S>,
): ForwarderState {
  const calls = new Calls(bcom, portraitOf, state, policy);
  return {
    callByMessage: (target, method, args) => calls.admit(target, { method, args }, 'message'),
    callNear: (target, method, args) => calls.admit(target, { method, args }, 'near'),
    forwardInTurn: (target, method, args) => calls.admit(target, { method, args }, 'forwarder'),
    foresee: (target, method, args) => calls.foresee(target, { method, args }),
    onFulfilled: (call, value) => calls.fulfilled(call, value),
    onBroken: (call, error) => calls.broken(call, error),
    passResult: (inward, value) => calls.passResult(inward, value),
    latch: () => calls.keepLatched(policy.latch?.(state)),
    near: () => calls.near,
    reveal: () => calls.reveal(),
  };
}

/** The calls of one forwarder in one state. */
class Calls<S extends readonly unknown[]> {
  readonly near: boolean;
  readonly #bcom: Bcom<never>;
  readonly #portraitOf: (next: S) => Portrait<unknown>;
  readonly #state: S;
  readonly #policy: FullPolicy<S>;

  constructor(bcom: Bcom<never>, portraitOf: (next: S) => Portrait<unknown>, state: S, policy: FullPolicy<S>) {
    this.near = typeof policy.near === 'function' ? policy.near(state) : policy.near === true;
    this.#bcom = bcom;
    this.#portraitOf = portraitOf;
    this.#state = state;
    this.#policy = policy;
  }

  get #self(): ForwarderState {
    return this.#bcom.self as ForwarderState;
  }

  /** Asks the policy. Then the charge, its ledger line and the call itself are one turn. */
  admit(target: ForwardTarget, call: Call, reachedBy: ReachedBy): unknown {
    const policy = this.#policy;
    if (reachedBy === 'near' && !this.near) throw byMessageOnly();
    const now = policy.timeless === true ? 0 : vatTime();
    const latched = policy.latch?.(this.#state);
    const state = latched ?? this.#state;
    let next: S | undefined;
    let guarding: Guarding | undefined;
    try {
      if (target.inward) policy.admitCallback?.(state);
      else {
        next = (policy.before?.(state, call.method, call.args, now) ?? undefined) as S | undefined;
        guarding = this.#guard(state, target.inner, call, reachedBy === 'message');
      }
    } catch (error) {
      this.#writeEnd('refuse', state, { method: call.method, ...target }, error);
      target.parts?.refused(codeOf(error));
      return this.#refuse(latched, error as Error, reachedBy);
    }
    if (reachedBy === 'near' && (next !== undefined || laterOf(guarding))) throw byMessageOnly();
    const parts =
      next === undefined && reachedBy !== 'near' ? this.#partsWithoutLines(target, call, guarding) : undefined;
    if (parts === undefined) this.#writeCall(state, target, call, guarding?.fields);
    return this.#send({ target, call, reachedBy, state, next, guarding, parts });
  }

  /** The counter of the stream, if the call is a part of a stream and needs no line of its own. */
  #partsWithoutLines(
    { parts }: ForwardTarget,
    { method, args }: Call,
    guarding: Guarding | undefined,
  ): Parts | undefined {
    const looksAtCalls =
      this.#policy.defer !== undefined || guarding?.judge !== undefined || guarding?.fields !== undefined;
    return looksAtCalls || parts?.admits(method, args) !== true ? undefined : parts;
  }

  /** Only grants are guarded: other forwarders lie behind a grant, or hold what a granter did not grant. */
  #guard(state: S, inner: object, { method, args }: Call, outermost: boolean): Guarding | undefined {
    if (this.#policy.cause === undefined) return undefined;
    const guard = guardOf(this.#self);
    const guarding = guard?.({ grant: this.#policy.cause(state), method, args, inner, outermost });
    if (guarding?.judge !== undefined) checkCanWait(method, args);
    return guarding;
  }

  #refuse(latched: S | undefined, error: Error, reachedBy: ReachedBy): unknown {
    if (latched === undefined) throw error;
    if (reachedBy !== 'message') {
      // The caller may undo this turn. The latch is kept by a turn of its own.
      tellAnyway(this.#self, 'latch');
      throw error;
    }
    breakAnswer(error);
    return this.keepLatched(latched);
  }

  keepLatched(latched: S | undefined): never {
    const kept = latched === undefined ? undefined : (this.#policy.onLatched?.(latched, this.#self) ?? latched);
    return this.#become(kept, undefined);
  }

  #send(admitted: Admitted<S>): unknown {
    const { target, reachedBy, state, next, guarding, parts } = admitted;
    const { inner, inward } = target;
    const policy = this.#policy;
    const call = this.#crossed(admitted.call, inward, reachedBy);
    const ended = { method: call.method, inner, inward, parts };
    const cause = policy.cause?.(state);
    const groups = policy.groups?.(state) ?? noGroups;
    const send = (): unknown => this.#sendSeen(admitted, call);
    let result: unknown;
    try {
      result = cause === undefined ? send() : under(cause, send, groups);
    } catch (error) {
      this.#writeEnd('result', state, ended, error);
      throw error;
    }
    parts?.sent(call.args);
    const reference = isReference(result);
    if (reference || !(result instanceof Promise)) {
      if (parts !== undefined) this.#writeCall(state, target, admitted.call, undefined);
      const value = reference || !mayHoldReferences(result) ? result : frozenCopy(result);
      return this.#become(next, this.#wrap(state, value, ended));
    }
    // If the policy wants nothing of the result, the caller gets the promise of the object behind.
    if (
      policy.after === undefined &&
      policy.ledgerFields === undefined &&
      cause === undefined &&
      policy.wrap === asItIs
    )
      return this.#become(next, result);
    const causes = cause === undefined || groups.length === 0 ? cause : [...groups, cause];
    return this.#become(next, this.#passOn(result, ended, causes, guarding?.ended));
  }

  /** `call` is the admitted call with its arguments in the form that the object behind gets. */
  #sendSeen(admitted: Admitted<S>, call: Call): unknown {
    const onlooker = admitted.guarding?.onlooker;
    const sent = this.#sendJudged(admitted, call);
    return onlooker === undefined ? sent : seenBy(onlooker, call, sent);
  }

  #sendJudged({ target, reachedBy, state, next, guarding }: Admitted<S>, call: Call): unknown {
    const { inner, inward } = target;
    const judge = guarding?.judge;
    const defer = inward ? undefined : this.#policy.defer;
    const waits = judge !== undefined || defer !== undefined;
    const charged = next !== undefined || reachedBy === 'forwarder';
    // A refusal in a later turn cannot undo the charge of this one.
    if (charged && !inward && (waits || nearForwarder(target.inner) === undefined)) foreseeBehind(inner, call);
    if (!waits) return this.#sendOn(target, call, reachedBy);
    const send = (others: readonly unknown[]): Promise<unknown> => sendTo(inner, call.method, others);
    if (judge !== undefined) return sendIfApproved(judge, { ...call, via: [] }, inner, send);
    return defer?.(state, call, inner, send);
  }

  #sendOn({ inner, callableNear }: ForwardTarget, { method, args }: Call, reachedBy: ReachedBy): unknown {
    // Stacked forwarders are all charged in one turn, or none is.
    const behind = reachedBy === 'near' ? undefined : nearForwarder(inner);
    if (behind !== undefined) return behind.state.forwardInTurn(behind, method, args);
    // A near call is only safe if nothing was charged: an object behind that throws undoes the whole turn.
    return reachedBy !== 'forwarder' && this.near && this.#policy.after === undefined && callableNear && isNear(inner)
      ? callOrSend(inner, method, args)
      : sendTo(inner, method, args);
  }

  /** Throws what `admit` would throw now, here or behind. */
  foresee({ inner, inward }: ForwardTarget, call: Call): void {
    const policy = this.#policy;
    const latched = policy.latch?.(this.#state);
    const state = latched ?? this.#state;
    try {
      if (inward) policy.admitCallback?.(state);
      else policy.before?.(state, call.method, call.args, policy.timeless === true ? 0 : vatTime());
    } catch (error) {
      this.#refuse(latched, error as Error, 'forwarder');
    }
    if (!inward) foreseeBehind(inner, this.#crossed(call, inward, 'forwarder'));
  }

  #crossed(call: Call, inward: boolean, reachedBy: ReachedBy): Call {
    const { method, args } = call;
    if (args.length === 0 || !args.some(mayHoldReferences)) return call;
    const copied = reachedBy === 'near' ? frozenCopy(args) : args;
    return { method, args: cross(copied, this.#crossing(!inward, undefined)) as Call['args'] };
  }

  #passOn(
    result: Promise<unknown>,
    call: EndedCall,
    cause: string | readonly string[] | undefined,
    ended: Guarding['ended'],
  ): Promise<unknown> {
    const pipelined = { inner: result, inward: call.inward, callableNear: false };
    return passOn(result, {
      ok: (value) => {
        ended?.({ ok: true, value });
        return this.#self.onFulfilled(call, value);
      },
      broken: (error) => {
        ended?.({ ok: false, error });
        this.#self.onBroken(call, error);
        breakAnswer(error);
      },
      next: this.#pipelines ? (method, args) => this.#self.callByMessage(pipelined, method, args) : undefined,
      cause,
      // A grant does not look at bytes, so they need no copy. A copy here would mean two more copies of each file.
      sharesBytes: (cause !== undefined || call.parts !== undefined) && ended === undefined,
    });
  }

  fulfilled(call: EndedCall, value: unknown): unknown {
    try {
      this.#policy.admitResult?.(this.#state);
    } catch (error) {
      this.#writeEnd('result', this.#state, call, error);
      throw error;
    }
    if (call.parts?.returned(call.method, value) === true) return value;
    if (call.parts !== undefined) this.#writeCall(this.#state, call, { method: call.method }, undefined);
    return this.#become(this.#after(call, { ok: true, value }), this.#wrap(this.#state, value, call));
  }

  broken(call: EndedCall, error: Error): never {
    this.#writeEnd('result', this.#state, call, error);
    call.parts?.refused(codeOf(error));
    return this.#become(this.#after(call, { ok: false, error }), undefined);
  }

  #after(
    call: EndedCall,
    outcome: { readonly ok: boolean; readonly value?: unknown; readonly error?: Error },
  ): S | undefined {
    return call.inward
      ? undefined
      : ((this.#policy.after?.(this.#state, call.method, outcome) ?? undefined) as S | undefined);
  }

  passResult(inward: boolean, value: unknown): unknown {
    this.#policy.admitResult?.(this.#state);
    return cross(value, this.#crossing(inward, undefined));
  }

  reveal(): readonly string[] {
    if (this.#policy.reveal === undefined) throw opaque();
    const cause = this.#policy.reveal(this.#state);
    return [...(this.#policy.groups?.(this.#state) ?? noGroups), cause];
  }

  #become(next: S | undefined, value: unknown): never {
    return (next === undefined ? value : this.#bcom(this.#portraitOf(next) as Portrait<never>, value)) as never;
  }

  #wrap(state: S, value: unknown, { method, inner, inward }: EndedCall): unknown {
    const { wrap } = this.#policy;
    if (!mayHoldReferences(value) && (inward || wrap === undefined)) return value;
    const by = this.#crossing(inward, inward ? undefined : () => this.#opened(state, method));
    return inward || wrap === undefined ? cross(value, by) : wrap(state, value, inner, by);
  }

  #crossing(inward: boolean, opened: Crossing['opened']): Crossing {
    const wrapped = this.#policy.wrapped?.(this.#state);
    return { state: this.#self, inward, wrapped, pipelined: this.#pipelines, opened };
  }

  #opened(state: S, method: string): Opened | undefined {
    const fields = this.#policy.ledgerFields?.(state);
    return fields === undefined ? undefined : { grant: fields.grant, method: shown(method), made: fields.made };
  }

  /**
   * Whether calls on a promise go ahead of it. A call that may be charged waits until the promise is known.
   */
  get #pipelines(): boolean {
    return this.near && this.#policy.wrap === undefined;
  }

  /** `args` are missing if it is known only at its end that the call needs a line. */
  #writeCall(
    state: S,
    { inward, parts }: Pick<ForwardTarget, 'inward' | 'parts'>,
    { method, args }: Partial<Call> & Pick<Call, 'method'>,
    guarded: Guarding['fields'],
  ): void {
    const fields = this.#policy.ledgerFields?.(state);
    if (fields === undefined) return;
    // A literal: spreads would cost as much as the rest of the call. In the ledger, `back` marks a callback.
    const { grant, use, act, made } = fields;
    const audited = inward ? undefined : fields.audited;
    const line = { grant, method: shown(method), use, act, made, audited, back: inward || undefined };
    // With this call everything that the sink received becomes visible.
    const closes = method === 'close' ? parts?.taken() : undefined;
    ledgerLine('call', guarded === undefined && closes === undefined ? line : { ...line, ...closes, ...guarded }, args);
  }

  #writeEnd(kind: 'refuse' | 'result', state: S, { method, inward, parts }: EndedCall, error: unknown): void {
    const fields = this.#policy.ledgerFields?.(state);
    if (fields === undefined) return;
    const withoutCallLine = inward || kind === 'refuse' || parts !== undefined;
    ledgerLine(kind, {
      grant: fields.grant,
      method: shown(method),
      made: fields.made,
      audited: withoutCallLine ? undefined : fields.audited,
      back: inward || undefined,
      code: codeOf(error),
    });
  }
}

/** Whether somebody has to look at the call in a later turn. */
const laterOf = (guarding: Guarding | undefined): boolean =>
  guarding?.judge !== undefined || guarding?.onlooker !== undefined;

const codeOf = (error: unknown): string => (error instanceof CapError ? error.code : 'error');

const byMessageOnly = (): CapError => new CapError('not-callable', 'this cap is called by message only: use E(cap)');

/** The state of the forwarder that `reference` is, if it lives in the running vat. */
function nearForwarder(reference: object): ReturnType<typeof forwardTargetOf> {
  const behind = forwardTargetOf(reference);
  return behind !== undefined && isNear(behind.state) ? behind : undefined;
}

/** Throws if the object behind is gone, away, or a forwarder of whatever vat that would refuse the call now. */
function foreseeBehind(reference: object, { method, args }: Call): void {
  const refusal = refusalOf(reference);
  if (refusal !== undefined) throw refusal;
  const behind = forwardTargetOf(actorBehind(reference));
  if (behind !== undefined) foresee(behind.state, () => behind.state.foresee(behind, method, args));
}

const mayHoldReferences = (value: unknown): boolean =>
  (typeof value === 'object' && value !== null) || typeof value === 'function';

type Methods = Readonly<Record<string, (...args: readonly unknown[]) => Promise<unknown>>>;

function sendTo(inner: object, method: string, args: readonly unknown[]): Promise<unknown> {
  const sent = E(inner) as unknown as ((...args: readonly unknown[]) => Promise<unknown>) & Methods;
  return method === '' ? sent(...args) : (sent[method] as Methods[string])(...args);
}
