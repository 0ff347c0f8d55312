/** Results as text for a model. */
import { isReference } from '@hob/vat';

/** The most letters of a result that a model gets. */
export const longest = 50_000;

/** A result as text. A long one is cut, and the cut is told. */
export const shown = (value: unknown): string => forModel(textOf(value));

/**
 * A text that a loop can send to its model. Half a pair of surrogates, as a cut leaves it, is no text for the APIs of
 * models: they refuse the whole conversation.
 */
export function forModel(text: string, most: number = longest): string {
  const cut = text.length <= most ? text : `${text.slice(0, most)}\n… ${text.length - most} letters more`;
  return cut.toWellFormed();
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return 'done';
  if (typeof value === 'string') return value;
  if (value instanceof Uint8Array) return `${value.length} bytes, base64: ${base64(value.subarray(0, longest))}`;
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value.join('\n') || 'nothing';
  return JSON.stringify(plain(value)) ?? '<value>';
}

/**
 * As JSON can write it. A reference is never asked for its `toJSON`, and none is called as the `toJSON` of a record: both
 * would be messages to a cap, which whoever made the result chose.
 */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'function' || isReference(value)) return '<cap>';
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Uint8Array) return base64(value);
  if (Array.isArray(value)) return value.map(plain);
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, plain(item)]));
}

function base64(bytes: Uint8Array): string {
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}
