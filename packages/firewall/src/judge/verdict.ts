/**
 * Reads the answer of a model.
 *
 * Promise: whatever a model writes, the result is a proposal, a refusal or nothing. An answer that is not exactly one
 * of the records that it was asked for is nothing: other text, other fields, other types, a grant.
 */

/** Terms that a judge may propose. */
interface ProposedTerms {
  readonly uses?: number;
  /** In ms. */
  readonly for?: number;
  readonly methods?: readonly string[];
}

export type Verdict =
  | { readonly what: 'propose'; readonly terms: ProposedTerms; readonly why: string }
  | { readonly what: 'refuse'; readonly why: string };

/** The most characters of an answer. */
export const longestAnswer = 4_000;
const longestWhy = 500;
const mostMinutes = 7 * 24 * 60;
const mostUses = 1000;
const mostMethods = 30;

/** Returns undefined for no opinion. */
export function verdictOf(text: string, kind: 'grant' | 'call'): Verdict | undefined {
  const answer = recordIn(text);
  if (answer === undefined) return undefined;
  const { verdict, why, ...terms } = answer;
  if (typeof why !== 'string' || why.trim() === '' || why.length > longestWhy) return undefined;
  const isEmpty = Object.keys(terms).length === 0;
  if (verdict === 'refuse') return isEmpty ? { what: 'refuse', why } : undefined;
  if (verdict !== 'propose' || (kind === 'call' && !isEmpty)) return undefined;
  const proposed = termsIn(terms);
  return proposed === undefined ? undefined : { what: 'propose', terms: proposed, why };
}

function recordIn(text: string): Readonly<Record<string, unknown>> | undefined {
  if (text.length > longestAnswer) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : undefined;
  } catch {
    return undefined;
  }
}

function termsIn(given: Readonly<Record<string, unknown>>): ProposedTerms | undefined {
  const { uses, minutes, methods, ...others } = given;
  if (Object.keys(others).length > 0) return undefined;
  if (uses !== undefined && !isCount(uses, mostUses)) return undefined;
  if (minutes !== undefined && !isCount(minutes, mostMinutes)) return undefined;
  if (methods !== undefined && !isNames(methods)) return undefined;
  return {
    ...(uses === undefined ? {} : { uses }),
    ...(minutes === undefined ? {} : { for: minutes * 60_000 }),
    ...(methods === undefined ? {} : { methods }),
  };
}

const isCount = (value: unknown, most: number): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= most;

const isNames = (value: unknown): value is readonly string[] =>
  Array.isArray(value) &&
  value.length >= 1 &&
  value.length <= mostMethods &&
  value.every((name) => typeof name === 'string' && name !== '' && name.length <= 64);
