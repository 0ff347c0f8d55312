/**
 * A set of characters in brackets: `[abc]`, `[a-z]`, `[!a-z]`, `[[:digit:]_]`.
 *
 * Promise: it is read as git reads it. A `]` at the start and a `-` at either end are members, a backslash
 * makes the next character a member, and of a range that goes down only its first character is a member. The
 * classes are those of ASCII. Imports nothing.
 */

export interface Characters {
  readonly set: readonly (readonly [from: number, to: number])[];
  /** Whether the characters are those that are not in the set. */
  readonly not: boolean;
}

const classes: Readonly<Record<string, string>> = {
  alnum: 'azAZ09',
  alpha: 'azAZ',
  blank: '  \t\t',
  cntrl: '\x00\x1f\x7f\x7f',
  digit: '09',
  graph: '!~',
  lower: 'az',
  print: ' ~',
  punct: '!/:@[`{~',
  space: '  \t\n\r\r',
  upper: 'AZ',
  xdigit: '09AFaf',
};

/**
 * Returns the set that begins at the bracket `chars[open]`, and where it ends. Returns `undefined` if it has
 * no end.
 */
export function setAt(
  chars: readonly string[],
  open: number,
): { readonly characters: Characters; readonly end: number } | 'unknown class' | undefined {
  let i = open + 1;
  const not = chars[i] === '!' || chars[i] === '^';
  if (not) i++;
  const set: [number, number][] = [];
  /** The character before, if a range can begin with it. */
  let before: number | undefined;
  for (const first = i; i < chars.length; i++) {
    const char = chars[i];
    if (char === ']' && i > first) return { characters: { set, not }, end: i };
    const name = char === '[' && chars[i + 1] === ':' ? classAt(chars, i + 2) : undefined;
    if (name !== undefined) {
      const ranges = Object.hasOwn(classes, name) ? classes[name] : undefined;
      if (ranges === undefined) return 'unknown class';
      for (let at = 0; at < ranges.length; at += 2) set.push([ranges.charCodeAt(at), ranges.charCodeAt(at + 1)]);
      i += name.length + 3;
      before = undefined;
    } else if (char === '-' && before !== undefined && chars[i + 1] !== ']') {
      if (chars[++i] === '\\') i++;
      set.push([before, codeOf(chars[i])]);
      before = undefined;
    } else {
      if (char === '\\') i++;
      before = codeOf(chars[i]);
      set.push([before, before]);
    }
  }
  return undefined;
}

/** No name is longer. The limit keeps `[[:[:[:…` from being looked through to its end at each colon. */
const maxClass = 16;

/** The name in `[:name:]`, if these characters begin one. */
function classAt(chars: readonly string[], start: number): string | undefined {
  const near = chars.slice(start, start + maxClass);
  const end = near.indexOf(']');
  return end > 0 && near[end - 1] === ':' ? near.slice(0, end - 1).join('') : undefined;
}

function codeOf(char: string | undefined): number {
  return char?.codePointAt(0) ?? 0;
}
