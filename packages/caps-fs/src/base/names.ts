/**
 * Questions about a single name: does a pattern match it, and is it one of our temporaries?
 *
 * Promise: nothing here takes more steps than the length of the pattern times the length of the name. It
 * imports nothing, so that a search thread starts fast.
 */

/**
 * Temporaries of the atomic write. They cannot be named and are not listed, or a holder could hide files in
 * them.
 */
export function isTemporary(name: string): boolean {
  return name.startsWith(prefix) && /^\.~caps-[0-9a-f]{16}$/.test(name);
}

const prefix = '.~caps-';

/**
 * Whether one of these names is a temporary. They are sorted by code point, so it looks only at those with the
 * prefix.
 */
export function hasTemporary(sorted: readonly string[]): boolean {
  let low = 0;
  for (let high = sorted.length; low < high; ) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? '') < prefix) low = middle + 1;
    else high = middle;
  }
  for (let at = low; sorted[at]?.startsWith(prefix); at++) if (isTemporary(sorted[at] ?? '')) return true;
  return false;
}

export function temporaryName(random: (bytes: number) => Uint8Array): string {
  let name = prefix;
  for (const byte of random(8)) name += hex[byte];
  return name;
}

const hex: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/**
 * Whether one of the patterns matches the name, either exactly or the way a case-folding directory reads it.
 * In such a directory `.ENV` opens `.env`, and so does a name with invisible characters in it. In other
 * directories this hides a few names more than asked.
 */
export function namedBy(patterns: readonly string[], name: string): boolean {
  if (patterns.length === 0) return false;
  const folded = fold(name);
  return patterns.some((pattern) => matches(pattern, name) || matches(fold(pattern), folded));
}

/** Folds as the kernel does: canonical decomposition, without ignorable characters, without case. */
function fold(text: string): string {
  // A cheap path for plain ASCII, which is most names.
  if (/^[\x20-\x7e]*$/.test(text)) return text.toUpperCase();
  const bare = text.normalize('NFD').replace(/\p{Default_Ignorable_Code_Point}/gu, '');
  return bare.toLowerCase().toUpperCase().normalize('NFC');
}

/**
 * The most character comparisons that one name takes with these patterns: each character once, and the text
 * between two stars once at each position of a name of 255 characters.
 */
export function weightOf(patterns: readonly string[]): number {
  let weight = 0;
  for (const pattern of patterns) {
    const between = pattern.split('*').slice(1, -1);
    weight += pattern.length + 255 * Math.max(0, ...between.map((part) => part.length));
  }
  return weight;
}

/** Matches `*` and `?` with two pointers and one position to backtrack to. */
export function matches(pattern: string, name: string): boolean {
  const wanted = [...pattern];
  const given = [...name];
  const last = wanted.lastIndexOf('*');
  // The text after the last star must end the name, so it is compared there once and not at each position.
  for (; last >= 0 && wanted.length > last + 1; wanted.pop(), given.pop()) {
    const end = wanted.at(-1);
    if (given.length === 0 || (end !== '?' && end !== given.at(-1))) return false;
  }
  let w = 0;
  let star = -1;
  let mark = 0;
  for (let g = 0; g < given.length; ) {
    if (wanted[w] === '*') {
      star = w++;
      mark = g;
    } else if (w < wanted.length && (wanted[w] === '?' || wanted[w] === given[g])) {
      w++;
      g++;
    } else if (star >= 0) {
      w = star + 1;
      g = ++mark;
    } else return false;
  }
  while (wanted[w] === '*') w++;
  return w === wanted.length;
}

export function byCodePoint(a: string, b: string): number {
  for (let i = 0; i < a.length && i < b.length; ) {
    const left = a.codePointAt(i) ?? 0;
    if (left !== b.codePointAt(i)) return left - (b.codePointAt(i) ?? 0);
    i += left > 0xffff ? 2 : 1;
  }
  return a.length - b.length;
}

/**
 * Sorts by code point. JavaScript's own order compares UTF-16 units and differs only where there are
 * surrogates.
 */
export function inOrder(names: string[]): string[] {
  return /[\ud800-\udfff]/.test(names.join('')) ? names.sort(byCodePoint) : names.sort();
}
