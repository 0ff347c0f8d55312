/**
 * Forwarders: an object with the same outside as another, and a say in each call. The one combinator of this package.
 *
 * Promise: who holds a forwarder reaches what is behind it only as its policy says, and finds neither the policy nor what is behind.
 * Two actors do it: the rules, which have the state and are held by nobody outside, and any number of faces, which have none. What comes
 * out of a call is given a face too, with the same rules: one state, however many faces. What a policy changes is changed in the turn
 * that sends the call on, so it is on the disk before the call leaves.
 *
 * After Redell's caretaker (1974) and Miller, Robust Composition (2006), §9.
 */
import {
  type AnyDefinition,
  type Bcom,
  becomes,
  breakAnswer,
  CapError,
  callOrSend,
  type DefineOptions,
  type Definition,
  define,
  E,
  type Far,
  farOf,
  frozenCopy,
  type Group,
  inTurn,
  isNear,
  isReference,
  ledgerLine,
  type Portrait,
  passOn,
  promise,
  spawn,
  type Table,
  tellAnyway,
  under,
  vatsOf,
  vatTime,
} from '@hob/vat';
import { type Crossing, cross, firstFace, forwardTargetOf } from './cross.ts';
import type { ForwarderState, ForwardTarget } from './forwarder.ts';

export type Outcome = { readonly ok: boolean; readonly value?: unknown; readonly error?: Error };

/** What a forwarder decides. `state` is its portrait: data and references. All of it is synchronous. */
export interface Policy<S extends readonly unknown[]> {
  /** Before a call: refuses by throwing, or answers the next state. `now` is vat time. What it throws changes nothing. */
  readonly before?: (state: S, method: string, args: readonly unknown[], now: number) => S | void;
  /** After it, in a later turn. */
  readonly after?: (state: S, method: string, outcome: Outcome) => S | void;
  /** What comes out in place of `value`. Without it every reference in it gets a face of this forwarder. */
  readonly wrap?: (state: S, value: unknown) => unknown;
  /**
   * It may be called near, for neither `before` nor `after` ever changes its state. Without this it is reached by `E` only: a near
   * caller could undo the change and keep the answer.
   */
  readonly near?: boolean;
}

/** What the policies of this package say besides. */
export interface FullPolicy<S extends readonly unknown[]> extends Omit<Policy<S>, 'near'> {
  readonly near?: boolean | ((state: S) => boolean);
  /** What time alone has changed, which is kept whatever becomes of the call. */
  readonly note?: (state: S) => S | undefined;
  /** `before` does not ask for the time: reading the clock costs more than the rest of a near call. */
  readonly timeless?: true;
  /** What goes with it, once: a ledger line. */
  readonly noted?: (state: S, self: object) => S;
  /** Before a call the other way, of a callback: throws where nothing may pass any more. */
  readonly live?: (state: S) => void;
  /** After a call: throws where what it answered may not be passed on any more. */
  readonly pass?: (state: S) => void;
  /** Takes the call over: what it waits for, and then `send`, with these arguments or others. `of` is the object behind. */
  readonly hold?: (
    state: S,
    method: string,
    args: readonly unknown[],
    of: object,
    send: (args: readonly unknown[]) => Promise<unknown>,
  ) => Promise<unknown>;
  /** What the ledger says of a call; undefined where it says nothing. */
  readonly line?: (state: S) => { readonly grant: string; readonly use?: number; readonly act?: string };
  /** What driver calls under it are cut by. */
  readonly cause?: (state: S) => string;
  /** By what else they are cut, together with those of other forwarders. */
  readonly groups?: (state: S) => readonly Group[];
  /** Where a membrane remembers what it wrapped; undefined for a forwarder that wraps only what comes out. */
  readonly members?: (state: S) => Table<object> | undefined;
  /** For a host program that would see what is behind: its cause, or a refusal. */
  readonly reveal?: (state: S) => string | undefined;
}

const noGroups: readonly Group[] = Object.freeze([]);

/** The names of methods are the caller's to choose: no longer than a person reads goes into errors and ledger. */
export const shown = (method: string): string => method.slice(0, 64);

