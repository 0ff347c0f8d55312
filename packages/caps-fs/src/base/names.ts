/**
 * What a single name is: matched by a pattern, or one of our temporaries.
 *
 * Promise: nothing here does more work than the pattern's length times the name's, whatever they are. Imports nothing, so
 * that a thread which only looks through a tree starts fast.
 */

/** Temporaries of the atomic write. Not nameable and not listed: else they were a hiding place. */
export function isTemporary(name: string): boolean {
  return name.startsWith('.~caps-') && /^\.~caps-[0-9a-f]{16}$/.test(name);
}

export function temporaryName(random: (bytes: number) => Uint8Array): string {
  let name = '.~caps-';
  for (const byte of random(8)) name += hex[byte];
  return name;
}

const hex: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/**
 * Whether one of the patterns names it. As it stands, and as a directory that folds case would read it: there `.ENV` opens
 * `.env`, and so does a name with characters in it that nobody sees. Where names are told apart this hides a few more.
 */
export function namedBy(patterns: readonly string[], name: string): boolean {
  if (patterns.length === 0) return false;
  const folded = fold(name);
  return patterns.some((pattern) => matches(pattern, name) || matches(fold(pattern), folded));
}

/** As the case folding of the kernel does it: canonically decomposed, without what is ignorable, without case. */
function fold(text: string): string {
  // Most names, and cheap.
  if (/^[\x20-\x7e]*$/.test(text)) return text.toUpperCase();
  const bare = text.normalize('NFD').replace(/\p{Default_Ignorable_Code_Point}/gu, '');
  return bare.toLowerCase().toUpperCase().normalize('NFC');
}

/** The most that comparing one name with these takes, in characters: each once, and what stands between two stars at each place. */
export function weightOf(patterns: readonly string[]): number {
  let weight = 0;
  for (const pattern of patterns) {
    const between = pattern.split('*').slice(1, -1);
    weight += pattern.length + 255 * Math.max(0, ...between.map((part) => part.length));
  }
  return weight;
}

/** `*` and `?`. Two pointers and one place to come back to. */
export function matches(pattern: string, name: string): boolean {
  const wanted = [...pattern];
  const given = [...name];
  const last = wanted.lastIndexOf('*');
  // What stands behind the last star is how the name ends: compared there, and not at each place.
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

/** In the order of code points. JavaScript compares units of UTF-16, which differs only where there are surrogates. */
export function inOrder(names: string[]): string[] {
  return /[\ud800-\udfff]/.test(names.join('')) ? names.sort(byCodePoint) : names.sort();
}
