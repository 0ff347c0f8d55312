/**
 * A cap that can be switched off.
 *
 * Promise: the holder of the forwarder has no way to the revoker, and none to what is behind it. What comes out of a forwarded
 * call is wrapped too: a subdirectory dies with the grant that it came through. Calls under way when the grant ends are aborted.
 * After Redell's caretaker (1974); Miller, Robust Composition, chapter 9.
 */
import {
  byMessage,
  CapError,
  type Definition,
  define,
  defineProcedure,
  E,
  type Far,
  farOf,
  inTurn,
  isReference,
  ledgerLine,
  onlyVats,
  promise,
  spawn,
  under,
  vatTime,
  wallTime,
} from '@hob/vat';
import { Gate } from './gate.ts';
import { checkTerms, limitsOf, type Terms } from './terms.ts';

/** Ends a grant. Answers when that is durable and every driver that worked under it is done. */
export interface Revoker {
  revoke(why?: string): Promise<void>;
}

/** `cap` is handed out, `revoker` stays with the granter. */
export interface Forwarded<T> {
  readonly cap: Far<T>;
  readonly revoker: Far<Revoker>;
}

const RevokerActor: Definition<Revoker, [gate: Gate]> = define('Revoker', (_bcom, gate) => ({
  revoke: (why = '') => gate.revoke(String(why).slice(0, 500)),
}));

type Methods = Readonly<Record<string, (...args: readonly unknown[]) => Promise<unknown>>>;

/** Passes every call on to `inner`, if `gate` admits it. */
const Forwarder: Definition<object, [gate: Gate, inner: object, grant: string, counted: boolean]> = defineProcedure(
  'Forwarder',
  (bcom, gate, inner, grant, counted) =>
    (method, args): unknown => {
      // In the same turn the charge could be rolled back and the answer kept.
      if (counted && !byMessage())
        throw new CapError('not-callable', 'a grant with a number of uses is reached by message only: use E(cap)');
      try {
        gate.admit(method, args);
      } catch (error) {
        // A break that commits: what the gate latched stays, also for the next caller.
        return bcom.broken(Forwarder(gate, inner, grant, counted), error as Error);
      }
      const send = E(inner) as unknown as ((...args: readonly unknown[]) => Promise<unknown>) & Methods;
      const answer = under(grant, () => (method === '' ? send(...args) : (send[method] as Methods[string])(...args)));
      return E.when(
        answer,
        (value) => {
          // Not every inner object can be aborted: what it says too late is not passed on.
          gate.pass();
          return wrap(value, (reference) => spawn(Forwarder(gate, reference, grant, counted)));
        },
        (error): never => {
          ledgerLine('result', { grant, method, code: error instanceof CapError ? error.code : 'error' });
          throw error;
        },
      );
    },
);

/** Every reference in `value` goes through `around`; data stays data. */
function wrap(value: unknown, around: (reference: object) => object): unknown {
  if (isReference(value)) return around(value as object);
  if (value instanceof Promise) return E.when(value, (settled) => wrap(settled, around));
  if (Array.isArray(value)) return value.map((item) => wrap(item, around));
  if (typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype)
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, wrap(item, around)]));
  return value;
}

/** What a granter keeps of a grant: the parts, and the gate to look at. In a turn only. */
export interface Grant<T> {
  readonly cap: T;
  readonly revoker: Revoker;
  readonly gate: Gate;
  /** When it ends, in ms since 1970. */
  readonly until: number;
  /** The same in vat time. */
  readonly deadline: number;
  /** Results of calls made before it may arrive so many ms later. */
  readonly grace: number;
}

/**
 * Makes a grant in the running turn's vat. `id` names it in the ledger; `about` is what the line of the grant tells beside: to
 * whom, by whom. Errors: `invalid`.
 */
export function grantOf<T extends object>(
  inner: T | Far<T>,
  terms: Terms,
  id: string,
  about: Readonly<Record<string, string>> = {},
): Grant<T> {
  const limits = limitsOf(terms, { vat: vatTime(), wall: wallTime() });
  const gate = spawn(Gate(id, limits, 'live', limits.uses));
  ledgerLine('grant', {
    ...about,
    grant: id,
    until: limits.wallDeadline,
    ...(limits.uses === undefined ? {} : { uses: limits.uses }),
    ...(limits.methods === undefined ? {} : { methods: limits.methods }),
  });
  return {
    cap: spawn(Forwarder(gate, inner, id, limits.uses !== undefined)) as T,
    revoker: spawn(RevokerActor(gate)),
    gate,
    until: limits.wallDeadline,
    deadline: limits.deadline,
    grace: limits.grace,
  };
}

// No state of an actor: a number that an undone turn took is simply skipped.
let numbered = 0;
const nextId = (): string => {
  numbered += 1;
  return `r${numbered}`;
};

/**
 * A forwarder around `inner` with its revoker. In a turn both are made in its vat; outside they live in the vat "grants" of the
 * one set of vats that is open. With `uses`, `cap` is reached by `E` only. Errors: `invalid` (terms that are not understood, no
 * single set of vats).
 */
export function revocable<T extends object>(inner: T | Far<T>, terms: Terms): Forwarded<T> {
  if (inTurn()) {
    const { cap, revoker } = grantOf(inner, terms, nextId());
    return { cap: cap as unknown as Far<T>, revoker: revoker as unknown as Far<Revoker> };
  }
  checkTerms(terms);
  const vat = onlyVats().vat('grants');
  const cap = promise<Far<T>>();
  const revoker = promise<Far<Revoker>>();
  vat
    .turn(() => {
      const made = grantOf(inner, terms, nextId());
      return [made.cap, made.revoker];
    })
    .then(
      (made) => {
        cap.resolver.resolve(made[0] as unknown as Far<T>);
        revoker.resolver.resolve(made[1] as unknown as Far<Revoker>);
      },
      (error: Error) => {
        cap.resolver.break(error);
        revoker.resolver.break(error);
      },
    );
  return { cap: farOf(cap.promise), revoker: farOf(revoker.promise) };
}
