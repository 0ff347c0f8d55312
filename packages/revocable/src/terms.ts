/**
 * The terms of a grant, as a person gives them, and the limits they become.
 *
 * Promise: every grant has a deadline. What is not understood is refused, never ignored: a misspelt limit would be no limit.
 */
import { CapError } from '@hob/vat';

/** What an argument may be: exactly this data, one of these, or a number between. By data, never by pattern. */
export type Bound =
  | { readonly is: unknown }
  | { readonly oneOf: readonly unknown[] }
  | { readonly min?: number; readonly max?: number };

/** `for` in ms, `until` in ms since 1970; both: `invalid`. With neither, a grant ends after 15 minutes, or with its session. */
export interface Terms {
  readonly uses?: number;
  readonly for?: number;
  readonly until?: number;
  readonly methods?: readonly string[];
}

/** Times are absolute here: `deadline` in vat time, `wallDeadline` in ms since 1970 (it may only shorten). */
export interface Limits {
  readonly uses: number | undefined;
  readonly deadline: number;
  readonly wallDeadline: number;
  /** How much later than the deadline a result of a call that was made in time may still arrive. */
  readonly grace: number;
  readonly methods: readonly string[] | undefined;
}

export const defaultTerm: number = 15 * 60_000;
/** A grant that lasts longer is renewed by a person. */
export const longestTerm: number = 90 * 24 * 3_600_000;
/** A tenth of the time that was given, and never more than this. */
const longestGrace = 30_000;

const refuse = (what: string): never => {
  throw new CapError('invalid', what);
};

const known: ReadonlySet<string> = new Set(['uses', 'for', 'until', 'methods']);

/** Throws `invalid` for what is wrong whatever the time. */
export function checkTerms(terms: Terms): void {
  if (typeof terms !== 'object' || terms === null || Array.isArray(terms))
    refuse('the terms of a grant are a record such as {uses: 1, for: 60000}');
  for (const key of Object.keys(terms))
    if (!known.has(key)) refuse(`"${key.slice(0, 64)}" is no term of a grant: choose from ${[...known].join(', ')}`);
  const { uses, methods, for: ms, until } = terms;
  if (uses !== undefined && !(Number.isSafeInteger(uses) && uses >= 1)) refuse('uses is a whole number of at least 1');
  if (
    methods !== undefined &&
    !(
      Array.isArray(methods) &&
      methods.length > 0 &&
      methods.every((method) => typeof method === 'string' && method !== '')
    )
  )
    refuse('methods is a list of method names');
  if (ms !== undefined && until !== undefined) refuse('give either for or until, not both');
  if (ms !== undefined && !(typeof ms === 'number' && Number.isFinite(ms) && ms > 0))
    refuse('for is a number of ms above 0');
  if (until !== undefined && !(typeof until === 'number' && Number.isFinite(until)))
    refuse('until is a time in ms since 1970');
}

/** What `terms` mean now. */
export function limitsOf(terms: Terms, now: { readonly vat: number; readonly wall: number }): Limits {
  checkTerms(terms);
  const { uses, methods } = terms;
  const term = termOf(terms, now.wall);
  const grace = Math.min(term / 10, longestGrace);
  return Object.freeze({ uses, deadline: now.vat + term, wallDeadline: now.wall + term, grace, methods });
}

function termOf({ for: ms, until }: Terms, wall: number): number {
  const term = ms ?? (until === undefined ? defaultTerm : until - wall);
  if (term <= 0) refuse('until lies in the past: give a later time, in ms since 1970');
  if (term > longestTerm) refuse('a grant lasts 90 days at the most: renew it then');
  return term;
}
