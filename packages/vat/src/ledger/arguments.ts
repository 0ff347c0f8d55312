/**
 * The arguments of a call as the ledger keeps them: JSON text beside the line, and in the line a commitment under a salt of
 * its own, so that a short value cannot be guessed from it and the text can be deleted while the chain still holds.
 *
 * Promise: the text says nothing that could be used: of a reference only the label of its kind, of bytes their number, of a
 * secret in Hob's format its prefix. It is at most 64 KiB however large the arguments are, and making it costs no more than
 * that. Reading them runs nobody's code.
 *
 * What JSON lacks is written as a record with one key that begins with `$`; a key of the arguments that begins so gets one
 * more, so nothing passed can look like a placeholder.
 */
import { types } from 'node:util';
import type { EncodedArgs } from '../core/ledger-entry.ts';
import { ByReference, isReference, targetOf } from '../core/reference.ts';
import { symbolKey } from '../core/symbols.ts';
import { sha256 } from '../drivers/hash.ts';
import type { Args } from '../store/records.ts';
import { blot, MARK } from './line.ts';

export const MAX_ARGS_BYTES: number = 64 * 1024;

/** Of each argument no more than `most` bytes are kept. */
export function encodeArgs(args: readonly unknown[], most: number = MAX_ARGS_BYTES): EncodedArgs {
  const pen: Pen = { text: '', full: false, most: MAX_ARGS_BYTES };
  const isCut = most < MAX_ARGS_BYTES ? writeEach(pen, args, most) : false;
  if (most >= MAX_ARGS_BYTES) write(pen, args, 0);
  const bytes = new TextEncoder().encode(pen.text);
  if (!pen.full && bytes.length <= MAX_ARGS_BYTES) return { bytes, argc: args.length, cut: isCut };
  const mark = new TextEncoder().encode(MARK);
  let end = Math.min(bytes.length, MAX_ARGS_BYTES - mark.length);
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1; // not in the middle of a character
  const kept = new Uint8Array(end + mark.length);
  kept.set(bytes.subarray(0, end));
  kept.set(mark, end);
  return { bytes: kept, argc: args.length, cut: true };
}

/** As `write` does a list, each item with room of its own. Returns whether one was cut. */
function writeEach(pen: Pen, args: readonly unknown[], most: number): boolean {
  let isCut = false;
  put(pen, '[');
  for (let i = 0; i < args.length && !pen.full; i += 1) {
    const own: Pen = { text: '', full: false, most };
    writeProperty(own, args, String(i), 0);
    const isLong = own.full || Buffer.byteLength(own.text) > most;
    isCut ||= isLong;
    put(pen, `${i > 0 ? ',' : ''}${isLong ? beginning(own.text, most) : own.text}`);
  }
  put(pen, ']');
  return isCut;
}

/** The first part of a text as a placeholder of at most `most` bytes, or none of it. */
function beginning(text: string, most: number): string {
  for (let length = Math.min(text.length, most); ; length = Math.floor(length / 2)) {
    const said = `{"$cut":${JSON.stringify(text.slice(0, length) + MARK)}}`;
    if (length === 0 || Buffer.byteLength(said) <= most) return said;
  }
}

/** The commitment that a line holds. */
export function commitment({ salt, bytes }: Args): string {
  const salted = new Uint8Array(salt.length + bytes.length);
  salted.set(salt);
  salted.set(bytes, salt.length);
  return sha256(salted);
}

export const SALT = 32;
/** Vat data is at most 128 deep; what comes from elsewhere could be a cycle. */
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
  // A character is at least one byte: longer than this cannot fit.
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
      // -0 is written as 0: nobody acts on the difference.
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

/** Writing a number of a million digits takes seconds. */
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

/** Cut before it is looked at: a text of 100 MB costs what is kept of it. A secret cut in two is blotted like a whole one. */
function quoted(text: string): string {
  return JSON.stringify(blot(text.length > MAX_ARGS_BYTES ? text.slice(0, MAX_ARGS_BYTES) + MARK : text));
}

/** `Directory#12` is a Directory: which one is nobody's business here. */
const kindOf = (label: string): string => label.replace(/#\d+$/, '');

function codeOf(error: Error): string {
  const code: unknown = Object.getOwnPropertyDescriptor(error, 'code')?.value;
  return typeof code === 'string' ? code : 'error';
}
