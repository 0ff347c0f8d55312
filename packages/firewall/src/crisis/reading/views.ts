/**
 * The ways in which a text can be read.
 *
 * A person reads through spacing, look-alike letters, digits in the place of letters, invisible characters, links and
 * encodings. Each view is one such reading, as plain lower-case text.
 */

/**
 * The texts of a call are judged up to this length together. The caller must treat more as text that nobody judged: a
 * text is judged within a turn, and other sessions wait for it. 5,000 characters took up to 57 ms.
 */
export const longestText = 3000;
/** Encodings within encodings. */
const deepest = 3;

/** Returns the readings of a text, without repetitions. The first one is the text itself. */
export function viewsOf(text: string): readonly string[] {
  const views = new Set<string>();
  read(text, views, 0);
  return [...views];
}

function read(text: string, views: Set<string>, depth: number): void {
  const plain = plainText(text);
  const latin = withLatinLookalikes(plain);
  const readings = [plain, latin, withoutLeet(latin)];
  if (/[\u0400-\u04ff]/.test(plain)) readings.push(withCyrillicLookalikes(plain));
  for (const view of readings) {
    views.add(view);
    const joined = withSpacedWordsJoined(view);
    if (joined !== view) views.add(joined);
  }
  if (depth < deepest) for (const inner of decoded(text)) read(inner, views, depth + 1);
}

/** Invisible characters, Latin accents and Arabic vowel marks. The marks of other scripts are letters to a reader. */
const unread =
  /\p{Cf}|\p{Cc}|\u034F|[\u115F\u1160\u3164\uFFA0]|[\u17B4\u17B5]|[\uFE00-\uFE0F]|[\u0300-\u036F]|[\u064B-\u065F]|\u0670|\u0640/gu;

