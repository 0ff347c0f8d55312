/**
 * A forwarder whose calls wait until a judge, usually a person, approves them.
 *
 * A call is sent only after its approval, and with the arguments that were shown. Arguments that could change
 * meanwhile (references, promises) are refused. Every answer except `true` and `{with: args}` is a no.
 * Objects that come out of a call are gated too, and the judge is told of the calls that they came out of. A
 * waiting call may be overtaken by others.
 */
import { CapError, type Definition, E, type Far, isReference, spawn, vatTime } from '@hob/vat';
import { canonicalText, freshName, hashSecret, takeOptions } from '@hob/vat/forwarder';
import { cross } from './forwarder/cross.ts';
import { type Forward, forwardFully } from './forwarder/forward.ts';
import type { ForwarderState } from './forwarder/forwarder.ts';
import { asItIs, type FullPolicy, shown } from './forwarder/policy.ts';
import { readMethods } from './terms/methods.ts';

/** A call that waits. */
export interface GatedCall {
  readonly method: string;
  readonly args: readonly unknown[];
  /**
   * The calls that its object came out of, outermost first, as text. Empty for the object that was gated
   * itself.
   */
  readonly via: readonly string[];
}

/** Decides about calls: a person, behind the program that asks them. Its maker trusts it. */
export interface Judge {
  /**
   * Returns `true` to send the call, or `{with: args}` to send it with these arguments. They pin what was
   * shown, for example the version of a file: if the object then throws `STALE`, the judge is asked again.
   * `inner` is the object behind, to look at. The uses of the call were charged at vat time `at`.
   */
  ask(call: GatedCall, inner: object, at: number): boolean | { readonly with: readonly unknown[] };
}

/** Whether `value` holds no reference, promise or function, and no object of a class. */
export function isData(value: unknown): boolean {
  if (isReference(value) || value instanceof Promise || typeof value === 'function') return false;
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return true;
  const proto: unknown = Object.getPrototypeOf(value);
  if (!Array.isArray(value) && proto !== Object.prototype && proto !== null) return false;
  return Object.values(value).every(isData);
}

type State = [judge: Judge, methods: readonly string[] | undefined, via: readonly string[]];

const waits = ([, methods]: State, method: string): boolean => methods === undefined || methods.includes(method);

const policy: FullPolicy<State> = {
  before: (state, method, args) => {
    if (waits(state, method) && !isData(args))
      throw new CapError(
        'invalid',
        `"${shown(method)}" waits for approval here, so its arguments must be data: an object or a promise could change after the approval`,
      );
  },
  defer: (state, { method, args }, inner, send) => {
    const [judge, methods, via] = state;
    const at = vatTime();
    const ask = (): Promise<unknown> =>
      E.when(E(judge).ask({ method, args, via }, inner, at) as Promise<unknown>, (yes) => {
        const pinned = pinnedBy(yes);
        if (pinned !== undefined)
          return E.when(
            send(pinned),
            (value) => value,
            (error) => {
              if ((error as { readonly code?: string }).code === 'STALE') return ask();
              throw error;
            },
          );
        if (yes === true) return send(args);
        throw new CapError('denied', 'this call was not approved: ask the person who decides');
      });
    const answer = waits(state, method) ? ask() : send(args);
    // An object that comes out is gated too. The judge is told its path: "write a.txt" says little without
    // it.
    return E.when(answer, (value) => {
      if (isData(value)) return value;
      const State = gates.definition as Definition<ForwarderState, State>;
      const below = spawn(State(judge, methods, [...via, step(method, args)]));
      return cross(value, { state: below, inward: false, wrapped: undefined, pipelined: false });
    });
  },
  wrap: asItIs,
};

function pinnedBy(yes: unknown): readonly unknown[] | undefined {
  const args = typeof yes === 'object' && yes !== null ? (yes as { readonly with?: unknown }).with : undefined;
  return Array.isArray(args) ? args : undefined;
}

const longestStep = 1000;

/**
 * Describes a call in `via`. Different calls have different texts, however long they are, so an approval of
 * what one of them gave never counts for another. An argument that is no data gets a new name in each call.
 */
function step(method: string, args: readonly unknown[]): string {
  const text = args.map((arg) => (isData(arg) ? canonicalText(arg) : `an object (${freshName('')})`)).join(', ');
  const whole = `${method}(${text})`;
  return whole.length <= longestStep ? whole : `${whole.slice(0, longestStep)}… (${hashSecret(`step:${whole}`)})`;
}

export const gates: Forward<State> = forwardFully('revocable.gated', policy, {
  version: 1,
  upgrade: { 0: (judge: never) => [judge, undefined, []] },
});

/** With `methods`, only calls of these methods wait. Reached by `E` only. Errors: `invalid`. */
export const gated = <T extends object>(
  inner: T | Far<T>,
  judge: Judge | Far<Judge>,
  options?: { readonly methods?: readonly string[] },
): Far<T> => {
  const { methods } = takeOptions(options, 'gated', { methods: true });
  return gates(inner, judge as Judge, methods === undefined ? undefined : readMethods(methods), []);
};
