/**
 * Values in the encodings of `@endo/marshal`. `@endo/captp` 4.x sends the older one (`@qclass` records). The
 * decoder also takes smallcaps (a body that begins with `#`).
 *
 * Promise: decoded values are plain, frozen and new. Bytes are `makeTagged('bytes', base64)`, because marshal
 * refuses bytes. The code of an error is the beginning of its message.
 */
import { fromBase64, toBase64 } from '../../core/drivers/platform.ts';
import { CapError } from '../../core/errors.ts';
import { longestSymbol, symbolKey, symbolOfKey } from '../../core/symbols.ts';
import { decoded, partWithPromise, shareable } from '../../turn/copies.ts';
import type { SessionLimits } from '../session/limits.ts';
import { type Slots, Violation } from '../session/operations.ts';
import { DigitBudget } from './digits.ts';
import { errorFrom, errorText, mostErrors } from './errors.ts';
import { checkStructure, isId, parse } from './parse-frame.ts';
import { toJson } from './quoted.ts';
import { SizeBudget, special } from './size-budget.ts';

export interface CapData {
  readonly body: string;
  readonly slots: readonly string[];
}

/** Writes and reads the slots of a body. */
export interface Naming {
  write(slot: NonNullable<ReturnType<Slots['give']>>): string;
  /** Returns the value that a slot of the peer stands for. */
  read(slot: string): unknown;
}

const kind = '@qclass';

const refuse = (what: string): never => {
  throw new CapError('invalid', what);
};

export function toCapData(value: unknown, slots: Slots, naming: Naming, limits: SessionLimits): CapData {
  const room = new SizeBudget(limits.frameBytes);
  let written: DigitBudget | undefined;
  const given: string[] = [];
  const indices = new Map<string, number>();
  const encode = (item: unknown): unknown => {
    room.take(1);
    switch (typeof item) {
      case 'string':
        room.take(item.length);
        return item;
      case 'boolean':
        return item;
      case 'number':
        return Number.isFinite(item) ? item : { [kind]: String(item) };
      case 'undefined':
        return { [kind]: 'undefined' };
      case 'bigint': {
        const digits = String(item);
        room.take(digits.length);
        written ??= new DigitBudget(limits);
        written.take(digits.length);
        return { [kind]: 'bigint', digits };
      }
      case 'symbol': {
        const name = nameOf(item);
        room.take(name.length);
        return { [kind]: 'symbol', name };
      }
      default:
        return item === null ? null : encodeObject(item as object);
    }
  };
  const encodeObject = (item: object): unknown => {
    if (Array.isArray(item)) return item.map(encode);
    const proto: unknown = Object.getPrototypeOf(item);
    if (proto === Object.prototype || proto === null) return encodeRecord(item as Readonly<Record<string, unknown>>);
    room.take(special);
    const slot = slots.give(item);
    if (slot !== undefined) {
      const name = naming.write(slot);
      let index = indices.get(name);
      if (index === undefined) {
        index = given.push(name) - 1;
        indices.set(name, index);
      }
      return slot.kind === 'object' ? { [kind]: 'slot', iface: 'Alleged: Cap', index } : { [kind]: 'slot', index };
    }
    if (item instanceof Uint8Array) {
      room.take(item.length);
      return {
        [kind]: 'tagged',
        tag: 'bytes',
        payload: toBase64(item),
      };
    }
    if (item instanceof Error) {
      const text = errorText(item, slots);
      room.take(text.length);
      return errorData(text);
    }
    return refuse('only data, bytes, errors, references and promises can be sent');
  };
  const encodeRecord = (record: Readonly<Record<string, unknown>>): object => {
    const made: Record<string, unknown> = {};
    for (const [key, item] of Object.entries(record)) {
      room.take(key.length);
      if (key !== kind) made[key] = encode(item);
    }
    if (!Object.hasOwn(record, kind)) return made;
    const original = encode(record[kind]);
    return Object.keys(made).length === 0
      ? { [kind]: 'hilbert', original }
      : { [kind]: 'hilbert', original, rest: made };
  };
  return { body: toJson(encode(value)), slots: given };
}

/** Encodes an error. */
export const errorData = (message: string): object => ({
  [kind]: 'error',
  errorId: 'error:hob',
  message,
  name: 'Error',
});

function nameOf(symbol: symbol): string {
  const name =
    symbolKey(symbol) ?? refuse('only registered symbols (Symbol.for) and those of the language can be passed');
  if (name.length > longestSymbol) refuse(`the name of a symbol may have ${longestSymbol} letters: send a string`);
  return name;
}

/** Decodes one body. `promises` tells whether the last value contains a promise. */
export class CapDataDecoder {
  promises = false;
  /** Approximate memory of the last value. */
  weight = 0;
  readonly #limits: SessionLimits;
  readonly #naming: Naming;
  #errors = 0;
  readonly #read: DigitBudget;
  #slots: readonly string[] = [];
  #taken: unknown[] = [];
  #mutable = false;

