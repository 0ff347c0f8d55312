/**
 * Makes text of others safe to show to a person who decides something.
 *
 * Promise: the result has no character that a screen does not show as itself: no control, no change of
 * direction, nothing of no width, no odd space, no pile of marks. Each is written by its number,
 * `⟦U+202E⟧`. Two different texts stay different unless they are cut, and a cut says how much is missing.
 * Letters and signs that look like others are named beside the text.
 */
import { lookalikes } from './lookalikes.ts';
import { signsIn } from './signs.ts';

/** A text of somebody else as it is shown, with warnings. */
export interface SafeText {
  readonly text: string;
  /** Warnings that a person should read first. Most texts have none. */
  readonly flags: readonly string[];
}

const charNames: Readonly<Record<string, string>> = { '\n': 'NL', '\r': 'CR', '\t': 'TAB' };

/**
 * Letters, digits, punctuation, symbols, the space; a mark where it stands after something. Not: C (controls,
 * format, surrogates, private and unassigned), Z (all spaces but one, line and paragraph breaks), what
 * Unicode says may be left out when shown (fillers, selectors, joiners), our own brackets and quotes.
 */
const plain = /^[\p{L}\p{N}\p{P}\p{S}\p{M} ]$/u;
const invisible = /^[\p{Default_Ignorable_Code_Point}\p{Variation_Selector}\u{2800}]$/u;
/** Our brackets and quotes, and characters that look like them, such as white square brackets and double primes. */
const ourMarks = '⟦⟧〚〛“”‟❝❞〝〞″‶ʺˮ˝˶＂\u{1f676}\u{1f677}';
/** Two of these in a row look like one of our quotes. */
const singleQuotes = '‘’‛❛❜′‵ʹʼʻʽˈˊ´＇';
/** `\p` is in a class, because the bundler compiles a pattern with `\p` outside of a class when it is loaded. */
const mark = /^[\p{M}]$/u;
/** More on one letter reach over the lines above and below. */
const mostMarks = 2;

