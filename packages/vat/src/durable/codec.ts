/**
 * Portraits, rows and queued messages as text, and back.
 *
 * Promise: a decoded value equals the encoded one, and its references are the same references. Text that this
 * module did not write is refused as a whole. Only values that can outlive the process are encoded: data,
 * references to actors and tables of the same store, and named drivers.
 *
 * The text is plain JSON wherever JSON can express the value, so that a person can read a store. Other values
 * are a record with the one key `$`.
 */
import { fromBase64, toBase64 } from '../core/drivers/platform.ts';
import { CapError } from '../core/errors.ts';
import { languageName, languageSymbol, nameOfSymbol, symbolNamed } from '../core/symbols.ts';

/** The name of a reference in a store: vat and number for an actor or table, the name for a driver. */
export type Name =
  | readonly ['a', vat: string, id: number]
  | readonly ['t', vat: string, id: number]
  | readonly ['d', name: string];

export interface Naming {
  /** Undefined for a reference that does not outlive the process. */
  nameOf(reference: object): Name | undefined;
  isReference(value: object): boolean;
  /**
   * If set, a value that ends with the process is encoded as such instead of refused. It comes back broken.
   */
  readonly fleeting?: boolean;
  /** The value that a promise was fulfilled with; undefined while it is not fulfilled. */
  fulfilled?(promise: object): { readonly value: unknown } | undefined;
}

export interface Finding {
  /** The reference of that name. Throws if the store should hold it and does not. */
  find(name: Name): object;
  /** Returns a stand-in for a value that ended with an earlier process. */
  readonly lost?: () => object;
}

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/**
 * About the most characters in one cell. SQLite refuses larger cells, and a failed commit stops the whole
 * store.
 */
const most = 16 << 20;

/**
 * Throws `limit` before it builds anything large: shared data is written once for each place where it occurs.
 */
export function encode(value: unknown, naming: Naming): string {
  const room = { left: most, followed: new Set<object>() };
  return JSON.stringify(tree(value, naming, room));
}

interface Room {
  left: number;
  /** The fulfilled promises whose values are being written, outermost first. */
  readonly followed: Set<object>;
}

/** A peer may fulfil a promise with data that holds it, or chain as many promises as it likes. */
const mostFollowed = 64;

function take(room: Room, characters: number): void {
  room.left -= characters;
  if (room.left < 0)
    throw new CapError(
      'limit',
      `more than ${most >> 20} Mi characters in one portrait, row or message: use a table, or a file`,
    );
}

function tree(value: unknown, naming: Naming, room: Room): Json {
  take(room, 4);
  switch (typeof value) {
    case 'string':
      take(room, value.length);
      return value;
    case 'boolean':
      return value;
    case 'number':
      // JSON has neither -0 nor NaN, and programs can tell both apart from other numbers.
      return Number.isFinite(value) && !Object.is(value, -0)
        ? value
        : { $: ['n', Object.is(value, -0) ? '-0' : String(value)] };
    case 'undefined':
      return { $: ['u'] };
    case 'bigint': {
      const digits = String(value);
      take(room, digits.length);
      return { $: ['i', digits] };
    }
    case 'symbol':
      return { $: symbolParts(value) };
    default:
      return value === null ? null : treeOf(value as object, naming, room);
  }
}

/** A symbol of a peer keeps its own tag: when read back it must not get into the engine's registry. */
function symbolParts(symbol: symbol): readonly Json[] {
  const registered = Symbol.keyFor(symbol);
  if (registered !== undefined) return ['s', registered];
  const wellKnown = languageName(symbol);
  return wellKnown === undefined ? ['f', nameOfSymbol(symbol) as string] : ['w', wellKnown];
}

