/**
 * Forwarders: an object with the methods of another, and a policy that decides about each call.
 *
 * `forward` is the one combinator of this package. A holder reaches the object behind only as the policy
 * allows, and finds neither the policy nor the object. The result of a call gets a forwarder too, with the
 * same state.
 *
 * See Redell's caretaker (1974); Miller, Robust Composition (2006), section 9.
 */
import {
  type AnyDefinition,
  type Bcom,
  type DefineOptions,
  type Definition,
  define,
  type Far,
  promise,
  spawn,
} from '@hob/vat';
import { becomes, farOf, inTurn, takeOptions, vatsOf } from '@hob/vat/forwarder';
import { firstForwarder } from './cross.ts';
import { forwarderStateOf } from './forward-call.ts';
import type { ForwarderState } from './forwarder.ts';
import type { FullPolicy, Policy } from './policy.ts';

/** Makes forwarders of one policy. Give its `definition` to a store that is to keep them. */
export interface Forward<S extends readonly unknown[]> {
  <T extends object>(inner: T | Far<T>, ...state: S): Far<T>;
  readonly definition: AnyDefinition;
}

/**
 * Makes a kind of forwarder. In a turn a forwarder is made in the vat of the turn. Outside, it is made in the
 * vat "grants" of the vats that own `inner`. `label` names it in stores and records: it is unique among the
 * definitions of a store.
 */
export function forward<S extends readonly unknown[]>(label: string, policy: Policy<S>): Forward<S> {
  const taken = takeOptions(policy, `forward('${label}')`, { before: true, after: true, wrap: true, near: true });
  return forwardFully(label, taken as FullPolicy<S>);
}

export function forwardFully<S extends readonly unknown[]>(
  label: string,
  policy: FullPolicy<S>,
  options: DefineOptions<S> = {},
): Forward<S> {
  const body = (bcom: Bcom<never>, ...state: readonly unknown[]): ForwarderState =>
    forwarderStateOf(bcom, (next) => State(...next), state as unknown as S, policy);
  const State: Definition<ForwarderState, S> = define(label, body as never, options as never);
  const make = <T extends object>(inner: T | Far<T>, ...state: S): Far<T> => {
    const made = (): Far<T> => firstForwarder(spawn(State(...state)), inner as object) as unknown as Far<T>;
    return inTurn() ? made() : (outside(inner as object, 1, () => [made()])[0] as Far<T>);
  };
  return Object.freeze(Object.assign(make, { definition: State as unknown as AnyDefinition }));
}

/**
 * Outside a turn: makes `count` things in a turn of the vat "grants", and returns promises of them at once.
 * If `inner` is itself a promise, this waits for it first: two forwarders over one object must know that it
 * is one.
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
