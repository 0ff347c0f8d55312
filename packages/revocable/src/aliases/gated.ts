/**
 * Each call waits for somebody’s yes.
 *
 * Promise: no call goes on before that, and what goes on is what was shown: arguments that could change meanwhile (references, promises) are
 * refused. Everything but `true`, or arguments to go on with, is a no. What comes out of a call waits likewise, and says how it came out.
 * Calls that wait may be overtaken by others.
 */
import {
  type AnyDefinition,
  CapError,
  type Definition,
  E,
  type Far,
  hashSecret,
  isReference,
  spawn,
  vatTime,
} from '@hob/vat';
import { cross } from '../forwarder/cross.ts';
import { asItIs, type Forward, type FullPolicy, forwardFully, shown } from '../forwarder/forward.ts';
import type { ForwarderState } from '../forwarder/forwarder.ts';
import { readMethods } from '../terms/terms.ts';

/** A call that waits. */
export interface GatedCall {
  readonly method: string;
  readonly args: readonly unknown[];
  /** The calls that its object came out of, outermost first, as text; none for what was gated itself. */
  readonly via: readonly string[];
}

/** Who decides: a person, behind whatever asks them. Held by whoever made the gate, and trusted as they are. */
export interface Judge {
  /**
   * Answers `true` to let the call go on; `{with: args}` to let it go on with these arguments, which pin what was shown (the version of a file,
   * say): if what is behind then says `STALE` the judge is asked once more. `of` is the object behind, to look at. `at` is the vat time of the
   * call: the uses that it cost were charged then.
   */
  ask(call: GatedCall, of: object, at: number): boolean | { readonly with: readonly unknown[] };
}

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
        `"${shown(method)}" waits for approval here, so it takes data only: an object or a promise could change after it`,
      );
  },
  hold: (state, method, args, of, send) => {
    const [judge, methods, via] = state;
    const at = vatTime();
    const ask = (): Promise<unknown> =>
      E.when(E(judge).ask({ method, args, via }, of, at) as Promise<unknown>, (yes) => {
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
        throw new CapError('denied', 'this call was not approved: ask whoever decides');
      });
    const answer = waits(state, method) ? ask() : send(args);
    // What comes out is gated too, and the judge is told where it came from: "write a.txt" says little without its directory.
    return E.when(answer, (value) => {
      if (isData(value)) return value;
      const below = (made.definition as Definition<ForwarderState, State>)(judge, methods, [
        ...via,
        step(method, args),
      ]);
      return cross(value, { rules: spawn(below), inward: false, members: undefined, pipelined: false });
    });
  },
  wrap: asItIs,
};

function pinnedBy(yes: unknown): readonly unknown[] | undefined {
  const args = typeof yes === 'object' && yes !== null ? (yes as { readonly with?: unknown }).with : undefined;
  return Array.isArray(args) ? args : undefined;
}

const longestStep = 1000;

/** Two steps that differ are two texts, however long. */
function step(method: string, args: readonly unknown[]): string {
  const text = args.map((arg) => (isData(arg) ? JSON.stringify(arg, dataOnly) : 'an object')).join(', ');
  const whole = `${method}(${text})`;
  return whole.length <= longestStep ? whole : `${whole.slice(0, longestStep)}… (${hashSecret(`step:${whole}`)})`;
}

const dataOnly = (_key: string, value: unknown): unknown =>
  typeof value === 'bigint' ? `${value}n` : value instanceof Uint8Array ? { bytes: [...value] } : value;

const made: Forward<State> = forwardFully('revocable.gated', policy, {
  version: 1,
  upgrade: { 0: (judge: never) => [judge, undefined, []] },
});

/** With `methods`, only calls of these wait. Reached by `E` only. Errors: `invalid`. */
export const gated = <T extends object>(
  inner: T | Far<T>,
  judge: Judge | Far<Judge>,
  { methods }: { readonly methods?: readonly string[] } = {},
): Far<T> => made(inner, judge as Judge, methods === undefined ? undefined : readMethods(methods), []);
export const gatedDefinition: AnyDefinition = made.definition;
