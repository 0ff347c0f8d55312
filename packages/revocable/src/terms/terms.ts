/**
 * The terms of a grant, as a person gives them, and the limits they become.
 *
 * Promise: every grant has a deadline. What is not understood is refused, never ignored: a misspelt limit would be no limit. Terms are
 * read once: what was checked is what holds.
 */
import { bootId, CapError, type Group, storeEra, type Table, vatTime, wallTime } from '@hob/vat';
import { type Bounds, readBounds } from './bounds.ts';

/**
 * `for` in ms, `until` in ms since 1970; both: `invalid`. With neither, a grant ends after 15 minutes. Only `until` outlives a boot
 * of the machine.
 */
export interface Terms {
  readonly uses?: number;
  readonly for?: number;
  readonly until?: number;
  readonly methods?: readonly string[];
  /** Method, then position of the argument, from 0. Without `methods` beside it, the methods named here are the only ones. */
  readonly where?: Bounds;
  /** Each outcome is a line too, not only each call. */
  readonly audited?: boolean;
  /** May be mounted in a sandbox although it is audited. */
  readonly mount?: boolean;
}

/** Times are absolute here: `deadline` in vat time, `wallDeadline` in ms since 1970 (it may only shorten). */
export interface Limits {
  readonly uses: number | undefined;
  readonly deadline: number;
  readonly wallDeadline: number;
  /** The boot that it dies with. */
  readonly boot: string | undefined;
  /** The history of its store that it was made in: where that is put back, the grant waits for its granter. */
  readonly era: number;
  /** How much later than the deadline a result of a call that was made in time may still arrive. */
  readonly grace: number;
  readonly methods: readonly string[] | undefined;
  readonly where: Bounds | undefined;
  readonly audited: boolean;
  readonly mount: boolean;
  /** The digest of the request that a person said yes to; each call’s line tells it. */
  readonly act?: string;
  /** What else ends it, and all others that name the same. */
  readonly within?: Within;
  /** When its uses were last narrowed, in vat time: a use that was charged before is not given back. */
  readonly narrowed?: number;
}

/** A grant is over when one of its groups is in the table: so one row ends any number of grants at once. */
export interface Within {
  readonly ended: Table<unknown>;
  readonly groups: readonly Group[];
}

/** Reads nothing but a size where no group has ended, which is so at almost every call. */
export const groupEnded = ({ within }: Limits): boolean =>
  within !== undefined && within.ended.size > 0 && within.groups.some((group) => within.ended.has(group));

export const defaultTerm: number = 15 * 60_000;
/** A grant that lasts longer is renewed by a person. */
export const longestTerm: number = 90 * 24 * 3_600_000;
/** A tenth of the time that was given, and never more than this. */
const longestGrace = 30_000;

const refuse = (what: string): never => {
  throw new CapError('invalid', what);
};

const known: ReadonlySet<string> = new Set(['uses', 'for', 'until', 'methods', 'where', 'audited', 'mount']);

/** A copy of the terms, each of them read once. Throws `invalid` for what is wrong whatever the time. */
export function readTerms(given: Terms): Terms {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    refuse('the terms of a grant are a record such as {uses: 1, for: 60000}');
  for (const key of Object.keys(given))
    if (!known.has(key)) refuse(`"${key.slice(0, 64)}" is no term of a grant: choose from ${[...known].join(', ')}`);
  const { uses, methods: list, for: ms, until, where: bounds, audited, mount } = given;
  if (uses !== undefined && !(Number.isSafeInteger(uses) && uses >= 1)) refuse('uses is a whole number of at least 1');
  const methods = list === undefined ? undefined : readMethods(list);
  const where = bounds === undefined ? undefined : readBounds(bounds);
  if (where !== undefined && methods !== undefined)
    for (const method of Object.keys(where))
      if (!methods.includes(method))
        refuse(
          `where speaks of "${method.slice(0, 64)}", which is not among the methods: add it there, or spell it so`,
        );
  for (const [name, flag] of [['audited', audited], ['mount', mount]] as const) // biome-ignore format: one line
    if (flag !== undefined && typeof flag !== 'boolean') refuse(`${name} is true or false`);
  if (ms !== undefined && until !== undefined) refuse('give either for or until, not both');
  if (ms !== undefined && !(typeof ms === 'number' && Number.isFinite(ms) && ms > 0))
    refuse('for is a number of ms above 0');
  if (until !== undefined && !(typeof until === 'number' && Number.isFinite(until)))
    refuse('until is a time in ms since 1970');
  return Object.freeze({
    ...(uses === undefined ? {} : { uses }),
    ...(ms === undefined ? {} : { for: ms }),
    ...(until === undefined ? {} : { until }),
    ...(methods === undefined ? {} : { methods }),
    ...(where === undefined ? {} : { where }),
    ...(audited === undefined ? {} : { audited }),
    ...(mount === undefined ? {} : { mount }),
  });
}

/** Throws `invalid` for what is wrong whatever the time. */
export const checkTerms = (terms: Terms): void => void readTerms(terms);

export function readMethods(list: readonly string[]): readonly string[] {
  const methods = Array.isArray(list) ? ([...list] as unknown[]) : [];
  if (methods.length === 0 || !methods.every((method) => typeof method === 'string' && method !== ''))
    refuse('methods is a list of method names');
  return Object.freeze(methods as string[]);
}

export interface Now {
  readonly vat: number;
  readonly wall: number;
  readonly boot: string;
  readonly era: number;
}

/** The clocks of the running turn. */
export const clocks = (): Now => ({ vat: vatTime(), wall: wallTime(), boot: bootId(), era: storeEra() });

/** What `terms` mean now. `otherwise` is how long a grant lasts that says nothing of time. */
export function limitsOf(given: Terms, now: Now, otherwise: number = defaultTerm): Limits {
  const terms = readTerms(given);
  const { uses, where, audited = false, mount = false, until } = terms;
  const term = termOf(terms, now.wall, otherwise);
  return Object.freeze({
    uses,
    deadline: now.vat + term,
    wallDeadline: now.wall + term,
    boot: until === undefined ? now.boot : undefined,
    era: now.era,
    grace: Math.min(term / 10, longestGrace),
    methods: terms.methods ?? (where === undefined ? undefined : Object.freeze(Object.keys(where))),
    where,
    audited,
    mount,
  });
}

function termOf({ for: ms, until }: Terms, wall: number, otherwise: number): number {
  const term = ms ?? (until === undefined ? otherwise : until - wall);
  if (term <= 0) refuse('until lies in the past: give a later time, in ms since 1970');
  if (term > longestTerm) refuse('a grant lasts 90 days at the most: renew it then');
  return term;
}
