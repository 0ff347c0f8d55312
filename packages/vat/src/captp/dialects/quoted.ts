/**
 * Writes values with long strings as JSON.
 *
 * Promise: the result equals that of `JSON.stringify`, letter for letter. `JSON.stringify` takes 4.5 ms for a
 * million letters, because it checks each letter for an escape. A long string without such a letter (base64,
 * a single line) is found here in a third of that time, and copied.
 */
/** Minimum length of a string that is checked. */
export const longText = 1000;
/** Maximum parts of a list or a record that are searched for a long string. */
const few = 8;
/** Maximum depth of the search: an operation, its arguments, a record that stands for bytes. */
const deep = 4;
/** Maximum quotes in a JSON text for which copying the text between them is faster. */
const fewQuotes = 64;

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones that JSON writes otherwise.
const control = /[\0-\x1f]/;

/** A lone surrogate is written as an escape too. */
const isPlain = (text: string): boolean =>
  !text.includes('"') && !text.includes('\\') && !control.test(text) && text.isWellFormed();

const quoted = (text: string): string =>
  text.length >= longText && isPlain(text) ? `"${text}"` : JSON.stringify(text);

/** For encoded data only: it must have no `toJSON` method and no value that JSON omits. */
export function toJson(value: unknown): string {
  return holdsLong(value, deep) ? written(value, deep) : JSON.stringify(value);
}

function holdsLong(value: unknown, depth: number): boolean {
  if (typeof value === 'string') return value.length >= longText;
  if (typeof value !== 'object' || value === null || depth === 0) return false;
  if (Array.isArray(value)) return value.length <= few && value.some((item) => holdsLong(item, depth - 1));
  let keys = 0;
  let found = false;
  for (const key in value) {
    keys += 1;
    if (keys > few) return false;
    found ||= holdsLong((value as Readonly<Record<string, unknown>>)[key], depth - 1);
  }
  return found;
}

function written(value: unknown, depth: number): string {
  if (typeof value === 'string') return quoted(value);
  if (!holdsLong(value, depth)) return JSON.stringify(value);
  // `join` copies the long string at once. `+=` copies it only when the result is first read.
  let made = '';
  if (Array.isArray(value)) {
    for (const item of value) made += `${made === '' ? '' : ','}${written(item, depth - 1)}`;
    return `[${made}]`;
  }
  for (const [key, item] of Object.entries(value as object))
    made += `${made === '' ? '' : ','}${quoted(key)}:${written(item, depth - 1)}`;
  return `{${made}}`;
}

/** Quotes a text that `toJson` or `JSON.stringify` wrote. Only its quotes and backslashes need an escape. */
export function jsonOfJson(text: string): string {
  if (text.length < longText || text.includes('\\')) return JSON.stringify(text);
  let made = '"';
  let from = 0;
  for (let quotes = 0; quotes <= fewQuotes; quotes += 1) {
    const quote = text.indexOf('"', from);
    if (quote < 0) return `${made}${text.slice(from)}"`;
    made += `${text.slice(from, quote)}\\"`;
    from = quote + 1;
  }
  return JSON.stringify(text);
}
