/**
 * The arguments of a call in the form in which the ledger stores them: JSON text beside the line. The line
 * holds a commitment to the text under a salt of its own. So nobody can guess a short value from the
 * commitment, and the text can be deleted while the chain still holds.
 *
 * Promise: the text contains nothing that can be used. It has only the label of a reference, the length of
 * bytes, and the prefix of a secret in Hob's format. It is at most 64 KiB for arguments of any size, and
 * making it costs no more than that. Reading the arguments runs nobody's code.
 *
 * A value that JSON lacks is written as a record with one key that begins with `$`. A key of the arguments
 * that begins with `$` gets one more, so no argument can look like a placeholder.
 */
import { types, utf8Length } from '../core/drivers/platform.ts';
import type { EncodedArgs } from '../core/ledger-entry.ts';
import { ByReference, isReference, targetOf } from '../core/reference.ts';
import { symbolKey } from '../core/symbols.ts';
import { blot, MARK } from './blot.ts';

export const MAX_ARGS_BYTES: number = 64 * 1024;

/** Keeps at most `most` bytes of each argument. */
export function encodeArgs(args: readonly unknown[], most: number = MAX_ARGS_BYTES): EncodedArgs {
  const pen: Pen = { text: '', full: false, most: MAX_ARGS_BYTES };
  const isCut = most < MAX_ARGS_BYTES ? writeEach(pen, args, most) : false;
  if (most >= MAX_ARGS_BYTES) write(pen, args, 0);
  const bytes = new TextEncoder().encode(pen.text);
  if (!pen.full && bytes.length <= MAX_ARGS_BYTES) return { bytes, argc: args.length, cut: isCut };
  const mark = new TextEncoder().encode(MARK);
  let end = Math.min(bytes.length, MAX_ARGS_BYTES - mark.length);
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1; // not inside a character
  const kept = new Uint8Array(end + mark.length);
  kept.set(bytes.subarray(0, end));
  kept.set(mark, end);
  return { bytes: kept, argc: args.length, cut: true };
}

/** Writes a list, each item with a limit of its own. Returns true if an item was cut. */
function writeEach(pen: Pen, args: readonly unknown[], most: number): boolean {
  let isCut = false;
  put(pen, '[');
  for (let i = 0; i < args.length && !pen.full; i += 1) {
    const own: Pen = { text: '', full: false, most };
    writeProperty(own, args, String(i), 0);
    const isLong = own.full || utf8Length(own.text) > most;
    isCut ||= isLong;
    put(pen, `${i > 0 ? ',' : ''}${isLong ? beginning(own.text, most) : own.text}`);
  }
  put(pen, ']');
  return isCut;
}

/** Returns the start of a text as a placeholder of at most `most` bytes, or an empty one. */
function beginning(text: string, most: number): string {
  for (let length = Math.min(text.length, most); ; length = Math.floor(length / 2)) {
    const said = `{"$cut":${JSON.stringify(text.slice(0, length) + MARK)}}`;
    if (length === 0 || utf8Length(said) <= most) return said;
  }
}

export const SALT = 32;
/** Vat data is at most 128 deep. A value from elsewhere could be a cycle. */
const MAX_DEPTH = 130;

interface Pen {
  text: string;
  full: boolean;
  /** Characters. */
  readonly most: number;
}

function put(pen: Pen, text: string): void {
  if (pen.full) return;
  pen.text += text;
  // A character is at least one byte, so a longer text cannot fit.
  if (pen.text.length > pen.most) pen.full = true;
}

function write(pen: Pen, value: unknown, depth: number): void {
  if (pen.full) return;
  switch (typeof value) {
    case 'string':
      return put(pen, quoted(value));
    case 'boolean':
      return put(pen, String(value));
    case 'number':
      // -0 is written as 0, because nothing depends on the difference.
      return Number.isFinite(value) ? put(pen, JSON.stringify(value)) : placeholder(pen, 'number', String(value));
    case 'undefined':
      return placeholder(pen, 'undefined', true);
    case 'bigint':
      return placeholder(pen, 'bigint', value < LARGE && value > -LARGE ? String(value) : MARK);
    case 'symbol':
      return placeholder(pen, 'symbol', symbolKey(value) ?? MARK);
    default:
      if (value === null) return put(pen, 'null');
      return writeObject(pen, value as object, depth);
  }
}

/** Writing a number of a million digits takes seconds, so larger ones are not written. */
const LARGE = 10n ** 60n;

function writeObject(pen: Pen, value: object, depth: number): void {
  if (isReference(value)) return placeholder(pen, 'ref', kindOf(targetOf(value)?.label ?? ''));
  if (types.isProxy(value) || typeof value === 'function' || depth >= MAX_DEPTH)
    return placeholder(pen, 'opaque', true);
  if (ByReference.is(value)) return placeholder(pen, 'ref', 'table');
  if (types.isPromise(value)) return placeholder(pen, 'promise', true);
  if (types.isUint8Array(value)) return placeholder(pen, 'bytes', value.byteLength);
  if (types.isNativeError(value)) return placeholder(pen, 'error', codeOf(value));
  if (Array.isArray(value)) return writeArray(pen, value, depth);
  const proto: unknown = Object.getPrototypeOf(value);
  if (proto !== Object.prototype && proto !== null) return placeholder(pen, 'opaque', true);
  put(pen, '{');
  let first = true;
  for (const key of Object.keys(value)) {
    if (pen.full) return;
    put(pen, `${first ? '' : ','}${quoted(key.startsWith('$') ? `$${key}` : key)}:`);
    first = false;
    writeProperty(pen, value, key, depth);
  }
  put(pen, '}');
}

function writeArray(pen: Pen, array: readonly unknown[], depth: number): void {
  put(pen, '[');
  for (let i = 0; i < array.length && !pen.full; i += 1) {
    if (i > 0) put(pen, ',');
    writeProperty(pen, array, String(i), depth);
  }
  put(pen, ']');
}

function writeProperty(pen: Pen, of: object, key: string, depth: number): void {
  const own = Object.getOwnPropertyDescriptor(of, key);
  if (own !== undefined && !('value' in own)) placeholder(pen, 'opaque', true);
  else write(pen, own?.value, depth + 1);
}

function placeholder(pen: Pen, kind: string, what: string | number | boolean): void {
  put(pen, `{"$${kind}":${typeof what === 'string' ? quoted(what.slice(0, 64)) : String(what)}}`);
}

/**
 * Cuts the text before it is read, so a text of 100 MB costs only the part that is kept. A secret that is cut
 * in two is still removed.
 */
function quoted(text: string): string {
  return JSON.stringify(blot(text.length > MAX_ARGS_BYTES ? text.slice(0, MAX_ARGS_BYTES) + MARK : text));
}

/** Returns the kind in a label: `Directory#12` is a `Directory`. The ledger does not record which one. */
const kindOf = (label: string): string => label.replace(/#\d+$/, '');

function codeOf(error: Error): string {
  const code: unknown = Object.getOwnPropertyDescriptor(error, 'code')?.value;
  return typeof code === 'string' ? code : 'error';
}