function treeOf(value: object, naming: Naming, room: Room): Json {
  if (naming.isReference(value)) {
    const name = naming.nameOf(value);
    if (name === undefined && naming.fleeting === true) return { $: ['x'] };
    if (name === undefined)
      throw new CapError(
        'invalid',
        'this reference ends with the process and cannot be stored: store a named driver, or an actor of this store',
      );
    return { $: ['r', ...name] };
  }
  if (Array.isArray(value)) return value.map((item) => tree(item, naming, room));
  if (value instanceof Uint8Array) take(room, 2 * value.length);
  if (value instanceof Uint8Array) return { $: ['b', toBase64(value)] };
  if (value instanceof Error) take(room, value.message.length);
  if (value instanceof Error) return { $: ['e', value instanceof CapError ? value.code : '', value.message] };
  const known = value instanceof Promise ? naming.fulfilled?.(value) : undefined;
  if (known !== undefined && room.followed.size < mostFollowed && !room.followed.has(value)) {
    room.followed.add(value);
    const written = tree(known.value, naming, room);
    room.followed.delete(value);
    return written;
  }
  if (value instanceof Promise && naming.fleeting === true) return { $: ['x'] };
  if (value instanceof Promise)
    throw new CapError('invalid', 'a promise cannot be stored: wait with E.to(self, method), and store the result');
  const record: Record<string, Json> = {};
  const keys = Object.keys(value);
  // A loop, because lists of pairs take longer than the rest. No record has a key "__proto__" (`turn/values.ts`).
  for (const key of keys) {
    take(room, key.length);
    record[key] = tree((value as Readonly<Record<string, unknown>>)[key], naming, room);
  }
  // A program's record that looks like one of ours is wrapped, so that it comes back unchanged.
  return keys.length === 1 && keys[0] === '$' ? { $: ['o', record['$'] as Json] } : record;
}

const damaged = (): CapError =>
  new CapError('invalid', 'the store holds a value that no version of Hob wrote: restore it from a backup');

/** The value that `text` encodes, deeply frozen. */
export const decode = (text: string, finding: Finding): unknown => value(parsed(text), finding);

/** Like `decode` for each text. Calls `ahead` once with the names of all references in them, before it finds any. */
export function decodeAll(
  texts: readonly string[],
  finding: Finding,
  ahead: (names: readonly Name[]) => void,
): readonly unknown[] {
  const all = texts.map(parsed);
  const names: Name[] = [];
  for (const json of all) collect(json, names);
  ahead(names);
  return all.map((json) => value(json, finding));
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw damaged();
  }
}

function collect(json: Json, names: Name[]): void {
  if (typeof json !== 'object' || json === null) return;
  const items = Object.values(json) as Json[];
  const special = items.length === 1 ? (json as { readonly $?: Json }).$ : undefined;
  if (Array.isArray(special) && special[0] === 'r') names.push(nameFrom(special.slice(1)));
  else for (const item of items) collect(item, names);
}

function value(json: Json, finding: Finding): unknown {
  if (typeof json !== 'object' || json === null) return json;
  if (Array.isArray(json)) return Object.freeze(json.map((item) => value(item as Json, finding)));
  const entries = Object.entries(json);
  const [only] = entries;
  if (entries.length === 1 && only?.[0] === '$') return special(only[1], finding);
  return Object.freeze(Object.fromEntries(entries.map(([key, item]) => [key, value(item, finding)])));
}

function special(parts: Json, finding: Finding): unknown {
  if (!Array.isArray(parts)) throw damaged();
  const [tag, ...rest] = parts as readonly Json[];
  const [first, second] = rest;
  switch (tag) {
    case 'u':
      return undefined;
    case 'n':
      if (first === '-0' || first === 'NaN' || first === 'Infinity' || first === '-Infinity') return Number(first);
      throw damaged();
    case 'i':
      if (typeof first === 'string' && /^-?\d+$/.test(first)) return BigInt(first);
      throw damaged();
    case 's':
      if (typeof first === 'string') return Symbol.for(first);
      throw damaged();
    case 'f':
      if (typeof first === 'string') return symbolNamed(first);
      throw damaged();
    case 'w': {
      const symbol = typeof first === 'string' ? languageSymbol(first) : undefined;
      if (symbol !== undefined) return symbol;
      throw damaged();
    }
    case 'b':
      if (typeof first === 'string') return fromBase64(first);
      throw damaged();
    case 'e':
      if (typeof first === 'string' && typeof second === 'string')
        return Object.freeze(first === '' ? new Error(second) : new CapError(first, second));
      throw damaged();
    case 'o':
      return Object.freeze({ $: value(first as Json, finding) });
    case 'x':
      if (finding.lost !== undefined) return finding.lost();
      throw damaged();
    case 'r':
      return finding.find(nameFrom(rest));
    default:
      throw damaged();
  }
}

function nameFrom([kind, a, b]: readonly Json[]): Name {
  if ((kind === 'a' || kind === 't') && typeof a === 'string' && Number.isSafeInteger(b)) return [kind, a, b as number];
  if (kind === 'd' && typeof a === 'string') return ['d', a];
  throw damaged();
}

/** The names of all references in `text`. A sweep uses it to mark what is reachable. */
export function namesIn(text: string): readonly Name[] {
  const names: Name[] = [];
  decode(text, {
    find(name) {
      names.push(name);
      return Object.freeze({});
    },
    lost: () => Object.freeze({}),
  });
  return names;
}