const numbered = (char: string): string =>
  `⟦${charNames[char] ?? `U+${(char.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')}`}⟧`;

/**
 * `text`, with `instead(char)` for each character that a screen does not show as itself, or that is in `not`.
 */
function escapeWith(text: string, instead: (char: string) => string, not = ''): string {
  let out = '';
  // At the beginning a mark would stand on what is not part of the text.
  let marks = mostMarks;
  let last = '';
  for (const char of text) {
    // Most characters end here. The tests below take a microsecond each.
    if (char >= ' ' && char <= '~') {
      out += char;
      marks = 0;
      last = '';
      continue;
    }
    const isDouble = not !== '' && last !== '' && singleQuotes.includes(char) && singleQuotes.includes(last);
    last = char;
    const isMark = mark.test(char);
    const shown =
      plain.test(char) && !invisible.test(char) && !not.includes(char) && !isDouble && !(isMark && marks >= mostMarks);
    marks = isMark ? marks + 1 : 0;
    if (shown) out += char;
    else {
      out += instead(char);
      marks = mostMarks;
    }
  }
  return out;
}

const plainAscii = /^[ -~]*$/;
/** Printable ASCII, typographic quotes, and the ellipsis. It avoids the patterns of `escapeWith`: 1 ms to compile. */
const plainLine = /^[ -~\u2018-\u201d\u2026]*$/;

/**
 * Escapes all of `text`. Our own brackets and quotes in it are escaped too, and characters that look like them. So only
 * the host can write them.
 */
export const escaped = (text: string): string => (plainAscii.test(text) ? text : escapeWith(text, numbered, ourMarks));

/**
 * Text of several lines of somebody who is not trusted: each line is escaped like `escaped`, and line breaks and tabs
 * stay. A carriage return before a line break is left out.
 */
export const safeLines = (text: string): string =>
  text
    .split(/\r?\n/)
    .map((line) => line.split('\t').map(escaped).join('\t'))
    .join('\n');

/** One line for a terminal, which may have our brackets and quotes in it already. */
export const terminalLine = (line: string): string => (plainLine.test(line) ? line : escapeWith(line, numbered));

const unicodeEscape = (char: string): string =>
  char.split('').map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''); // biome-ignore format: one line

/** JSON text on one line, as JSON text of the same data that a terminal shows as it is. */
export const terminalJson = (json: string): string => (plainAscii.test(json) ? json : escapeWith(json, unicodeEscape));

/** Escaped, at most about `longest` characters of it, with what it might be mistaken for. */
export const safeText = (given: string, longest: number): SafeText => ({
  text: shortened(given, longest),
  flags: flagsOf(given),
});

/** The text of `safeText` without its flags, between quotes of ours, which nothing in the text can close. */
export const quoted = (text: string, longest: number): string => `“${shortened(text, longest)}”`;

function shortened(given: string, longest: number): string {
  const [part, left] = cut(given, longest);
  return left === 0 ? escaped(part) : `${escaped(part)} ⟦cut: ${left} more characters⟧`;
}

/** Never in the middle of a character. */
function cut(text: string, longest: number): readonly [part: string, left: number] {
  if (text.length <= longest) return [text, 0];
  const end = /[\uD800-\uDBFF]/.test(text.charAt(longest - 1)) ? longest - 1 : longest;
  return [text.slice(0, end), text.length - end];
}

const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;
const directions = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/u;
const harmless = /[\n\t\r]/g;
/** No further than a person would be shown. */
const mostLooked = 20_000;
const mostFlags = 5;

/** Returns warnings about a text, in the words of the host. */
export function flagsOf(text: string): readonly string[] {
  const flags: string[] = [];
  const part = text.slice(0, mostLooked);
  if (directions.test(part)) flags.push('it has characters that change the direction of text');
  if (hidden.test(part.replaceAll(harmless, '').replaceAll(new RegExp(directions, 'gu'), '')))
    flags.push('it has characters that are not seen');
  for (const [word] of part.matchAll(/[\p{L}\p{N}\p{M}]+/gu)) flags.push(...wordFlags(word, part));
  for (const [sign, ascii] of signsIn(part))
    flags.push(`“${sign}”: ${numbered(sign).slice(1, -1)} looks like ${ascii}`);
  const told = [...new Set(flags)];
  return told.length <= mostFlags ? told : [...told.slice(0, mostFlags), `and ${told.length - mostFlags} more`];
}

const scripts = ['Latin', 'Greek', 'Cyrillic', 'Armenian', 'Cherokee', 'Coptic', 'Lisu', 'Hebrew', 'Arabic', 'Georgian'] as const; // biome-ignore format: one line
let made: readonly (readonly [string, RegExp])[] | undefined;
/** Made when a word first needs them. Most programs show no such word. */
const scriptOf = (): readonly (readonly [string, RegExp])[] => {
  made ??= scripts.map((name) => [name, new RegExp(`\\p{Script=${name}}`, 'u')]);
  return made;
};

/**
 * Warns of a word that mixes alphabets, that is wholly made of letters that pass for Latin ones or of letters in
 * disguise, or that looks like another word because its characters are not in the usual form (NFC).
 */
function wordFlags(word: string, around: string): readonly string[] {
  if (/^[ -~]*$/.test(word)) return [];
  const shown = `“${escaped(word.slice(0, 40))}”`;
  const chars = [...word];
  const used = scriptOf()
    .filter(([, script]) => script.test(word))
    .map(([name]) => name);
  const passes = chars.filter((char) => lookalikes.has(char));
  const which = passes.slice(0, 3).map((char) => `${numbered(char).slice(1, -1)} looks like ${lookalikes.get(char)}`).join(', '); // biome-ignore format: one line
  if (used.length > 1) return [`${shown} mixes ${used.join(' and ')} letters${which === '' ? '' : `: ${which}`}`];
  const letters = chars.filter((char) => /\p{L}/u.test(char));
  // One or two such letters are a word of many a language: they pass where the text is in that alphabet.
  const native = letters.length < 3 && scriptOf().some(([name, script]) => used.includes(name) && [...around].some((char) => script.test(char) && !lookalikes.has(char))); // biome-ignore format: one line
  if (!used.includes('Latin') && letters.length > 0 && !native && letters.every((char) => lookalikes.has(char)))
    return [`${shown} is made of letters that look like Latin ones: ${which}`];
  const plainly = word.normalize('NFKC');
  const usual = word.normalize('NFC');
  if (plainly !== usual && /[\x21-\x7e]/.test(plainly))
    return [`${shown} is written with letters in disguise: it reads “${escaped(plainly.slice(0, 40))}”`];
  // In other scripts, such as Bengali, some letters are usually typed in a form that differs from NFC.
  if (usual !== word && used.some((name) => ['Latin', 'Greek', 'Cyrillic'].includes(name)))
    return [`${shown} looks like “${escaped(usual.slice(0, 40))}”, which is written with other characters`];
  if (used.includes('Latin') && which !== '') return [`${shown}: ${which}`];
  return [];
}
