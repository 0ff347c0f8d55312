/**
 * One line of the ledger: its bytes are what is hashed, stored and exported, so nobody needs a canonical JSON to check it.
 *
 *   {"v":1,"seq":7,"t":<wall ms>,"vt":<boot-time ms>,"k":"call",…fields…,"prev":"<sha256 of line 6>","crc":"<8 hex>"}
 *
 * `prev` is the base64url SHA-256 of the previous line's bytes, without its line break; empty in the first line. `crc` is the
 * CRC-32 of everything before `,"crc"`: no defence against intent, but it finds damage in the *last* line, which no `prev`
 * vouches for, and names the damaged line itself rather than the one after it.
 *
 * Promise: a line is at most 8 KiB and holds JSON data only, and no secret in Hob's format; no text of a caller, however long
 * or odd, stops it from being made. A caller that could make its own line fail would act unrecorded, so what is too much is
 * cut (and marked `…`) and what looks like a secret is blotted out. Only what is a bug of ours is refused.
 */
import { CapError } from '../core/errors.ts';
import { crc, sha256 } from '../drivers/hash.ts';
import type { Line } from '../store/records.ts';
import { KINDS, type LineKind } from './kinds.ts';

export const MAX_LINE_BYTES = 8192;

/** Length of `,"crc":"xxxxxxxx"}`. */
export const CRC_TAIL = 18;

/** A field given as `undefined` is left out. */
export type Fields = Readonly<Record<string, unknown>>;

export interface LineParts {
  readonly seq: number;
  readonly t: number;
  readonly vt: number;
  readonly kind: LineKind;
  readonly fields: Fields;
  readonly prev: string;
}

const encoder = new TextEncoder();

export function makeLine(parts: LineParts): Line {
  const { seq, kind, prev } = parts;
  checkLine(kind, parts.fields);
  for (const longest of CUTS) {
    const open = `{"v":1,"seq":${seq},"t":${Math.floor(parts.t)},"vt":${Math.floor(parts.vt)},"k":"${kind}"`;
    const body = `${open}${fieldText(parts.fields, longest)},"prev":"${prev}"`;
    const bytes = encoder.encode(`${body}${crcTail(body)}`);
    if (bytes.length <= MAX_LINE_BYTES) return Object.freeze({ seq, bytes, hash: sha256(bytes) });
  }
  throw new CapError('limit', 'a ledger line too long'); // cannot be: see CUTS
}

/** Throws for what `makeLine` would refuse. */
export function checkLine(kind: string, fields: Fields): void {
  if (!Object.hasOwn(KINDS, kind)) throw new CapError('invalid', 'no such kind of ledger line');
  checkNames(fields);
}

export function crcTail(body: string | Uint8Array): string {
  return `,"crc":"${crc(body)}"}`;
}

/**
 * How long a text may be, tried in turn until the line fits. At 0 nothing stays but numbers and the marker, and the longest
 * that 32 fields can then come to is 32 × (32 + 28) bytes.
 */
const CUTS = [4096, 1024, 256, 64, 0] as const;
export const MARK = '…';
const RESERVED: ReadonlySet<string> = new Set(['v', 'seq', 't', 'vt', 'k', 'prev', 'crc']);

/** Field names are ours, never a caller's: a wrong one is a bug and is refused. */
function checkNames(fields: Fields): void {
  const names = Object.keys(fields);
  if (names.length > 32) throw new CapError('invalid', 'a ledger line has at most 32 fields');
  for (const name of names) {
    if (RESERVED.has(name)) throw new CapError('invalid', `a ledger line says "${name}" itself`);
    if (!/^[a-z][A-Za-z0-9]{0,31}$/.test(name))
      throw new CapError('invalid', 'a ledger field is named like this: grantId');
  }
}

function fieldText(fields: Fields, longest: number): string {
  const budget = { left: longest }; // values in all: a deep or wide value is cut like a long one
  return Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `,"${name}":${JSON.stringify(data(value, longest, budget, 0))}`)
    .join('');
}

/** A copy that is JSON data and nothing else: no getter is read twice, no `toJSON` called, no cycle followed. */
function data(value: unknown, longest: number, budget: { left: number }, depth: number): unknown {
  switch (typeof value) {
    case 'boolean':
      return value;
    case 'number':
      if (!Number.isFinite(value)) throw notData();
      return value;
    case 'string':
      return cut(blot(value), longest);
    case 'object':
      break;
    default:
      throw notData();
  }
  if (value === null) return null;
  if (depth === 8 || budget.left <= 0) return MARK;
  const copy = (inner: unknown): unknown => {
    budget.left -= 1;
    return data(inner, longest, budget, depth + 1);
  };
  if (Array.isArray(value)) {
    const kept = value.slice(0, budget.left).map(copy);
    return kept.length < value.length ? [...kept, MARK] : kept;
  }
  const shape: unknown = Object.getPrototypeOf(value);
  if (shape !== Object.prototype && shape !== null) throw notData();
  const result: Record<string, unknown> = Object.create(null);
  for (const [name, inner] of Object.entries(value)) {
    if (budget.left <= 0) {
      result[MARK] = MARK;
      break;
    }
    if (inner !== undefined) result[cut(blot(name), longest)] = copy(inner);
  }
  return result;
}

function notData(): CapError {
  return new CapError(
    'invalid',
    'a ledger field holds JSON data only: texts, finite numbers, booleans, null, lists, plain records',
  );
}

/** The last line of defence, not the first: secrets are kept out of fields by those who make them. */
export function blot(text: string): string {
  return text.includes('hob1_') ? text.replace(/hob1_[A-Za-z0-9_-]+/g, `hob1_${MARK}`) : text;
}

function cut(text: string, longest: number): string {
  if (text.length <= longest) return text;
  // Not in the middle of a pair: half of one would be written as an escape that says nothing.
  const code = text.charCodeAt(longest - 1);
  return text.slice(0, code >= 0xd800 && code <= 0xdbff ? longest - 1 : longest) + MARK;
}
