/** The forms in which a text is hidden, each made from a plain one. The same text always has the same form. */

/** A small generator, so that each text has its own typos at each run. */
function chance(text: string): () => number {
  let state = 0x9e3779b9;
  for (const letter of text) state = Math.imul(state ^ (letter.codePointAt(0) as number), 0x85ebca6b) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const withoutSpaces = /[\u3040-\u30ff\u4e00-\u9fff]/;

/** One typo in every second word of five letters or more: two letters swapped, one left out, or one doubled. */
function misspelt(text: string): string {
  const next = chance(text);
  if (withoutSpaces.test(text)) return doubled(text, Math.floor(next() * text.length));
  return text
    .split(' ')
    .map((word) => (word.length < 5 || next() < 0.5 ? word : typo(word, 1 + Math.floor(next() * (word.length - 3)), next()))) // biome-ignore format: one line
    .join(' ');
}

const doubled = (text: string, at: number): string => text.slice(0, at) + text.charAt(at) + text.slice(at);

function typo(word: string, at: number, which: number): string {
  if (which < 1 / 3) return word.slice(0, at) + word.charAt(at + 1) + word.charAt(at) + word.slice(at + 2);
  if (which < 2 / 3) return word.slice(0, at) + word.slice(at + 1);
  return doubled(word, at);
}

const spaced = (text: string): string =>
  text
    .split(' ')
    .map((word) => [...word].join(' '))
    .join('   ');

const latin = 'aceiopsxyjhABCEHIKMOPTX';
const cyrillic = 'асеіорѕхујһАВСЕНІКМОРТХ';

/** Look-alike letters of another script, or, where there are none, letters that nobody sees between the others. */
function lookAlike(text: string): string {
  const next = chance(text);
  const swap = (from: string, to: string): string =>
    [...text].map((letter) => (from.includes(letter) && next() < 0.6 ? (to[from.indexOf(letter)] as string) : letter)).join(''); // biome-ignore format: one line
  if (/[а-я]/i.test(text)) return swap(cyrillic, latin);
  if (/[a-z]{3}/i.test(text)) return swap(latin, cyrillic);
  return [...text].join('\u200b');
}

const digits: Readonly<Record<string, string>> = { a: '4', e: '3', i: '1', o: '0', s: '5', t: '7', о: '0', з: '3', ч: '4', б: '6' }; // biome-ignore format: one line
/** Digits for letters. Undefined for a script that has none. */
const leet = (text: string): string | undefined =>
  /[a-zа-я]{3}/i.test(text) ? [...text].map((letter) => digits[letter.toLowerCase()] ?? letter).join('') : undefined;

const quoted = (text: string): string => `Here is what was written yesterday:\n> “${text}”\n> --\nPlease advise.`;

function inLink(text: string): string {
  const slug = text.toLowerCase().replace(/[^\p{L}\p{M}\p{N}]+/gu, '-').replace(/^-|-$/g, ''); // biome-ignore format: one line
  return chance(text)() < 0.5
    ? `see https://notes.example/view?id=81&text=${encodeURIComponent(text)}`
    : `https://blog.example/2026/11/${encodeURI(slug)}`;
}

const inBase64 = (text: string): string => Buffer.from(text).toString('base64');

export const FORMS: Readonly<Record<string, (text: string) => string | undefined>> = {
  misspelt,
  'spaced out': spaced,
  'look-alike letters': lookAlike,
  'digits for letters': leet,
  quoted,
  'in a link': inLink,
  base64: inBase64,
};
