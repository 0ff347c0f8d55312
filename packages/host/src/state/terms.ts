/** The terms that a granter gives: those of a grant, a scope, and which calls wait for a yes. */
import { longestTerm, type Terms } from '@hob/revocable';
import { CapError, wallTime } from '@hob/vat';

/** `once`: one use; `session`: until the session ends; `permanent`: for 90 days, over boots, each outcome in the ledger. */
export type Scope = 'once' | 'session' | 'permanent';
export type GrantTerms = Terms & {
  readonly scope?: Scope;
  /** Each call waits for a granter, or each call of these methods. */
  readonly gated?: true | readonly string[];
};

const refuse = (what: string): never => {
  throw new CapError('invalid', what);
};

export interface Scoped {
  readonly terms: Terms;
  /** How long a grant lasts that says nothing of time. */
  readonly otherwise?: number;
  readonly gated: true | readonly string[] | undefined;
}

/** What a scope and terms come to. Errors: `invalid`. */
export function scoped(given: GrantTerms): Scoped {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    refuse('the terms of a grant are a record such as {uses: 1, for: 60000}');
  const { scope, gated, ...terms } = given;
  if (gated !== undefined && gated !== true && !isNames(gated))
    refuse('gated is true, or a list of the methods whose calls wait');
  return { ...timed(scope, terms), gated };
}

const isNames = (list: unknown): boolean =>
  Array.isArray(list) && list.length > 0 && list.every((name) => typeof name === 'string' && name !== '');

function timed(scope: Scope | undefined, terms: Terms): Omit<Scoped, 'gated'> {
  switch (scope) {
    case undefined:
      // N uses and no time: they end with their session.
      return terms.uses === undefined ? { terms } : { terms, otherwise: longestTerm };
    case 'once':
      if (terms.uses !== undefined && terms.uses !== 1) refuse('once is one use: leave out uses, or the scope');
      return { terms: { ...terms, uses: 1 }, otherwise: longestTerm };
    case 'session':
      if (terms.for !== undefined || terms.until !== undefined)
        refuse('a grant for the session ends with it: leave out the time, or the scope');
      return { terms, otherwise: longestTerm };
    case 'permanent':
      if (terms.for !== undefined) refuse('a permanent grant ends at a date: give until, or no time for 90 days');
      return { terms: { until: wallTime() + longestTerm, ...terms, audited: true } };
    default:
      return refuse('scope is once, session or permanent');
  }
}