/** The rules of one forwarder, as a part of its actor’s behaviour. `become` makes the portrait of the next state. */
export function forwarderStateOf<S extends readonly unknown[]>(
  bcom: Bcom<never>,
  become: (next: S) => Portrait<unknown>,
  state: S,
  policy: FullPolicy<S>,
): ForwarderState {
  const self = (): ForwarderState => bcom.self as ForwarderState;
  const near = typeof policy.near === 'function' ? policy.near(state) : policy.near === true;
  const then = (next: S | undefined, value: unknown): never =>
    (next === undefined ? value : bcom(become(next) as Portrait<never>, value)) as never;
  const crossing = (inward: boolean): Crossing => ({
    rules: self(),
    inward,
    members: policy.members?.(state),
    pipelined: near && policy.wrap === undefined,
  });
  const comeOut = (at: S, value: unknown, back: boolean): unknown => {
    if (!back && policy.wrap !== undefined) return policy.wrap(at, value);
    return !holdsMore(value) ? value : cross(value, crossing(back));
  };
  const told = (at: S, kind: string, back: boolean, method: string, code: string): void => {
    const grant = policy.line?.(at)?.grant;
    if (grant !== undefined) ledgerLine(kind, { grant, method: shown(method), back: back || undefined, code });
  };

  /** `within`: in the turn of another forwarder, whose charges are undone with it, so nothing that throws may run here. */
  const admit = (
    { inner, back, direct }: ForwardTarget,
    method: string,
    args: readonly unknown[],
    asked: boolean,
    within: boolean,
  ): unknown => {
    if (!asked && !near) throw new CapError('not-callable', 'this cap is reached by message only: use E(cap)');
    const now = policy.timeless === true ? 0 : vatTime();
    const noted = policy.note?.(state);
    const at = noted ?? state;
    let next: S | undefined;
    try {
      if (back) policy.live?.(at);
      else next = (policy.before?.(at, method, args, now) ?? undefined) as S | undefined;
    } catch (error) {
      told(at, 'refuse', back, method, codeOf(error));
      if (noted === undefined) throw error;
      if (!asked || within) {
        // Who called near may undo all this: what time has decided is decided once more, in a turn of its own.
        tellAnyway(self(), 'note');
        throw error;
      }
      breakAnswer(error as Error);
      return then(policy.noted?.(noted, self()) ?? noted, undefined);
    }
    if (next !== undefined && !asked)
      throw new CapError('not-callable', 'this cap is reached by message only: use E(cap)');
    const line = policy.line?.(at);
    // A literal rather than spreads, which cost as much as the rest of the call.
    if (line !== undefined)
      ledgerLine(
        'call',
        { grant: line.grant, method: shown(method), use: line.use, act: line.act, back: back || undefined },
        args,
      );
    const given = args.some(holdsMore)
      ? (cross(asked ? args : frozenCopy(args), crossing(!back)) as typeof args)
      : args;
    const cause = policy.cause?.(at);
    const groups = policy.groups?.(at) ?? noGroups;
    const sendOn = (): unknown => {
      // Of stacked forwarders all are charged in one turn, or none.
      const behind = asked ? forwarderNear(inner) : undefined;
      if (behind !== undefined) return behind.rules.forwardInTurn(behind, method, given);
      if (within) return sendTo(inner, method, given);
      // Near only where nothing was charged: an object behind that throws takes the whole turn with it.
      return near && policy.after === undefined && direct && isNear(inner)
        ? callOrSend(inner, method, given)
        : sendTo(inner, method, given);
    };
    const go = (): unknown => {
      if (back || policy.hold === undefined) return sendOn();
      return policy.hold(at, method, given, inner, (other) => sendTo(inner, method, other));
    };
    let answer: unknown;
    try {
      answer = cause === undefined ? go() : under(cause, go, groups);
    } catch (error) {
      told(at, 'result', back, method, codeOf(error));
      throw error;
    }
    if (!holdsMore(answer)) return then(next, comeOut(at, answer, back));
    if (!(answer instanceof Promise))
      return then(next, comeOut(at, isReference(answer) ? answer : frozenCopy(answer), back));
    const waited = answer as Promise<unknown>;
    // Nothing to see to: the answer is the object's own.
    if (policy.after === undefined && policy.line === undefined && cause === undefined && policy.wrap === asItIs)
      return then(next, waited);
    return then(
      next,
      passOn(waited, {
        ok: (value) => self().onFulfilled(back, method, value),
        broken: (error) => {
          self().onBroken(back, method, error);
          breakAnswer(error);
        },
        next:
          near && policy.wrap === undefined
            ? (name, more) => self().call({ inner: waited, back, direct: false }, name, more, true)
            : undefined,
        cause: cause === undefined ? undefined : groups.length === 0 ? cause : [...groups, cause],
      }),
    );
  };

  return {
    call: (via, method, args, asked) => admit(via, method, args, asked, false) as never,
    forwardInTurn: (via, method, args) => admit(via, method, args, true, true) as never,
    onFulfilled(back, method, value) {
      try {
        policy.pass?.(state);
      } catch (error) {
        told(state, 'result', back, method, codeOf(error));
        throw error;
      }
      const next = back ? undefined : policy.after?.(state, method, { ok: true, value });
      return then((next ?? undefined) as S | undefined, comeOut(state, value, back));
    },
    onBroken(back, method, error) {
      told(state, 'result', back, method, codeOf(error));
      const next = back ? undefined : policy.after?.(state, method, { ok: false, error });
      return then((next ?? undefined) as S | undefined, undefined);
    },
    pass(back, value) {
      policy.pass?.(state);
      return cross(value, crossing(back));
    },
    note() {
      const noted = policy.note?.(state);
      return noted === undefined ? undefined : then(policy.noted?.(noted, self()) ?? noted, undefined);
    },
    near: () => near,
    reveal() {
      if (policy.reveal === undefined) throw opaque();
      const cause = policy.reveal(state);
      return cause === undefined ? [] : [...(policy.groups?.(state) ?? noGroups), cause];
    },
  };
}

