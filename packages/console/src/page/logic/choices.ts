/**
 * The answers that a person can give to a request, as terms.
 *
 * Promise: no choice is wider than what was asked: a choice that would be is not offered, and the host refuses it
 * besides.
 */
import type { GrantTerms, Request } from '@hob/host';

export interface Choice {
  readonly id: 'asked' | 'once' | 'uses' | 'quarter' | 'minutes';
  readonly label: string;
  /** The terms; `count` is the number that the person gave for `uses` and `minutes`. */
  readonly terms: (count: number) => GrantTerms;
  /** The largest number that may be given. Undefined where the choice takes none. */
  readonly most?: number;
}

const minute = 60_000;
/** A number that a person types. */
const mostUses = 1000;
const mostMinutes = 24 * 60;
const quarter = 15;

/** For a call there is one yes: this call, once. */
export function choicesOf({ kind, terms = {} }: Pick<Request, 'kind' | 'terms'>): readonly Choice[] {
  if (kind === 'call') return [{ id: 'asked', label: 'This call, once', terms: () => ({}) }];
  const uses = terms.uses ?? Number.POSITIVE_INFINITY;
  const time = terms.for ?? Number.POSITIVE_INFINITY;
  const minutes = Math.min(mostMinutes, Math.floor(time / minute));
  return [
    { id: 'asked', label: 'As it was asked', terms: () => ({}) },
    ...(uses > 1 ? [{ id: 'once', label: 'Once', terms: () => ({ uses: 1 }) } as const] : []),
    ...(uses > 2
      ? [{ id: 'uses', label: 'So many uses', most: Math.min(uses, mostUses), terms: (count: number) => ({ uses: count }) } as const] // biome-ignore format: one line
      : []),
    ...(minutes > quarter
      ? [{ id: 'quarter', label: '15 minutes', terms: () => ({ for: quarter * minute }) } as const]
      : []),
    ...(minutes > 1
      ? [{ id: 'minutes', label: 'So many minutes', most: minutes, terms: (count: number) => ({ for: count * minute }) } as const] // biome-ignore format: one line
      : []),
  ];
}

/** The number that was typed, if the choice takes it. */
export function countOf(choice: Choice, typed: string): number | undefined {
  if (choice.most === undefined) return 0;
  const count = /^\d{1,5}$/.test(typed.trim()) ? Number(typed) : 0;
  return count >= 1 && count <= choice.most ? count : undefined;
}
