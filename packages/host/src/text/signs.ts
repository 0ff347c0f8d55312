/**
 * Finds signs that look like an ASCII sign, such as `∕` for `/`.
 *
 * Promise: such a sign is found where a person would read it as part of an address, a path or an option, so
 * `https://good.example∕x@other.example` is not taken for an address of good.example. A sign that is usual in its
 * place is not found: a dash between words, or a full stop after Japanese text.
 */

/** Signs that are unusual next to ASCII text. */
const rare: ReadonlyMap<string, string> = new Map(
  [
    ['/', '\u2215\u2044\u29f8\u27cb\u2571'],
    ['\\', '\u2216\u29f5\u27cd\u2572'],
    ['.', '\u2024\u2025'],
    [':', '\ua789\u2236\u02d0\u0589\u05c3'],
    [';', '\u037e'],
    ['!', '\u01c3'],
    ['*', '\u2217\u204e'],
    ['|', '\u2223\u2758'],
    ['-', '\ufe63'],
    ['@', '\ufe6b'],
  ].flatMap(([ascii, others = '']) => [...others].map((other) => [other, ascii ?? ''] as const)),
);
const anyRare = `[${[...rare.keys()].join('')}]`;
const nextToAscii = new RegExp(`(?<=[!-~])${anyRare}|${anyRare}(?=[!-~])`, 'gu');

/** Wide forms and the Japanese full stop are usual in East Asian text, also beside one ASCII word. */
const wideBetweenAscii = /(?<=[!-~])[\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff5e\u3002](?=[!-~])/gu;

/** A dash at the beginning of a word looks like the dash of an option. */
const dashOfOption = /(?<![^\s])[\u2010-\u2015\u2212\ufe63\uff0d](?=[A-Za-z])/gu;

const looksLike = (sign: string): string =>
  rare.get(sign) ?? (sign === '\u3002' ? '.' : /^[\uff01-\uff5e]$/u.test(sign) ? sign.normalize('NFKC') : '-');

/** Returns each such sign once, and the ASCII sign that it looks like. */
export const signsIn = (text: string): readonly (readonly [sign: string, ascii: string])[] => {
  const found = [nextToAscii, wideBetweenAscii, dashOfOption].flatMap((one) => text.match(one) ?? []);
  return [...new Set(found)].map((sign) => [sign, looksLike(sign)] as const);
};