  constructor(limits: SessionLimits, naming: Naming) {
    this.#limits = limits;
    this.#naming = naming;
    this.#read = new DigitBudget(limits);
  }

  decode({ body, slots }: CapData): unknown {
    this.promises = false;
    this.#mutable = false;
    this.#errors = 0;
    this.#read.begin();
    this.#slots = slots;
    this.#taken = [];
    const small = body.charCodeAt(0) === 35;
    const text = small ? body.slice(1) : body;
    this.weight = checkStructure(text, this.#limits, 'a body');
    const json = parse(text, 'a body');
    const value = small ? this.#small(json, 0) : this.#old(json, 0);
    if (isData(value)) {
      decoded(value, { promises: this.promises, mutable: this.#mutable, bytes: this.weight });
      // The body of a call. The callee may pass its arguments on separately.
      if (Array.isArray(value) && Array.isArray(value[1]) && !this.promises && !this.#mutable)
        for (const arg of value[1] as unknown[])
          if (isData(arg)) decoded(arg, { promises: false, mutable: false, bytes: this.weight });
    }
    return value;
  }

  /** `iface` describes the slot for people. It has no effect. */
  #slot(index: unknown, iface?: unknown): unknown {
    if (iface !== undefined && typeof iface !== 'string') throw new Violation('a malformed slot');
    if (!isId(index) || index >= this.#slots.length) throw new Violation('a value names a slot that is not there');
    if (!(index in this.#taken)) this.#taken[index] = this.#naming.read(this.#slots[index] as string);
    const value = this.#taken[index];
    if (value instanceof Promise) this.promises = true;
    else if (!shareable(value)) this.#mutable = true;
    return value;
  }

  #bytes(tag: unknown, payload: unknown): Uint8Array {
    if (tag !== 'bytes' || typeof payload !== 'string' || !/^[\w+/]*={0,2}$/.test(payload))
      return refuse('the only tagged value that is supported is "bytes" with base64 text');
    this.#mutable = true;
    return fromBase64(payload);
  }

  #error(message: unknown, name: unknown, errorId: unknown): CapError {
    if (typeof message !== 'string' || typeof name !== 'string') throw new Violation('a malformed error');
    if (errorId !== undefined && typeof errorId !== 'string') throw new Violation('a malformed error');
    this.#errors += 1;
    if (this.#errors > mostErrors) refuse(`a value may hold ${mostErrors} errors`);
    return Object.freeze(errorFrom(message));
  }

  #digits(text: unknown): bigint {
    if (typeof text !== 'string' || !/^[+-]?\d+$/.test(text)) throw new Violation('a malformed bigint');
    return this.#read.read(text.charCodeAt(0) === 43 ? text.slice(1) : text);
  }

  #symbol(name: unknown): symbol {
    if (typeof name !== 'string' || name.length > longestSymbol) throw new Violation('a malformed symbol');
    return symbolOfKey(name) ?? refuse('this symbol is not known here: send a string');
  }

  #deep(depth: number): void {
    if (depth >= this.#limits.depth) refuse(`data is deeper than ${this.#limits.depth}`);
  }

  /** Decodes in place, as `#record` does. Nobody else has the parsed value. */
  #array(json: unknown[], decode: Decode): readonly unknown[] {
    const before = this.#begun();
    for (let i = 0; i < json.length; i += 1) {
      const item = json[i];
      const value = decode(item);
      if (value !== item) json[i] = value;
    }
    return this.#made(json, before);
  }

  #record(json: Record<string, unknown>, decode: Decode): object {
    const before = this.#begun();
    for (const key in json) {
      const item = json[key];
      const value = decode(item);
      if (value !== item) put(json, key, value);
    }
    if (Object.hasOwn(json, '__proto__')) throw noProto();
    return this.#made(json, before);
  }

  /** Decodes a smallcaps record with escaped keys. */
  #renamed(json: Readonly<Record<string, unknown>>, decode: Decode): object {
    const before = this.#begun();
    const made: Record<string, unknown> = {};
    for (const key of Object.keys(json)) {
      const name = unescaped(key);
      if (name === undefined) throw new Violation('a malformed record');
      put(made, name, decode(json[key]));
    }
    return this.#made(made, before);
  }

