/**
 * A cap with an end, as two objects: a forwarder and its revoker.
 *
 * The holder of the forwarder has no way to the revoker or to the object behind. The holder of the revoker
 * has no way to the cap. For the promises of a grant, see `grant.ts`.
 */
import { CapError, type Definition, define, type Far, ledgerLine, spawn, type Table } from '@hob/vat';
import { freshName, inTurn, type OptionNames, takeOptions } from '@hob/vat/forwarder';
import { firstForwarder } from './forwarder/cross.ts';
import { outside } from './forwarder/forward.ts';
import { GrantActor } from './grant.ts';
import { freshPart } from './made.ts';
import { checkMaking, clocks, type GrantGroups, limitsOf, readTerms, type Terms } from './terms/terms.ts';

/** Ends a grant. `revoke` returns when that is durable and every driver that worked under it is done. */
export interface Revoker {
  revoke(why?: string): Promise<void>;
}

/** `cap` is handed out, `revoker` stays with the granter. */
export interface Forwarded<T> {
  readonly cap: Far<T>;
  readonly revoker: Far<Revoker>;
}

export const RevokerActor: Definition<Revoker, [actor: GrantActor]> = define('revocable.revoker', (_bcom, actor) => ({
  revoke: (why = '') => actor.revoke(String(why).slice(0, 500)),
}));

/** A grant as its granter has it, in a turn. */
export interface Grant<T> {
  readonly cap: T;
  readonly revoker: Revoker;
  /** Shows and changes the grant. Never hand it out. */
  readonly actor: GrantActor;
  /** Its end, in ms since 1970. */
  readonly until: number;
}

/** Options of a grant: its ledger line, its default time, and the groups that it ends with. */
export interface GrantOptions {
  /** Further fields of the grant's ledger line, for example its holder and its granter. */
  readonly about?: Readonly<Record<string, string>>;
  /** The time in ms for terms that say nothing of time. Default: 15 minutes. */
  readonly otherwise?: number;
  /** The digest of the request that a person approved. The ledger lines of all calls carry it. */
  readonly act?: string;
  /** Makes the grant a membrane, which remembers here what it wrapped. */
  readonly wrapped?: Table<object>;
  /** Groups of grants that end together. */
  readonly within?: GrantGroups;
}

const grantOptions: OptionNames<GrantOptions> = {
  about: true,
  otherwise: true,
  act: true,
  wrapped: true,
  within: true,
};

/**
 * Makes a grant in the vat of the running turn. `id` names it in the ledger: use it once in a store. Errors:
 * `invalid`.
 */
export function grantOf<T extends object>(
  inner: T | Far<T>,
  terms: Terms,
  id: string = freshName('r'),
  options?: GrantOptions,
): Grant<T> {
  const { about = {}, act, otherwise, wrapped, within } = takeOptions(options, 'grantOf', grantOptions);
  const human = act === undefined ? {} : { act };
  const read = limitsOf(terms, clocks(), otherwise);
  if (wrapped !== undefined && read.made !== undefined)
    throw new CapError('invalid', 'everything that comes out of a membrane shares its state: leave out made');
  checkMaking(read);
  const limits = Object.freeze({
    ...read,
    ...human,
    ...(within === undefined ? {} : { within }),
    ...(read.made === undefined ? {} : { part: freshPart() }),
  });
  const actor = spawn(GrantActor(id, limits, 'live', limits.uses, undefined, wrapped));
  actor.begin();
  ledgerLine('grant', {
    ...about,
    ...human,
    grant: id,
    until: limits.wallDeadline,
    ...(limits.uses === undefined ? {} : { uses: limits.uses }),
    ...(limits.methods === undefined ? {} : { methods: limits.methods }),
  });
  return {
    cap: firstForwarder(actor, inner as object, wrapped) as T,
    revoker: spawn(RevokerActor(actor)),
    actor,
    until: limits.wallDeadline,
  };
}

/**
 * Makes a forwarder around `inner` and its revoker. In a turn both are made in the vat of the turn. Outside,
 * they are made in the vat "grants" of the vats that own `inner`. With `uses` or `where`, `cap` is reached by
 * `E` only. Errors: `invalid`.
 */
export function revocable<T extends object>(inner: T | Far<T>, terms: Terms): Forwarded<T> {
  return forwarded(inner, terms, (read) => grantOf(inner, read));
}

/** In a turn: calls `make` at once. Outside: calls it in a turn of its own, and returns promises at once. */
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
