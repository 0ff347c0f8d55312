/**
 * The terms of a grant, as a person gives them, and the limits that they become.
 *
 * Every grant has a deadline. A term that is not understood is refused, never ignored: a misspelt limit would
 * be no limit. Terms are read once, so the values that were checked are those that hold.
 */
import { CapError, type Table, vatTime, wallTime } from '@hob/vat';
import { bootId, type Group, type OptionNames, storeEra, takeRecord } from '@hob/vat/forwarder';
import { type Bounds, type GivenBounds, readBounds } from './bounds.ts';
import { readMethods } from './methods.ts';

/**
 * `for` is in ms, `until` in ms since 1970; both together are `invalid`. With neither, a grant ends after 15
 * minutes. Only `until` outlives a boot of the machine.
 */
export interface Terms {
  readonly uses?: number;
  readonly for?: number;
  readonly until?: number;
  readonly methods?: readonly string[];
  /**
   * Method, then position of the argument, from 0, or its name. Without `methods`, the methods named here are the
   * only ones.
   */
  readonly where?: GivenBounds;
  /** Each result is a ledger line too, not only each call. */
  readonly audited?: boolean;
  /** May be mounted in a sandbox although it is audited. */
  readonly mount?: boolean;
  /**
   * The terms of the objects that a call returns. Their time starts when the call ends. They outlive the uses and the
   * time of the grant, and end when it is revoked. The grant needs `uses`, at most 1,000. Without `made` these objects
   * share the uses and the time of the grant.
   */
  readonly made?: Omit<Terms, 'made' | 'mount'>;
}

/** Terms that were read: the bounds of a method with named arguments are those of its one record. */
interface ReadTerms extends Terms {
  readonly where?: Bounds;
  readonly made?: ReadTerms;
}

/** Absolute times: `deadline` in vat time, `wallDeadline` in ms since 1970 (it may only shorten). */
export interface GrantLimits {
  readonly uses: number | undefined;
  readonly deadline: number;
  readonly wallDeadline: number;
  /** The grant ends with this boot. */
  readonly boot: string | undefined;
  /** The era of the store in which it was made. If the store is put back, the grant waits for its granter. */
  readonly era: number;
  /** A call that was made in time may return its result this long after the deadline. */
  readonly grace: number;
  readonly methods: readonly string[] | undefined;
  readonly where: Bounds | undefined;
  readonly audited: boolean;
  readonly mount: boolean;
  /** The digest of the request that a person approved. The ledger line of each call carries it. */
  readonly act?: string;
  readonly within?: GrantGroups;
  /** The terms of the objects that its calls return. */
  readonly made?: ReadTerms;
  /** A grant with `made`, and the objects of each of its calls, end apart. Each of these parts has a cause. */
  readonly part?: Group;
  /** The grant whose call made these objects. They end when it is revoked. */
  readonly from?: MakingGrant;
  /** The vat time at which its uses were last narrowed. A use that was charged before is not given back. */
  readonly narrowed?: number;
}

/** A grant is over when one of its groups is in the table. One row thus ends any number of grants at once. */
export interface GrantGroups {
  readonly ended: Table<unknown>;
  readonly groups: readonly Group[];
}

/** A grant with `made`, as the objects that its calls made see it. */
export interface MakingGrant {
  /** A grant that is used up or over is not revoked. `era` is that of the store in which it was made or confirmed. */
  forMade(): { readonly isRevoked: boolean; readonly era: number };
}

/** Almost always no group has ended, and this reads only a size. */
export const groupEnded = ({ within }: GrantLimits): boolean =>
  within !== undefined && within.ended.size > 0 && within.groups.some((group) => within.ended.has(group));

/** How long a grant lasts if nothing says otherwise: 15 minutes, in ms. */
export const defaultTerm: number = 15 * 60_000;
/** A person renews a grant that is to last longer. */
export const longestTerm: number = 90 * 24 * 3_600_000;
/** The grace is a tenth of the time given, and never more than this. */
const longestGrace = 30_000;

const refuse = (what: string): never => {
  throw new CapError('invalid', what);
};

const names: OptionNames<Terms> = {
  uses: true,
  for: true,
  until: true,
  methods: true,
  where: true,
  audited: true,
  mount: true,
  made: true,
};

/** Returns a copy of the terms, each read once. Throws `invalid` for everything that is wrong at any time. */
export function readTerms(given: Terms): ReadTerms {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    refuse('the terms of a grant are a record such as {uses: 1, for: 60000}');
  const taken = takeRecord(given, 'a grant', Object.keys(names), 'term') as Terms;
  const { uses, methods: list, for: ms, until, where: bounds, audited, mount, made } = taken;
  if (uses !== undefined && !(Number.isSafeInteger(uses) && uses >= 1)) refuse('uses is a whole number of at least 1');
  const methods = list === undefined ? undefined : readMethods(list);
  const where = bounds === undefined ? undefined : readBounds(bounds);
  if (where !== undefined && methods !== undefined)
    for (const method of Object.keys(where))
      if (!methods.includes(method))
        refuse(
          `where names "${method.slice(0, 64)}", which is not among the methods: add it there, or correct its name`,
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
    ...(made === undefined ? {} : { made: readMade(made) }),
  });
}

function readMade(given: Terms): ReadTerms {
  const made = readTerms(given);
  for (const name of ['made', 'mount'] as const)
    if (made[name] !== undefined) refuse(`the terms in made have no ${name} themselves: leave it out`);
  return made;
}

/** The store keeps a grant actor and an alarm for each call that makes something, until their time is over. */
const MOST_MAKING = 1_000;

/** Throws `invalid` if calls may make things without a limit. */
export function checkMaking({ uses, made }: Pick<GrantLimits, 'uses' | 'made'> | Pick<Terms, 'uses' | 'made'>): void {
  if (made !== undefined && (uses === undefined || uses > MOST_MAKING))
    refuse(`a grant with made has uses, at most ${MOST_MAKING}: say how often something may be made`);
}

/** Throws `invalid` for everything that is wrong at any time. */
export const checkTerms = (terms: Terms): void => void readTerms(terms);

export interface Now {
  readonly vat: number;
  readonly wall: number;
  readonly boot: string;
  readonly era: number;
}

/** The clocks of the running turn. */
export const clocks = (): Now => ({ vat: vatTime(), wall: wallTime(), boot: bootId(), era: storeEra() });

/**
 * Returns the limits that `given` means now. `otherwise` is the time in ms for terms without `for` and
 * `until`.
 */
export function limitsOf(given: Terms, now: Now, otherwise: number = defaultTerm): GrantLimits {
  const terms = readTerms(given);
  const { uses, where, audited = false, mount = false, until, made } = terms;
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
    ...(made === undefined ? {} : { made }),
  });
}

function termOf({ for: ms, until }: Terms, wall: number, otherwise: number): number {
  const term = ms ?? (until === undefined ? otherwise : until - wall);
  if (term <= 0) refuse('until lies in the past: give a later time, in ms since 1970');
  if (term > longestTerm) refuse('a grant lasts at most 90 days: give less, and renew it before it ends');
  return term;
}
