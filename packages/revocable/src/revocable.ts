/**
 * A cap with an end: a forwarder and its revoker, two objects.
 *
 * Promise: the holder of the forwarder has no way to the revoker, nor to what is behind, and the other way round. For what a grant promises, see
 * `grant.ts`.
 */
import { type Definition, define, type Far, freshName, inTurn, ledgerLine, spawn, type Table } from '@hob/vat';
import { firstFace } from './forwarder/cross.ts';
import { outside } from './forwarder/forward.ts';
import { Gate } from './grant.ts';
import { clocks, limitsOf, readTerms, type Terms, type Within } from './terms/terms.ts';

/** Ends a grant. Answers when that is durable and every driver that worked under it is done. */
export interface Revoker {
  revoke(why?: string): Promise<void>;
}

/** `cap` is handed out, `revoker` stays with the granter. */
export interface Forwarded<T> {
  readonly cap: Far<T>;
  readonly revoker: Far<Revoker>;
}

export const RevokerActor: Definition<Revoker, [gate: Gate]> = define('revocable.revoker', (_bcom, gate) => ({
  revoke: (why = '') => gate.revoke(String(why).slice(0, 500)),
}));

/** What a granter keeps of a grant: the parts, and the gate to look at. In a turn only. */
export interface Grant<T> {
  readonly cap: T;
  readonly revoker: Revoker;
  readonly gate: Gate;
  /** When it ends, in ms since 1970. */
  readonly until: number;
}

export interface GrantOptions {
  /** What the line of the grant tells beside: to whom, by whom. */
  readonly about?: Readonly<Record<string, string>>;
  /** How long it lasts, in ms, where its terms say nothing of time: 15 minutes, if this says nothing either. */
  readonly otherwise?: number;
  /** The human act behind it: the digest of the request that was approved. The lines of all calls under the grant tell it. */
  readonly act?: string;
  /** For a membrane: where it remembers what it wrapped. */
  readonly members?: Table<object>;
  /** For whoever ends many grants at once. */
  readonly within?: Within;
}

/** Makes a grant in the running turn's vat. `id` names it in the ledger, once in the life of a store. Errors: `invalid`. */
export function grantOf<T extends object>(
  inner: T | Far<T>,
  terms: Terms,
  id: string = freshName('r'),
  { about = {}, act, otherwise, members, within }: GrantOptions = {},
): Grant<T> {
  const plain = limitsOf(terms, clocks(), otherwise);
  const limits =
    act === undefined && within === undefined
      ? plain
      : Object.freeze({ ...plain, ...(act === undefined ? {} : { act }), ...(within === undefined ? {} : { within }) });
  const gate = spawn(Gate(id, limits, 'live', limits.uses, undefined, members));
  gate.begin();
  ledgerLine('grant', {
    ...about,
    ...(act === undefined ? {} : { act }),
    grant: id,
    until: limits.wallDeadline,
    ...(limits.uses === undefined ? {} : { uses: limits.uses }),
    ...(limits.methods === undefined ? {} : { methods: limits.methods }),
  });
  return {
    cap: firstFace(gate, inner as object, members) as T,
    revoker: spawn(RevokerActor(gate)),
    gate,
    until: limits.wallDeadline,
  };
}

/**
 * A forwarder around `inner` with its revoker. In a turn both are made in its vat; outside, in the vat "grants" of those that own `inner`.
 * With `uses` or `where`, `cap` is reached by `E` only. Errors: `invalid` (terms that are not understood, no single set of vats).
 */
export function revocable<T extends object>(inner: T | Far<T>, terms: Terms): Forwarded<T> {
  return forwarded(inner, terms, (read) => grantOf(inner, read));
}

/** In a turn at once; outside, as promises of what is made in a turn of its own. */
export function forwarded<T extends object>(
  inner: T | Far<T>,
  given: Terms,
  make: (terms: Terms) => Pick<Grant<T>, 'cap' | 'revoker'>,
): Forwarded<T> {
  const terms = readTerms(given);
  if (inTurn()) {
    const { cap, revoker } = make(terms);
    return { cap, revoker } as unknown as Forwarded<T>;
  }
  const [cap, revoker] = outside(inner as object, 2, () => {
    const made = make(terms);
    return [made.cap, made.revoker];
  });
  return { cap: cap as Far<T>, revoker: revoker as Far<Revoker> };
}