function plainText(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/[\n\r\t]/g, ' ')
    .replace(unread, '')
    .normalize('NFC')
    .toLowerCase()
    .replace(/[’‘`´ʼ]/g, "'");
}

const lookalikes: Readonly<Record<string, string>> = {
  ...{ а: 'a', в: 'b', е: 'e', ё: 'e', з: '3', і: 'i', ї: 'i', ј: 'j', к: 'k', м: 'm', н: 'h', о: 'o', р: 'p' },
  ...{ с: 'c', т: 't', у: 'y', х: 'x', ѕ: 's', ԁ: 'd', ԛ: 'q', ԝ: 'w', ү: 'y', һ: 'h', ӏ: 'l', п: 'n', г: 'r' },
  ...{ α: 'a', β: 'b', ε: 'e', η: 'n', ι: 'i', κ: 'k', μ: 'u', ν: 'v', ο: 'o', ρ: 'p', σ: 'o', ς: 's', τ: 't' },
  ...{ υ: 'u', χ: 'x', ω: 'w', γ: 'y', ı: 'i', ł: 'l', ø: 'o', đ: 'd', ħ: 'h', ß: 'b', ſ: 's', ɡ: 'g', ɩ: 'i' },
  ...{ ʟ: 'l', ᴋ: 'k', ɪ: 'i', ᴍ: 'm', ʏ: 'y', ꜱ: 's', ᴇ: 'e', ꜰ: 'f', ᴅ: 'd', ᴜ: 'u', ᴄ: 'c', ᴀ: 'a', ɴ: 'n' },
  ...{ ᴛ: 't', ʜ: 'h', ʀ: 'r', ᴏ: 'o', ᴘ: 'p', ᴡ: 'w', ʙ: 'b', ɢ: 'g', ᴠ: 'v', ᴢ: 'z', ᴊ: 'j' },
};

function withLatinLookalikes(text: string): string {
  // Most texts have none of them.
  return text.replace(/\P{ASCII}/gu, (letter) => lookalikes[letter] ?? letter);
}

/** The other way: Latin letters, and digits, in the place of Cyrillic ones. A word that has other Latin letters stays. */
const cyrillic: Readonly<Record<string, string>> = {
  ...{ a: 'а', b: 'в', c: 'с', e: 'е', h: 'н', i: 'и', k: 'к', m: 'м', n: 'п', o: 'о', p: 'р', t: 'т', u: 'и' },
  ...{ x: 'х', y: 'у', r: 'г', '0': 'о', '3': 'з', '4': 'ч', '6': 'б' },
};

function withCyrillicLookalikes(text: string): string {
  return text.replace(/[\p{L}\p{N}]+/gu, (word) => {
    let read = '';
    for (const letter of word) {
      const other = /[a-z0-9]/.test(letter) ? cyrillic[letter] : letter;
      if (other === undefined) return word;
      read += other;
    }
    return /^\p{N}+$/u.test(word) ? word : read;
  });
}

const leet: Readonly<Record<string, string>> = {
  ...{ '0': 'o', '1': 'i', '3': 'e', '4': 'a', '5': 's', '7': 't', '8': 'b', '9': 'g' },
  ...{ '@': 'a', $: 's', '!': 'i', '|': 'l', '+': 't', '€': 'e', '£': 'l', '(': 'c' },
};

/** How many words with letters and digits make a text one in which short numbers are words, too ("70" for "to"). */
const manyMixed = 3;

/** Within words that have letters, too. Numbers stay numbers, unless the text has many such words. */
function withoutLeet(text: string): string {
  const mixed = text.match(/(?=[0-9]*\p{L})(?=\p{L}*[0-9])[\p{L}0-9]+/gu)?.length ?? 0;
  return text.replace(/[\p{L}0-9@$!|+€£(]+/gu, (word) => {
    const isNumber = !/\p{L}/u.test(word);
    if ((isNumber && (mixed < manyMixed || word.length > 4)) || !/[0-9@$!|+€£(]/.test(word)) return word;
    const letters = word.replace(/[!(+|]+$/, '');
    let read = '';
    for (const letter of letters) read += leet[letter] ?? letter;
    return read + word.slice(letters.length);
  });
}

/** Joins "k i l l" and "k.i.l.l". Two spaces, or a space among other separators, end the word. */
function withSpacedWordsJoined(text: string): string {
  return text.replace(
    /(?<![\p{L}\p{M}\p{N}])[\p{L}\p{N}@$!](?:[ .\-_*~/,]{1,3}[\p{L}\p{M}\p{N}@$!'](?![\p{L}\p{M}\p{N}])){2,}/gu,
    (run) => {
      const letters = run.split(/[ .\-_*~/,]+/);
      const gap = /[.\-_*~/,]/.test(run) ? / +/ : / {2,}/;
      const words = run.split(gap).map((word) => word.replace(/[ .\-_*~/,]/g, ''));
      return words.every((word) => word.length === 1) ? letters.join('') : words.join(' ');
    },
  );
}

/** Texts within a text: the parts of a link, base64, percent, HTML and Unicode escapes. */
function* decoded(text: string): Generator<string> {
  for (const [link] of text.matchAll(/https?:\/\/\S+/gi)) yield* partsOf(link);
  if (/%[0-9a-f]{2}/i.test(text)) yield unescaped(text, /(?:%[0-9a-f]{2})+/gi, fromPercent);
  if (/&#x?[0-9a-f]+;/i.test(text)) yield unescaped(text, /&#(x?)([0-9a-f]+);/gi, fromEntity);
  if (/\\u[0-9a-f]{4}/i.test(text)) yield unescaped(text, /\\u([0-9a-f]{4})/gi, (_, code) => fromCode(Number.parseInt(String(code), 16))); // biome-ignore format: one line
  for (const [run] of text.matchAll(/[A-Za-z0-9+/_-]{12,}={0,2}/g)) {
    const inner = fromBase64(run);
    if (inner !== undefined) yield inner;
  }
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const hex = /^[0-9a-f]{12,}$/i;
const mixed = /^(?=.*[a-z])(?=.*[A-Z])(?=.*\d|.*[a-z][A-Z]+[a-z]+[A-Z])/;

/** Four or more short words with the same sign between them. By chance a key almost never looks so. */
const joined = /^[a-z0-9]{1,7}([-_])[a-z0-9]{1,7}(?:\1[a-z0-9]{1,7}){2,}$/i;

const isId = (token: string): boolean =>
  !joined.test(token) &&
  (uuid.test(token) || (hex.test(token) && /\d/.test(token)) || mixed.test(token)) &&
  fromBase64(token) === undefined;

/**
 * The text without ids, digests, keys and long numbers, which are no words however they are read. What is readable text
 * in base64 stays, and so do links.
 */
export function withoutIds(text: string): string {
  return text.replace(/https?:\/\/\S+|[A-Za-z0-9+/_=-]{12,}/gi, (token) =>
    isId(token) && !/^https?:/i.test(token) ? ' ' : token,
  );
}

/** The parts of the path and of the query of a link that are several words. */
function* partsOf(link: string): Generator<string> {
  for (const part of link.split(/[/?&=#]+/).slice(2)) {
    const words = fromPercent(part).replace(/[-_+]+/g, ' ');
    if (/\S\s+\S/.test(words) || unspaced.test(words)) yield words;
  }
}

const unspaced = /[\u3040-\u30ff\u4e00-\u9fff]{3}/;

function unescaped(text: string, pattern: RegExp, of: (whole: string, ...parts: unknown[]) => string): string {
  return text.replace(pattern, of as never);
}

function fromPercent(whole: string): string {
  try {
    return decodeURIComponent(whole);
  } catch {
    return ' ';
  }
}

const fromEntity = (_whole: string, hex: unknown, digits: unknown): string =>
  fromCode(Number.parseInt(String(digits), hex === '' ? 10 : 16));

const fromCode = (code: number): string => (code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : ' ');

const strict = new TextDecoder('utf-8', { fatal: true });

/** The text that is encoded, or undefined if these bytes are no text that a person reads. */
function fromBase64(run: string): string | undefined {
  try {
    const binary = atob(run.replace(/-/g, '+').replace(/_/g, '/').replace(/=+$/, ''));
    const bytes = Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
    const text = strict.decode(bytes);
    const readable = text.match(/[\p{L}\p{M}\p{N}\p{P}\p{Zs}\n]/gu)?.length ?? 0;
    return readable >= text.length * 0.9 && text.length >= 6 ? text : undefined;
  } catch {
    return undefined;
  }
}
