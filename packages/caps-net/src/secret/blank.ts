/**
 * Blanks the values of secrets out of texts.
 *
 * Promise: the result has no value of a secret: not as it is, not as JSON text, not URL-encoded, not in hex, and not in
 * base64, also if the base64 is of a longer text with the value in it. Values that overlap are blanked as one. A text
 * that comes in parts is blanked as if it came whole. A text without a value stays as it is.
 *
 * Limits: an encoding that is not listed here, a value that is cut, and one that is split by other characters, stay.
 * So blank a text before it is cut.
 */

/** Takes the place of a value. Shorter than any value, and no value has its brackets. */
export const BLANK = '⟦secret⟧';

/** Blanks texts. */
export interface Blanker {
  /** A whole text. */
  text(text: string): string;
  /** A text that comes in parts. `end` returns the rest. */
  stream(): { next(part: string): string; end(): string };
}

/** A line of a value of several lines is blanked by itself if it is as long. */
const LONG_LINE = 16;

/** Blanks these values. */
export function blankerOf(values: Iterable<string>): Blanker {
  const forms = [...new Set([...values].flatMap(formsOf))];
  const longest = Math.max(0, ...forms.map((form) => form.length));
  return {
    text: (text) => blanked(text, forms),
    stream: () => (longest === 0 ? { next: (part) => part, end: () => '' } : streamOf(forms, longest)),
  };
}

/** The texts in which a value may stand. */
export function formsOf(value: string): readonly string[] {
  const json = JSON.stringify(value).slice(1, -1);
  const ascii = json.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const url = encodeURIComponent(value);
  const strict = url.replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
  const bytes = Buffer.from(value);
  const whole = [
    value,
    value.replaceAll(/\r?\n/g, '\r\n'),
    json,
    json.replaceAll('/', '\\/'),
    ascii,
    ascii.replaceAll('/', '\\/'),
    ascii.replace(/\\u[0-9a-f]{4}/g, (unit) => `\\u${unit.slice(2).toUpperCase()}`),
    url,
    strict,
    encodeURI(value),
    url.replaceAll('%20', '+'),
    strict.replaceAll('%20', '+'),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
  ];
  const lower = whole.map((form) => form.replace(/%[0-9A-F]{2}/g, (unit) => unit.toLowerCase()));
  const lines = value.split(/\r?\n/).filter((line) => line.length >= LONG_LINE && line !== value);
  return [...new Set([...whole, ...lower, ...lines, ...base64FormsOf(bytes)])];
}

/** The characters of base64 that depend on the value alone, wherever it begins in a longer text. */
function base64FormsOf(bytes: Buffer): readonly string[] {
  const standard = [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    const [first, end] = [Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6)];
    return text.slice(first, end);
  });
  return [...standard, ...standard.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'))];
}

/** From, and the place after. */
type Span = readonly [from: number, to: number];

/** Where the forms stand. Spans that overlap or touch are one. */
function spansIn(text: string, forms: readonly string[], before: readonly Span[] = []): readonly Span[] {
  const found: Span[] = [...before];
  for (const form of forms)
    for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + 1)) found.push([at, at + form.length]);
  const merged: [number, number][] = [];
  for (const [from, to] of found.sort(([a], [b]) => a - b)) {
    const last = merged.at(-1);
    if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], to);
    else merged.push([from, to]);
  }
  return merged;
}

function blanked(text: string, forms: readonly string[]): string {
  let out = '';
  let at = 0;
  for (const [from, to] of spansIn(text, forms)) {
    out += text.slice(at, from) + BLANK;
    at = to;
  }
  return out + text.slice(at);
}

/** Keeps back as much as the beginning of a value may have. */
function streamOf(forms: readonly string[], longest: number): { next(part: string): string; end(): string } {
  let kept = '';
  /** So much of the beginning of `kept` belongs to a span whose mark was written. Such a span may end at 0. */
  let marked: number | undefined;
  const take = (part: string, most: number): string => {
    kept += part;
    const cut = Math.max(0, kept.length - most);
    if (cut === 0) return '';
    let out = '';
    let at = 0;
    let next: number | undefined;
    for (const [from, to] of spansIn(kept, forms, marked === undefined ? [] : [[0, marked]])) {
      if (from >= cut) break;
      out += kept.slice(at, from) + (from === 0 && marked !== undefined ? '' : BLANK);
      at = to;
      next = to >= cut ? to - cut : undefined;
    }
    out += kept.slice(at, Math.max(at, cut));
    kept = kept.slice(cut);
    marked = next;
    return out;
  };
  return { next: (part) => take(part, longest - 1), end: () => take('', 0) };
}
