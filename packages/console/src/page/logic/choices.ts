/**
 * The answers that a person can give to a request, as terms.
 *
 * Promise: no choice is wider than what was asked: a choice that would be is not offered, and the host refuses it
 * besides. An answer for a session or until a date is audited: the ledger has the outcome of each call. Every answer has an
 * end, and the choice says when it is.
 */
import type { GrantTerms, Request } from '@hob/host';

export interface Choice {
  readonly id: 'asked' | 'once' | 'uses' | 'quarter' | 'minutes' | 'session' | 'until';
  readonly label: string;
  /** The terms; `given` is what the person gave: a number, or a time in ms since 1970. */
  readonly terms: (given: number) => GrantTerms;
  /** Undefined where the choice takes nothing. */
  readonly takes?: 'number' | 'time';
  /** The largest number, or the latest time, that may be given. */
  readonly most?: number;
  /** The present, for a choice that takes a time. */
  readonly least?: number;
  /** When it ends, where the label does not say so. */
  readonly ends?: string;
}

const minute = 60_000;
const day = 24 * 60 * minute;
/** A number that a person types. */
const mostUses = 1000;
const mostMinutes = 24 * 60;
const quarter = 15;
/** As the host reads terms without a time: a quarter of an hour, or its longest time if something else ends the grant. */
const longest = 90 * day;

/** How long the asked terms last at the most, from `wall`, in ms. */
function lasts({ for: ms, until, scope, uses }: GrantTerms, wall: number): number {
  if (until !== undefined) return until - wall;
  return ms ?? (scope !== undefined || uses !== undefined ? longest : quarter * minute);
}

/** `wall`: the present in ms since 1970, by the clock of the page. For a call there is one yes: this call, once. */
export function choicesOf({ kind, terms = {} }: Pick<Request, 'kind' | 'terms'>, wall: number): readonly Choice[] {
  if (kind === 'call') return [{ id: 'asked', label: 'This call, once', terms: () => ({}) }];
  const uses = terms.scope === 'once' ? 1 : (terms.uses ?? Number.POSITIVE_INFINITY);
  const time = lasts(terms, wall);
  const minutes = Math.min(mostMinutes, Math.floor(time / minute));
  // The objects of a directory that is mounted are reached beside the ledger, so terms that are audited say so again.
  const kept = { audited: true, ...(terms.mount === true ? { mount: true as const } : {}) };
  const choices: readonly (Choice | false)[] = [
    { id: 'asked', label: 'As it was asked', terms: () => ({}) },
    uses > 1 && { id: 'once', label: 'Once', terms: () => ({ uses: 1 }) },
    uses > 2 && { id: 'uses', label: 'So many uses', takes: 'number', most: Math.min(uses, mostUses), terms: (count) => ({ uses: count }) }, // biome-ignore format: one line
    minutes > quarter && { id: 'quarter', label: '15 minutes', terms: () => ({ for: quarter * minute }) },
    minutes > 1 && { id: 'minutes', label: 'So many minutes', takes: 'number', most: minutes, terms: (count) => ({ for: count * minute }) }, // biome-ignore format: one line
    time >= longest && {
      id: 'session',
      label: 'This session',
      ends: 'It ends with its session, and after 90 days at the latest.',
      terms: () => ({ scope: 'session', ...kept }),
    },
    minutes > 1 && {
      ...({ id: 'until', label: 'Until', takes: 'time', least: wall, most: wall + Math.min(time, longest) } as const),
      terms: (at) => ({ until: at, ...kept }),
    },
  ];
  return choices.filter((choice) => choice !== false);
}

/** What was typed, if the choice takes it. `timeOf` reads a time as the person's clock has it. */
export function givenTo(choice: Choice, typed: string, timeOf: (typed: string) => number): number | undefined {
  const { takes, most = 0, least = 0 } = choice;
  if (takes === undefined) return 0;
  if (takes === 'time') {
    const at = timeOf(typed);
    return at > least && at <= most ? at : undefined;
  }
  const count = /^\d{1,5}$/.test(typed.trim()) ? Number(typed) : 0;
  return count >= 1 && count <= most ? count : undefined;
}
