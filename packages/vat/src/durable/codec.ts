/**
 * Portraits, rows and queued messages as text, and back.
 *
 * Promise: what is decoded equals what was encoded, value for value and reference for reference; text that this module did not
 * write is refused, never half read. Only what can outlive the process can be encoded: data, references to actors and tables of the
 * same store, named drivers.
 *
 * Plain JSON wherever JSON can say it, so that a person can read a store. What it cannot say is a record with the one key `$`.
 */
import { CapError } from '../core/errors.ts';
import { languageName, languageSymbol, nameOfSymbol, symbolNamed } from '../core/symbols.ts';

/** How a reference is called in a store: an actor or a table by vat and number, a driver by its name. */
export type Name =
  | readonly ['a', vat: string, id: number]
  | readonly ['t', vat: string, id: number]
  | readonly ['d', name: string];

export interface Naming {
  /** Undefined for a reference that does not outlive the process. */
  nameOf(reference: object): Name | undefined;
  isReference(value: object): boolean;
  /** What ends with the process is noted as such, instead of refused: it comes back broken. */
  readonly fleeting?: boolean;
  /** What a promise has become, where it has. */
  fulfilled?(promise: object): { readonly value: unknown } | undefined;
}

export interface Finding {
  /** The reference of that name; throws where the store should have it and has not. */
  find(name: Name): object;
  /** Stands for what ended with an earlier process. */
  readonly lost?: () => object;
}

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** Characters in one cell, about. More would pass what SQLite takes, and a commit that fails stops the whole store. */
const most = 16 << 20;

/** Errors: `limit`, before anything large is built: shared data is written out once for each place where it stands. */
export function encode(value: unknown, naming: Naming): string {
  const room = { left: most };
  return JSON.stringify(tree(value, naming, room));
}

interface Room {
  left: number;
}

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
      // JSON has no -0 and no NaN, and both are values that a program may tell apart.
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

/** A peer's symbol is stored as one: read back it must not end up in the engine's registry. */
function symbolParts(symbol: symbol): readonly Json[] {
  const registered = Symbol.keyFor(symbol);
  if (registered !== undefined) return ['s', registered];
  const ofLanguage = languageName(symbol);
  return ofLanguage === undefined ? ['f', nameOfSymbol(symbol) as string] : ['w', ofLanguage];
}

function treeOf(value: object, naming: Naming, room: Room): Json {
  if (naming.isReference(value)) {
    const name = naming.nameOf(value);
    if (name === undefined && naming.fleeting === true) return { $: ['x'] };
    if (name === undefined)
      throw new CapError(
        'invalid',
        'this reference ends with the process and cannot be kept: keep a named driver, or an actor of this store',
      );
    return { $: ['r', ...name] };
  }
  if (Array.isArray(value)) return value.map((item) => tree(item, naming, room));
  if (value instanceof Uint8Array) take(room, 2 * value.length);
  if (value instanceof Uint8Array) return { $: ['b', Buffer.from(value).toString('base64')] };
  if (value instanceof Error) take(room, value.message.length);
  if (value instanceof Error) return { $: ['e', value instanceof CapError ? value.code : '', value.message] };
  const known = value instanceof Promise ? naming.fulfilled?.(value) : undefined;
  if (known !== undefined) return tree(known.value, naming, room);
  if (value instanceof Promise && naming.fleeting === true) return { $: ['x'] };
  if (value instanceof Promise)
    throw new CapError('invalid', 'a promise cannot be kept: wait with E.to(self, method), keep the result');
  const record: Record<string, Json> = Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      take(room, key.length);
      return [key, tree(item, naming, room)];
    }),
  );
  // A record of the program's that looks like one of ours is wrapped, so that it comes back as it was.
  return Object.keys(record).length === 1 && '$' in record ? { $: ['o', record['$'] as Json] } : record;
}

const damaged = (): CapError =>
  new CapError('invalid', 'the store holds a value that no version of Hob wrote: restore it from a backup');

/** The value that `text` says, frozen all through. */
export function decode(text: string, finding: Finding): unknown {
  let json: Json;
  try {
    json = JSON.parse(text) as Json;
  } catch {
    throw damaged();
  }
  return value(json, finding);
}

function value(json: Json, finding: Finding): unknown {
  if (typeof json !== 'object' || json === null) return json;
  if (Array.isArray(json)) return Object.freeze(json.map((item) => value(item as Json, finding)));
  const entries = Object.entries(json);
  const [only] = entries;
  if (entries.length === 1 && only?.[0] === '$') return special(only[1], finding);
  return Object.freeze(Object.fromEntries(entries.map(([key, item]) => [key, value(item, finding)])));
}

function special(said: Json, finding: Finding): unknown {
  if (!Array.isArray(said)) throw damaged();
  const [tag, ...rest] = said as readonly Json[];
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
      if (typeof first === 'string') return new Uint8Array(Buffer.from(first, 'base64'));
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

/** The names of all references in `text`, for marking what is still reachable. */
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