  /** Decodes a record that has the key `@qclass` itself. */
  #hilbert(original: unknown, rest: Readonly<Record<string, unknown>>, decode: Decode): object {
    const before = this.#begun();
    const made: Record<string, unknown> = { [kind]: decode(original) };
    for (const key of Object.keys(rest)) put(made, key, decode(rest[key]));
    return this.#made(made, before);
  }

  #begun(): boolean {
    const before = this.promises;
    this.promises = false;
    return before;
  }

  #made<T extends object>(made: T, before: boolean): T {
    Object.freeze(made);
    if (this.promises) decoded(made, partWithPromise);
    this.promises ||= before;
    return made;
  }

  // ---- @qclass --------------------------------------------------------------------------------------------

  #old(json: unknown, depth: number): unknown {
    if (typeof json !== 'object' || json === null) return json;
    this.#deep(depth);
    const decode = this.#olds(depth + 1);
    if (Array.isArray(json)) return this.#array(json, decode);
    const record = json as Record<string, unknown>;
    return Object.hasOwn(record, kind) ? this.#special(record, depth) : this.#record(record, decode);
  }

  #olds(depth: number): Decode {
    return (item) => (typeof item === 'object' && item !== null ? this.#old(item, depth) : item);
  }

  #special(json: Readonly<Record<string, unknown>>, depth: number): unknown {
    switch (json[kind]) {
      case 'undefined':
        return undefined;
      case 'NaN':
        return Number.NaN;
      case 'Infinity':
        return Number.POSITIVE_INFINITY;
      case '-Infinity':
        return Number.NEGATIVE_INFINITY;
      case 'bigint':
        return this.#digits(json['digits']);
      case 'symbol':
        return this.#symbol(json['name']);
      case '@@asyncIterator':
        return Symbol.asyncIterator;
      case 'slot':
        return this.#slot(json['index'], json['iface']);
      case 'tagged':
        return this.#bytes(json['tag'], json['payload']);
      case 'error':
        return this.#error(json['message'], json['name'], json['errorId']);
      case 'hilbert': {
        const { rest = {}, original } = json;
        if (!Object.hasOwn(json, 'original')) throw new Violation('a malformed record');
        if (typeof rest !== 'object' || rest === null || Array.isArray(rest) || Object.hasOwn(rest, kind))
          throw new Violation('a malformed record');
        return this.#hilbert(original, rest as Record<string, unknown>, this.#olds(depth + 1));
      }
      default:
        throw new Violation('a value of an unknown kind');
    }
  }

  // ---- smallcaps ------------------------------------------------------------------------------------------

  #small(json: unknown, depth: number): unknown {
    if (typeof json === 'string') return this.#text(json);
    if (typeof json !== 'object' || json === null) return json;
    this.#deep(depth);
    const decode: Decode = (item) => this.#small(item, depth + 1);
    if (Array.isArray(json)) return this.#array(json, decode);
    const record = json as Record<string, unknown>;
    if (Object.hasOwn(record, '#tag')) return this.#bytes(record['#tag'], unescaped(record['payload']));
    if (Object.hasOwn(record, '#error')) {
      const { errorId } = record;
      const id = errorId === undefined ? undefined : (unescaped(errorId) ?? null);
      return this.#error(unescaped(record['#error']), unescaped(record['name']), id);
    }
    for (const key in record) if (isMarked(key)) return this.#renamed(record, decode);
    return this.#record(record, decode);
  }

  #text(text: string): unknown {
    const plainText = unescaped(text);
    if (plainText !== undefined) return plainText;
    switch (text[0]) {
      case '#': {
        const found = constants.get(text);
        if (found === undefined) throw new Violation('a value of an unknown kind');
        return found.value;
      }
      case '+':
      case '-':
        return this.#digits(text);
      case '%':
        return this.#symbol(text.slice(1));
      case '$':
      case '&': {
        const index = /^(0|[1-9]\d{0,5})(?:\.|$)/.exec(text.slice(1))?.[1];
        const value = this.#slot(index === undefined ? undefined : Number(index));
        if (value instanceof Promise !== (text[0] === '&')) throw new Violation('a slot and its value disagree');
        return value;
      }
      default:
        throw new Violation('a value of an unknown kind');
    }
  }
}

const constants: ReadonlyMap<string, { readonly value: unknown }> = new Map([
  ['#undefined', { value: undefined }],
  ['#NaN', { value: Number.NaN }],
  ['#Infinity', { value: Number.POSITIVE_INFINITY }],
  ['#-Infinity', { value: Number.NEGATIVE_INFINITY }],
]);

/** Returns the string that a smallcaps string stands for; undefined if it stands for another value. */
function unescaped(text: unknown): string | undefined {
  if (typeof text !== 'string') return undefined;
  if (!isMarked(text)) return text;
  return text.charCodeAt(0) === 33 ? text.slice(1) : undefined;
}

const isMarked = (text: string): boolean => {
  const first = text.charCodeAt(0);
  return first >= 33 && first <= 45;
};

type Decode = (json: unknown) => unknown;

const noProto = (): CapError => new CapError('invalid', 'a record cannot have a key "__proto__"');

function put(record: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') throw noProto();
  if (key === 'then' && typeof value === 'function')
    refuse('a record with a callable "then" would be taken for a promise: rename the key');
  // An engine may refuse an assignment to a key that `Object.prototype` has.
  if (key in Object.prototype)
    Object.defineProperty(record, key, { value, enumerable: true, writable: true, configurable: true });
  else record[key] = value;
}

/** In this module, only data has these prototypes. */
function isData(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const proto: unknown = Object.getPrototypeOf(value);
  return proto === Object.prototype || proto === Array.prototype;
}
