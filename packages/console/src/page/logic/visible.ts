/**
 * Texts of others as parts that can be shown: ordinary text, and characters that would not be seen or would change how
 * the rest is read.
 *
 * Promise: every character that draws nothing, moves text or looks like an ASCII letter in a word of another script is a
 * part of its own, with its number. The parts together are the whole text, and a text that is cut says how much is left out.
 */

/** `odd`: shown by its number. `alike`: shown as it is, and marked. `cut`: so many characters are not shown. */
export type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'odd'; readonly text: string; readonly name: string }
  | { readonly kind: 'alike'; readonly text: string; readonly name: string }
  | { readonly kind: 'cut'; readonly count: number };

/** Characters without a shape of their own, and those that change the order of others. Line ends and tabs are none. */
const ODD =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]|\u034f|\u115f|\u1160|\u17b4|\u17b5|\u3164|\uffa0|[\ufe00-\ufe0f]/u;
/** Spaces that are not the usual one. */
const SPACES = /[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/u;
/** Letters of scripts that have letters of ASCII's shape. */
const ALIKE = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}]/u;
/** Letters of mathematics and full-width ones: ASCII in another dress. */
const DRESSED = /[\u{1d400}-\u{1d7ff}\uff01-\uff5e]/u;
const LATIN = /\p{Script=Latin}/u;
const WORD = /[\p{L}\p{M}\p{N}_-]+/gu;

/** `U+202E` */
const nameOf = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;

/** The parts of `text`. With `most` a longer text is cut in its middle: its head and its tail are shown. */
export function partsOf(text: string, most: number = Number.POSITIVE_INFINITY): readonly Part[] {
  const characters = [...text];
  if (characters.length <= most) return marked(text);
  const tail = Math.floor(most / 4);
  const head = most - tail;
  return [
    ...marked(characters.slice(0, head).join('')),
    { kind: 'cut', count: characters.length - most },
    ...marked(characters.slice(characters.length - tail).join('')),
  ];
}

function marked(text: string): readonly Part[] {
  const alike = lookalikesIn(text);
  const parts: Part[] = [];
  let plain = '';
  let at = 0;
  for (const character of text) {
    const kind = isOdd(character) ? 'odd' : alike.has(at) ? 'alike' : undefined;
    at += character.length;
    if (kind === undefined) {
      plain += character;
      continue;
    }
    if (plain !== '') parts.push({ kind: 'text', text: plain });
    plain = '';
    parts.push({ kind, text: character, name: nameOf(character) });
  }
  if (plain !== '') parts.push({ kind: 'text', text: plain });
  return parts;
}

const isOdd = (character: string): boolean =>
  character !== '\n' && character !== '\t' && (ODD.test(character) || SPACES.test(character));

/** The places of letters that stand in a word with letters of ASCII's script, or are ASCII in another dress. */
function lookalikesIn(text: string): ReadonlySet<number> {
  const found = new Set<number>();
  for (const { 0: word, index } of text.matchAll(WORD)) {
    const mixed = LATIN.test(word);
    let at = index;
    for (const character of word) {
      if (DRESSED.test(character) || (mixed && ALIKE.test(character))) found.add(at);
      at += character.length;
    }
  }
  return found;
}
