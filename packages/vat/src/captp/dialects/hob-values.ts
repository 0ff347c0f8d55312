/**
 * Values of the dialect `hob.1`.
 *
 * Values that JSON has are written as JSON. Others are a record with the key `@`, which names the kind:
 * `{"@":"bigint","v":"12"}`. A key of a program's record that begins with `@` gets one more `@` in front.
 * Bytes are not in the text; they are sent before it.
 *
 * Promise: decoded values are plain, frozen and new. The cost of decoding is proportional to the text.
 * Nothing in a decoded value can run code.
 */
import { CapError } from '../../core/errors.ts';
import { longestSymbol, nameOfSymbol, symbolNamed } from '../../core/symbols.ts';
import { decoded, partWithPromise, shareable } from '../../turn/copies.ts';
import type { SessionLimits } from '../session/limits.ts';
import { type Slot, type Slots, Violation } from '../session/operations.ts';
import type { Incoming, Outgoing } from './attached-bytes.ts';
import { DigitBudget } from './digits.ts';
import { inward, mostErrors, outward } from './errors.ts';
import { isId, mostKeys, shortString } from './parse-frame.ts';
import { special } from './size-budget.ts';

const at = 64;

const refuse = (what: string): never => {
  throw new CapError('invalid', what);
};

/**
 * Returns `value` in the form that JSON.stringify takes: the value itself if JSON can express all of it. `depth` is the
 * number of lists and records around it.
 */
export function encode(value: unknown, slots: Slots, bytes: Outgoing, depth = 0): unknown {
  bytes.room.take(1);
  switch (typeof value) {
    case 'string':
      bytes.room.take(value.length);
      if (value.length <= shortString) bytes.strings += 1;
      return value;
    case 'boolean':
      return value;
    case 'number':
      if (Number.isFinite(value) && !Object.is(value, -0)) return value;
      bytes.special(depth);
      return { '@': 'number', v: Object.is(value, -0) ? '-0' : String(value) };
    case 'undefined':
      bytes.special(depth);
      return { '@': 'undefined' };
    case 'bigint': {
      const v = String(value);
      bytes.special(depth);
      bytes.room.take(v.length);
      bytes.digits.take(v.length);
      return { '@': 'bigint', v };
    }
    case 'symbol': {
      const v = nameOfSymbol(value) ?? refuse('only registered symbols (Symbol.for) can be passed in this dialect');
      if (v.length > longestSymbol) refuse(`the name of a symbol may have ${longestSymbol} letters: send a string`);
      bytes.special(depth);
      bytes.room.take(v.length);
      return { '@': 'symbol', v };
    }
    default:
      if (value === null) return null;
      return encodeObject(value as object, slots, bytes, depth);
  }
}

function encodeObject(value: object, slots: Slots, bytes: Outgoing, depth: number): unknown {
  if (Array.isArray(value)) {
    let copy: unknown[] | undefined;
    bytes.tokens += value.length + 1;
    bytes.lists += 1;
    for (let i = 0; i < value.length; i += 1) {
      const item: unknown = value[i];
      const made = encode(item, slots, bytes, depth + 1);
      if (made === item) continue;
      copy ??= value.slice();
      copy[i] = made;
    }
    return copy ?? value;
  }
  const proto: unknown = Object.getPrototypeOf(value);
  if (proto === Object.prototype || proto === null)
    return encodeRecord(value as Readonly<Record<string, unknown>>, slots, bytes, depth);
  bytes.room.take(special);
  bytes.special(depth);
  const slot = slots.give(value);
  if (slot !== undefined) return slotJson(slot);
  if (value instanceof Uint8Array) return { '@': 'bytes', at: bytes.take(value), n: value.length };
  if (value instanceof Error) {
    const sent = outward(value, slots);
    bytes.room.take(sent.message.length);
    return { '@': 'error', ...sent };
  }
  return refuse('only data, bytes, errors, references and promises can be sent');
}

function encodeRecord(
  record: Readonly<Record<string, unknown>>,
  slots: Slots,
  bytes: Outgoing,
  depth: number,
): unknown {
  const before = bytes.keysBefore(depth);
  let repeats = true;
  let copy: Record<string, unknown> | undefined;
  let keys = 0;
  for (const key in record) {
    const item = record[key];
    bytes.room.take(key.length);
    // Before the value: a receiver counts this key before the keys inside it.
    bytes.keys += 1;
    repeats &&= before[keys] === key && keys < mostKeys;
    if (!repeats) {
      bytes.newKey(key);
      before[keys] = key;
    }
    const made = encode(item, slots, bytes, depth + 1);
    keys += 1;
    if (copy === undefined) {
      if (made === item && key.charCodeAt(0) !== at) continue;
      copy = {};
      let before = 1;
      for (const earlier in record) {
        if (before === keys) break;
        before += 1;
        copy[earlier] = record[earlier];
      }
    }
    copy[key.charCodeAt(0) === at ? `@${key}` : key] = made;
  }
  bytes.tokens += 2 * keys + 1;
  bytes.lists += 1;
  return copy ?? record;
}

function slotJson({ kind, id }: Slot): object {
  return { '@': kind, n: id };
}

/** Decodes values. `promises` and `mutable` tell whether the last value contains a promise, or bytes. */
export class Decoder {
  promises = false;
  mutable = false;
  #errors = 0;
  readonly #digits: DigitBudget;
  readonly #slots: Slots;
  readonly #limits: SessionLimits;
  readonly #bytes: Incoming;

