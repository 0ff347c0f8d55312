/** The terms that a granter gives: those of a grant, a scope, and which calls wait for a yes. */
import { checkMaking, checkTerms, longestTerm, type Terms } from '@hob/revocable';
import { CapError, wallTime } from '@hob/vat';
import { canonicalText } from '@hob/vat/forwarder';

/**
 * `once`: one use; `session`: until the session ends; `permanent`: for 90 days, over boots, each outcome in
 * the ledger.
 */
export type Scope = 'once' | 'session' | 'permanent';

/** Levels of risk of a call, as a firewall assesses it. */
export type CallLevel = 'low' | 'medium' | 'high';

export const callLevels: readonly CallLevel[] = Object.freeze(['low', 'medium', 'high']);

/**
 * The terms of a grant: those of `@hob/revocable`, a scope, and which calls a granter approves one by one.
 * Times are in ms.
 */
export type GrantTerms = Terms & {
  readonly scope?: Scope;
  /** Each call waits for a granter, or each call of these methods. */
  readonly gated?: true | readonly string[];
  /**
   * Calls of these methods of a directory are kept as drafts: the caller gets the error `drafted` at once, the change
   * waits in the inbox with its diff, and a yes makes it. On other objects such a call waits, as with `gated`.
   */
  readonly drafts?: readonly string[];
  /**
   * With a firewall: the highest level of risk at which a call goes on without a person. `medium` if it is not given.
   * Crisis-sensitive calls wait at any level.
   */
  readonly level?: CallLevel;
  /**
   * The session changes what it made itself through this grant, without the wait of `gated` or `drafts`: the files of a
   * directory, as long as nobody else changed them, and the things of a cap that names what it makes (`Effect.makes`).
   * Another cap gets nothing by it.
   */
  readonly own?: true;
  /** A call that waits under it is for a person alone: no judge sees it. */
  readonly personOnly?: true;
  /**
   * The cap asks before it is there: a call waits until a granter grants the offer, and these terms are proposed. The
   * other terms are those of the cap that asks.
   */
  readonly asks?: Omit<GrantTerms, 'asks'>;
};

const refuse = (what: string): never => {
  throw new CapError('invalid', what);
};

interface ParsedTerms {
  readonly terms: Terms;
  /** The time of a grant that names none, in ms. */
  readonly defaultMs?: number;
  readonly gated: true | readonly string[] | undefined;
  readonly drafts: readonly string[] | undefined;
  readonly level: CallLevel | undefined;
  readonly personOnly: true | undefined;
  readonly own: true | undefined;
  readonly asks: Omit<GrantTerms, 'asks'> | undefined;
}

/** Terms that others read before they hold. A granter gets them in a frame, with all else that a request shows. */
export function checkShownTerms(given: GrantTerms): void {
  const { terms } = parseTerms(given);
  checkTerms(terms);
  checkMaking(terms);
  const { length } = canonicalText(given);
  if (length > longestShown)
    throw new CapError('limit', `terms that a person reads have at most ${longestShown} characters, and these have ${length}`); // biome-ignore format: one line
}

const longestShown = 20_000;

/** Turns a scope and terms into terms of a grant. Errors: `invalid`. */
export function parseTerms(given: GrantTerms): ParsedTerms {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    refuse('the terms of a grant are a record such as {uses: 1, for: 60000}');
  const { scope, gated, drafts, level, personOnly, own, asks, ...terms } = given;
  if (level !== undefined && !callLevels.includes(level)) refuse('level must be low, medium or high');
  if (personOnly !== undefined && personOnly !== true) refuse('personOnly must be true, or left out');
  if (own !== undefined && own !== true) refuse('own must be true, or left out');
  if (own !== undefined && asks !== undefined) refuse('a grant that asks for a grant has no own things: leave out own');
  if (asks !== undefined) checkProposal(asks, gated ?? drafts);
  if (gated !== undefined && gated !== true && !isNames(gated))
    refuse('gated must be true, or a list of the methods whose calls wait for approval');
  if (drafts !== undefined && (!isNames(drafts) || gated === true))
    refuse('drafts must be a list of the methods whose calls are kept as drafts, and gated cannot be true beside it');
  return { ...timed(scope, lastingMade(terms)), gated, drafts, level, personOnly, own, asks };
}

/** The terms that a cap proposes when it asks. Errors: `invalid`. */
function checkProposal(asks: unknown, gated: unknown): void {
  if (gated !== undefined) refuse('a grant asks for a grant (asks) or for each call (gated): leave one of them out');
  if (typeof asks === 'object' && asks !== null && 'asks' in asks) refuse('the terms in asks have no asks themselves');
  checkTerms(parseTerms(asks as GrantTerms).terms);
}

/** Terms in `made` with uses and no time last until the session ends, as those of a grant do. */
function lastingMade(terms: Terms): Terms {
  const { made } = terms;
  const isTimed = made?.uses === undefined || made.for !== undefined || made.until !== undefined;
  return isTimed ? terms : { ...terms, made: { ...made, for: longestTerm } };
}

const isNames = (list: unknown): boolean =>
  Array.isArray(list) && list.length > 0 && list.every((name) => typeof name === 'string' && name !== '');

function timed(
  scope: Scope | undefined,
  terms: Terms,
): Omit<ParsedTerms, 'gated' | 'drafts' | 'level' | 'personOnly' | 'own' | 'asks'> {
  switch (scope) {
    case undefined:
      // N uses and no time: they end with their session.
      return terms.uses === undefined ? { terms } : { terms, defaultMs: longestTerm };
    case 'once':
      if (terms.uses !== undefined && terms.uses !== 1)
        refuse('the scope "once" allows one use: leave out uses, or the scope');
      return { terms: { ...terms, uses: 1 }, defaultMs: longestTerm };
    case 'session':
      if (terms.for !== undefined || terms.until !== undefined)
        refuse('a grant with the scope "session" ends with its session: leave out the time, or the scope');
      return { terms, defaultMs: longestTerm };
    case 'permanent':
      if (terms.for !== undefined) refuse('a permanent grant takes a date: give until, or no time for 90 days');
      return { terms: { until: wallTime() + longestTerm, ...terms, audited: true } };
    default:
      return refuse('scope must be once, session or permanent');
  }
}
