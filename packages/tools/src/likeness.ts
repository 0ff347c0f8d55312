/**
 * Names that an agent loop might take for one another.
 *
 * Some loops repair an unknown tool name by likeness: Hermes takes the nearest offered name by Python's `difflib`. So
 * no two verbs may be so close that one, or one with a typo of one letter, is taken for the other. This holds also
 * if only one of the two is offered: a call for a revoked cap must not become a call of another.
 */

/** Hermes takes an unknown name for an offered one from this likeness on. */
export const CUTOFF = 0.7;

/** Two names of which one may be taken for the other, or undefined. */
export function tooClose(names: readonly string[]): readonly [string, string] | undefined {
  const plain = names.map(withoutForm);
  for (const [at, a] of plain.entries())
    for (const [other, b] of plain.entries())
      if (other > at && (mistaken(a, b) || mistaken(b, a))) return [names[at] as string, names[other] as string];
  return undefined;
}

/** Without the differences that such repair ignores: case, - and _, and "tool" at the end. */
const withoutForm = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll('-', '_')
    .replace(/_tool$/, '');

/** Whether `a`, or `a` with one typo, is taken for `b`. */
function mistaken(a: string, b: string): boolean {
  if (a === b || likeness(b, a) >= CUTOFF) return true;
  for (const typo of typos(a, new Set([...b, '-']))) if (likeness(b, typo) >= CUTOFF) return true;
  return false;
}

/**
 * The name with one letter changed, left out or added, or two swapped. All letters that the other name lacks act
 * alike, so one of them is enough.
 */
function* typos(name: string, letters: Iterable<string>): Generator<string> {
  for (let at = 0; at <= name.length; at += 1) {
    const [before, after] = [name.slice(0, at), name.slice(at)];
    yield before + after.slice(1);
    if (after.length > 1) yield `${before}${after[1]}${after[0]}${after.slice(2)}`;
    for (const letter of letters) {
      yield before + letter + after;
      yield before + letter + after.slice(1);
    }
  }
}

/** The likeness of two texts from 0 to 1, as Ratcliff and Obershelp (1988) measure it, and `difflib` for short texts. */
export const likeness = (a: string, b: string): number =>
  a.length + b.length === 0 ? 1 : (2 * matching(a, b)) / (a.length + b.length);

/** The letters in common: those of the longest common part, and the same of what is before and after it. */
function matching(a: string, b: string): number {
  let [start, other, length] = [0, 0, 0];
  for (let at = 0; at < a.length; at += 1)
    for (let to = 0; to < b.length; to += 1) {
      let run = 0;
      while (at + run < a.length && a[at + run] === b[to + run]) run += 1;
      if (run > length) [start, other, length] = [at, to, run];
    }
  if (length === 0) return 0;
  const before = matching(a.slice(0, start), b.slice(0, other));
  return before + length + matching(a.slice(start + length), b.slice(other + length));
}