  constructor(slots: Slots, limits: SessionLimits, bytes: Incoming) {
    this.#slots = slots;
    this.#limits = limits;
    this.#bytes = bytes;
    this.#digits = new DigitBudget(limits);
  }

  /** Called at the start of each frame. */
  begin(): void {
    this.#errors = 0;
    this.#digits.begin();
  }

  /** Decodes one whole value. It shares no part with another value. */
  value(json: unknown, weight: number): unknown {
    this.promises = false;
    this.mutable = false;
    const value = this.#decode(json, 0);
    if (typeof value === 'object' && value !== null && value === json)
      decoded(value, { promises: this.promises, mutable: this.mutable, bytes: weight });
    return value;
  }

  /**
   * Decodes the arguments of a call. Each is a whole value, because the callee may pass them on separately.
   */
  args(json: unknown[], weight: number): readonly unknown[] {
    let promises = false;
    for (let i = 0; i < json.length; i += 1) {
      const item = json[i];
      if (typeof item !== 'object' || item === null) continue;
      json[i] = this.value(item, weight);
      promises ||= this.promises;
    }
    this.promises = promises;
    return Object.freeze(json);
  }

  #decode(json: unknown, depth: number): unknown {
    if (typeof json !== 'object' || json === null) return json;
    if (depth >= this.#limits.depth) return refuse(`data is deeper than ${this.#limits.depth}`);
    return Array.isArray(json) ? this.#array(json, depth) : this.#record(json as Record<string, unknown>, depth);
  }

  #array(json: unknown[], depth: number): unknown {
    const { promises } = this;
    this.promises = false;
    for (let i = 0; i < json.length; i += 1) {
      const item = json[i];
      if (typeof item !== 'object' || item === null) continue;
      const value = this.#decode(item, depth + 1);
      if (value !== item) json[i] = value;
    }
    return this.#made(json, promises);
  }

  #record(json: Record<string, unknown>, depth: number): unknown {
    const { promises } = this;
    this.promises = false;
    let escaped = false;
    // One pass only. In a large record, listing the keys is most of the cost.
    for (const key in json) {
      if (key.charCodeAt(0) === at) {
        if (key.length === 1) {
          this.promises = promises;
          return this.#special(json);
        }
        escaped = true;
      }
      const item = json[key];
      if (typeof item !== 'object' || item === null) continue;
      const value = this.#decode(item, depth + 1);
      if (value === item) continue;
      if (key === 'then' && typeof value === 'function')
        refuse('a record with a callable "then" would be taken for a promise: rename the key');
      if (key in Object.prototype)
        Object.defineProperty(json, key, { value, enumerable: true, writable: true, configurable: true });
      else json[key] = value;
    }
    if (Object.hasOwn(json, '__proto__')) refuse('a record cannot have a key "__proto__"');
    return this.#made(escaped ? unescaped(json) : json, promises);
  }

  #made(made: object, before: boolean): object {
    Object.freeze(made);
    if (this.promises) decoded(made, partWithPromise);
    this.promises ||= before;
    return made;
  }

  #special(json: Readonly<Record<string, unknown>>): unknown {
    const kind = json['@'];
    switch (kind) {
      case 'object':
      case 'promise':
      case 'yours':
      case 'answer': {
        const { n } = exactly(json, 2);
        if (!isId(n)) throw malformed(kind);
        const value = this.#slots.take({ kind, id: n });
        if (value instanceof Promise) this.promises = true;
        else if (kind === 'answer' && !shareable(value)) this.mutable = true;
        return value;
      }
      case 'bytes': {
        const { at: from, n } = exactly(json, 3);
        this.mutable = true;
        return this.#bytes.take(from, n);
      }
      case 'undefined':
        exactly(json, 1);
        return undefined;
      case 'number': {
        const value = specialNumbers.get(exactly(json, 2)['v']);
        if (value === undefined) throw malformed(kind);
        return value;
      }
      case 'bigint': {
        const { v } = exactly(json, 2);
        if (typeof v !== 'string' || !/^-?\d+$/.test(v)) throw malformed(kind);
        return this.#digits.read(v);
      }
      case 'symbol': {
        const { v } = exactly(json, 2);
        if (typeof v !== 'string' || v.length > longestSymbol) throw malformed(kind);
        return symbolNamed(v);
      }
      case 'error': {
        const { code, message } = exactly(json, 3);
        if (typeof code !== 'string' || typeof message !== 'string') throw malformed(kind);
        this.#errors += 1;
        if (this.#errors > mostErrors) return refuse(`a frame may hold ${mostErrors} errors`);
        return Object.freeze(inward(code, message));
      }
      default:
        throw new Violation('a value of an unknown kind');
    }
  }
}

const specialNumbers: ReadonlyMap<unknown, number> = new Map([
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
  ['-0', -0],
]);

const malformed = (kind: string): Violation => new Violation(`a malformed value of the kind "${kind}"`);

function exactly(json: Readonly<Record<string, unknown>>, keys: number): Readonly<Record<string, unknown>> {
  let seen = 0;
  for (const _ in json) seen += 1;
  if (seen !== keys) throw malformed(String(json['@']));
  return json;
}

/** Removes the additional `@` from keys that begin with it. */
function unescaped(json: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const record: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(json)) {
    if (key.charCodeAt(0) !== at)
      Object.defineProperty(record, key, { value: item, enumerable: true, writable: true, configurable: true });
    else if (key.charCodeAt(1) === at) record[key.slice(1)] = item;
    else throw new Violation('a key begins with a single @');
  }
  return record;
}
