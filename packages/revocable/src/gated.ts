/**
 * A forwarder whose calls wait until a judge, usually a person, approves them.
 *
 * A call is sent only after its approval, and with the arguments that were shown. Arguments that could change
 * meanwhile (references, promises) are refused. Every answer except `true` and `{with: args}` is a no.
 * Objects that come out of a call are gated too, and the judge is told of the calls that they came out of. A
 * waiting call may be overtaken by others.
 */
import { type Definition, E, type Far, spawn } from '@hob/vat';
import { canonicalText, freshName, hashSecret, takeOptions } from '@hob/vat/forwarder';
import { cross } from './forwarder/cross.ts';
import { type Forward, forwardFully } from './forwarder/forward.ts';
import type { ForwarderState } from './forwarder/forwarder.ts';
import { asItIs, type FullPolicy } from './forwarder/policy.ts';
import { checkCanWait, isData, type Judge, type Onlooker, seenBy, sendIfApproved } from './forwarder/waiting.ts';
import { readMethods } from './terms/methods.ts';

type State = [
  judge: Judge,
  methods: readonly string[] | undefined,
  via: readonly string[],
  onlooker?: Onlooker | undefined,
];

const waits = ([, methods]: State, method: string): boolean => methods === undefined || methods.includes(method);

const policy: FullPolicy<State> = {
  before: (state, method, args) => {
    if (waits(state, method)) checkCanWait(method, args);
  },
  defer: (state, { method, args }, inner, send) => {
    const [judge, methods, via, onlooker] = state;
    // The onlooker sees the arguments that are sent: a judge may have pinned them.
    const sent = (pinned: readonly unknown[]): Promise<unknown> =>
      onlooker === undefined ? send(pinned) : seenBy(onlooker, { method, args: pinned }, send(pinned));
    const answer = waits(state, method) ? sendIfApproved(judge, { method, args, via }, inner, sent) : send(args);
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
  version: 2,
  upgrade: { 0: (judge: never) => [judge, undefined, []], 1: (...stored: never[]) => stored as unknown as State },
});

/**
 * With `methods`, only calls of these methods wait. An `onlooker` sees the outcome of each of them before its caller, with
 * the arguments that were sent; not of calls of objects that came out. Reached by `E` only. Errors: `invalid`.
 */
export const gated = <T extends object>(
  inner: T | Far<T>,
  judge: Judge | Far<Judge>,
  options?: { readonly methods?: readonly string[]; readonly onlooker?: Onlooker },
): Far<T> => {
  const { methods, onlooker } = takeOptions(options, 'gated', { methods: true, onlooker: true });
  const names = methods === undefined ? undefined : readMethods(methods);
  return onlooker === undefined
    ? gates(inner, judge as Judge, names, [])
    : gates(inner, judge as Judge, names, [], onlooker);
};
