/**
 * One line of the ledger. Its bytes are hashed, stored and exported as they are, so nobody needs a canonical
 * JSON to check it.
 *
 *   {"v":1,"seq":7,"t":<wall ms>,"vt":<boot-time ms>,"k":"call",…fields…,"prev":"<sha256 of line 6>","crc":"<8 hex>"}
 *
 * `prev` is the base64url SHA-256 of the previous line's bytes, without its line break; empty in the first
 * line. `crc` is the CRC-32 of everything before `,"crc"`. It does not protect against an attacker. It finds
 * damage in the *last* line, whose hash no other line holds, and it names the damaged line itself instead of
 * the next one.
 *
 * Promise: a line is at most 8 KiB, holds only JSON data, and holds no secret in Hob's format. No text of a
 * caller, of any length or form, prevents the line: a caller that could make its own line fail would act
 * unrecorded. So text that is too long is cut (and marked `…`), and text that looks like a secret is removed.
 * Only a mistake of ours is refused.
 */
import { CapError } from '../core/errors.ts';
import { crc, sha256 } from '../drivers/hash.ts';
import type { Args, LedgerLine } from '../store/records.ts';
import { blot, MARK } from './blot.ts';
import { KINDS, type LineKind } from './kinds.ts';

export const MAX_LINE_BYTES = 8192;

/** Length of `,"crc":"xxxxxxxx"}`. */
export const CRC_TAIL = 18;

/** A field given as `undefined` is left out. */
export type Fields = Readonly<Record<string, unknown>>;

interface LineParts {
  readonly seq: number;
  readonly t: number;
  readonly vt: number;
  readonly kind: LineKind;
  readonly fields: Fields;
  readonly prev: string;
}

const encoder = new TextEncoder();

/**
 * The commitment of a line to the arguments beside it: SHA-256 of salt and text, as base64url. Without the salt, nobody
 * can find a short value by trying.
 */
export function commitment({ salt, bytes }: Args): string {
  const salted = new Uint8Array(salt.length + bytes.length);
  salted.set(salt);
  salted.set(bytes, salt.length);
  return sha256(salted);
}

export function makeLine(parts: LineParts): LedgerLine {
  const { seq, kind, prev } = parts;
  checkLine(kind, parts.fields);
  for (const longest of CUTS) {
    const open = `{"v":1,"seq":${seq},"t":${Math.floor(parts.t)},"vt":${Math.floor(parts.vt)},"k":"${kind}"`;
    const body = `${open}${fieldText(parts.fields, longest)},"prev":"${prev}"`;
    const bytes = encoder.encode(`${body}${crcTail(body)}`);
    if (bytes.length <= MAX_LINE_BYTES) return Object.freeze({ seq, bytes, hash: sha256(bytes) });
  }
  throw new CapError('limit', 'the ledger line is too long: put less into its fields'); // cannot happen: see CUTS
}

/** Throws if `makeLine` would refuse this entry. */
export function checkLine(kind: string, fields: Fields): void {
  if (!Object.hasOwn(KINDS, kind)) throw new CapError('invalid', 'there is no such kind of ledger line');
  checkNames(fields);
}

export function crcTail(body: string | Uint8Array): string {
  return `,"crc":"${crc(body)}"}`;
}

/**
 * Maximum length of a text, tried in turn until the line fits. At 0 only numbers and the marker stay, and 32
 * fields then take at most 32 × (32 + 28) bytes.
 */
const CUTS = [4096, 1024, 256, 64, 0] as const;
const RESERVED: ReadonlySet<string> = new Set(['v', 'seq', 't', 'vt', 'k', 'prev', 'crc']);

/** Field names never come from a caller, so a wrong one is a mistake of ours and is refused. */
function checkNames(fields: Fields): void {
  const names = Object.keys(fields);
  if (names.length > 32) throw new CapError('invalid', 'a ledger line has at most 32 fields');
  for (const name of names) {
    if (RESERVED.has(name))
      throw new CapError('invalid', `the ledger fills in "${name}" itself: give the field another name`);
    if (!/^[a-z][A-Za-z0-9]{0,31}$/.test(name))
      throw new CapError('invalid', 'the name of a ledger field looks like this: grantId');
  }
}

function fieldText(fields: Fields, longest: number): string {
  const budget = { left: longest }; // values in all, so a deep or wide value is cut like a long one
  return Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `,"${name}":${JSON.stringify(data(value, longest, budget, 0))}`)
    .join('');
}

/**
 * Returns a copy that is JSON data and nothing else. No getter is read twice, no `toJSON` is called, no cycle
 * is followed.
 */
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

function cut(text: string, longest: number): string {
  if (text.length <= longest) return text;
  // Not inside a surrogate pair: half of one would be written as an escape.
  const code = text.charCodeAt(longest - 1);
  return text.slice(0, code >= 0xd800 && code <= 0xdbff ? longest - 1 : longest) + MARK;
}
