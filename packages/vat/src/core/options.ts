/**
 * Options of a public function: a key that nobody reads is refused.
 *
 * Ignoring a misspelt option would do something else than was asked: `{creat: 'new'}` would replace a file.
 */
import { CapError } from './errors.ts';

/** All option names of `T`, of each alternative if `T` is a union. The compiler finds one that is missing here. */
export type OptionNames<T> = Readonly<Record<T extends unknown ? keyof T & string : never, true>>;

/** Returns a copy of the options of a function; `undefined` is no options. Errors: `invalid`. */
export function takeOptions<T extends object>(given: T | undefined, of: string, names: OptionNames<T>): T {
  return takeRecord(given, of, Object.keys(names), 'option') as T;
}

/**
 * Returns a copy of a record of options, limits or terms; `undefined` is an empty one. `of` and `noun` are for the
 * message: "openVats has no option". Each value is read once: a getter could return something else the second time.
 */
export function takeRecord<K extends string>(
  given: unknown,
  of: string,
  known: readonly K[],
  noun = '',
): Readonly<Partial<Record<K, unknown>>> {
  if (given === undefined) return {} as Readonly<Partial<Record<K, unknown>>>;
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new CapError('invalid', noun === '' ? `${of} is a record` : `the ${noun}s of ${of} are a record`);
  const taken: Readonly<Partial<Record<K, unknown>>> = { ...given } as never;
  for (const key of Object.keys(taken))
    if (!(known as readonly string[]).includes(key)) throw unknownKey(key, `${of} has no ${noun}`.trimEnd(), known);
  return taken;
}

function unknownKey(key: string, start: string, known: readonly string[]): CapError {
  const meant = nearest(key, known);
  const guess = meant === undefined ? '' : `did you mean "${meant}"? `;
  const rest = `there ${known.length === 1 ? 'is' : 'are'} ${known.join(', ')}`;
  return new CapError('invalid', `${start} ${JSON.stringify(key.slice(0, LONGEST))}: ${guess}${rest}`);
}

/** Longer keys are cut in messages. No option is as long. */
const LONGEST = 64;

/** The known name with the fewest changes; undefined if it takes more than two, or half of the letters. */
function nearest(name: string, known: readonly string[]): string | undefined {
  let best: string | undefined;
  let least = Math.min(3, Math.ceil(name.length / 2) + 1);
  for (const one of known) {
    const changes = changesBetween(name.slice(0, LONGEST).toLowerCase(), one.toLowerCase());
    if (changes < least) [best, least] = [one, changes];
  }
  return best;
}

/** Levenshtein's distance: the fewest letters to put in, leave out or replace. */
function changesBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...b].entries())
      next.push(Math.min((row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1, (row[j] ?? 0) + (letter === other ? 0 : 1)));
    row = next;
  }
  return row[b.length] ?? 0;
}
