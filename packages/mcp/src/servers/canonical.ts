/**
 * JSON text that is the same for equal data, after RFC 8785: the keys of each object in the order of their UTF-16
 * units, no spaces, numbers as ECMAScript writes them.
 *
 * Promise: two values that JSON can carry have one text exactly if they are equal as data. The order of keys and the
 * way in which a number or a string was written do not count. A lone surrogate is written as an escape, where the RFC
 * refuses it, so such a text has a seal too.
 */

/** The canonical text of a value of `JSON.parse`. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const record = value as Readonly<Record<string, unknown>>;
  const fields = Object.keys(record)
    .filter((key) => record[key] !== undefined)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(record[key])}`);
  return `{${fields.join(',')}}`;
}