/** The forwarder that `reference` is a face of, where it is in the running vat. */
function forwarderNear(reference: object): ReturnType<typeof forwardTargetOf> {
  const behind = forwardTargetOf(reference);
  return behind !== undefined && isNear(behind.rules) ? behind : undefined;
}

/** Whether there can be references or promises in it. */
const holdsMore = (value: unknown): boolean =>
  (typeof value === 'object' && value !== null) || typeof value === 'function';

/** For `wrap`: what comes out stays as it is. */
export const asItIs = (_state: readonly unknown[], value: unknown): unknown => value;

export const opaque = (): CapError =>
  new CapError(
    'denied',
    'this forwarder lets nobody see what is behind it: grant it without filters, counts and gates, or use it by E',
  );

const codeOf = (error: unknown): string => (error instanceof CapError ? error.code : 'error');

type Methods = Readonly<Record<string, (...args: readonly unknown[]) => Promise<unknown>>>;

function sendTo(inner: object, method: string, args: readonly unknown[]): Promise<unknown> {
  const sent = E(inner) as unknown as ((...args: readonly unknown[]) => Promise<unknown>) & Methods;
  return method === '' ? sent(...args) : (sent[method] as Methods[string])(...args);
}

/** Makes forwarders of one policy. Its `definition` belongs into the `definitions` of a store that is to keep them. */
export interface Forward<S extends readonly unknown[]> {
  <T extends object>(inner: T | Far<T>, ...state: S): Far<T>;
  readonly definition: AnyDefinition;
}

/**
 * Write your own. In a turn the forwarder is made in its vat; outside, in the vat "grants" of those that own `inner`. `label` names it
 * in stores and records: unique among the definitions of a store.
 */
export function forward<S extends readonly unknown[]>(label: string, policy: Policy<S>): Forward<S> {
  return forwardFully(label, policy as FullPolicy<S>);
}

export function forwardFully<S extends readonly unknown[]>(
  label: string,
  policy: FullPolicy<S>,
  options: DefineOptions<S> = {},
): Forward<S> {
  const body = (bcom: Bcom<never>, ...state: readonly unknown[]): ForwarderState =>
    forwarderStateOf(bcom, (next) => Made(...next), state as unknown as S, policy);
  const Made: Definition<ForwarderState, S> = define(label, body as never, options as never);
  const make = <T extends object>(inner: T | Far<T>, ...state: S): Far<T> =>
    inItsVat(inner, () => firstFace(spawn(Made(...state)), inner as object) as unknown as Far<T>);
  return Object.freeze(Object.assign(make, { definition: Made as unknown as AnyDefinition }));
}

/** Makes something here and now, or, outside a turn, in the vats of `inner`. */
export function inItsVat<T>(inner: object, body: () => Far<T>): Far<T> {
  return inTurn() ? body() : (outside(inner, 1, () => [body()])[0] as Far<T>);
}

/**
 * Outside a turn: makes so many things in a turn of the vat "grants", and hands out what they will be. Where `inner` itself is still to be
 * made, that is waited for: two forwarders over one object must know that it is one.
 */
export function outside(inner: object, count: number, make: () => readonly unknown[]): readonly Far<unknown>[] {
  const at = becomes(inner);
  const run = (it: object): Promise<readonly Far<unknown>[]> =>
    vatsOf(it)
      .vat('grants')
      .turn(() => make()) as unknown as Promise<readonly Far<unknown>[]>;
  const made = at instanceof Promise ? at.then(run) : run(at);
  const promises = Array.from({ length: count }, () => promise<Far<unknown>>());
  made.then(
    (all) => promises.forEach(({ resolver }, n) => void resolver.resolve(all[n] as Far<unknown>)),
    (error: Error) => promises.forEach(({ resolver }) => void resolver.break(error)),
  );
  return promises.map((each) => farOf(each.promise));
}
