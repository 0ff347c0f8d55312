/**
 * What the vats of one store keep: portraits, rows, roots, queued messages, as cells by key.
 *
 * Promise: a reference that was kept is found again, as the same object for as long as anybody holds it; only definitions of the
 * given environment are ever brought to life, so a store cannot invent authority. A store with a label that the environment lacks,
 * or with a newer version of one, is refused whole, by name, before anything runs.
 *
 * Keys begin with what they are: a/VAT/ID actors, t/VAT/ID/KEY rows, r/VAT/NAME roots, s/HASH sturdyrefs, m/N messages on their way,
 * w/N actors that wait, c/CAUSE what was cut, k/LABEL kinds, n/VAT the last number given out, v/time vat time,
 * e/TIME/VAT/N who is to be woken. Rows carry their vat, so a vat's end is one range.
 */
import type { Barrier } from '../core/barrier.ts';
import { CapError } from '../core/errors.ts';
import type { Kind } from '../core/kind.ts';
import { ByReference } from '../core/reference.ts';
import { decode, encode, type Name, type Naming } from './codec.ts';
import type { OutputCommit } from './output-commit.ts';

/** The cells of a store, as last committed. */
export interface Cells {
  get(key: string): string | undefined;
  /** Those whose key begins with `prefix`, in the order of their keys. */
  scan(prefix: string): Iterable<readonly [key: string, value: string]>;
}

/** How references to actors of a kind look: known without waking one. */
export type Shape = 'function' | 'procedure' | readonly string[];

/** What the keeper needs of what it keeps; given by the modules that know actors, tables and drivers. */
export interface Makers {
  /** `stored` is undefined where it is no longer in the store: it keeps its name, and calls on it break. */
  actor(vat: string, id: number, stored: StoredActor | undefined): object;
  table(vat: string, id: number): object;
  driver(name: string): object;
  /** A reference to something that ended with an earlier process: what is sent to it breaks. */
  lost(): object;
  /** What a reference of ours is called; undefined for one that ends with the process. */
  nameOf(reference: object, keeper: ObjectStore): Name | undefined;
  /** What a promise has become, where it has. */
  fulfilled(promise: object): { readonly value: unknown } | undefined;
  /** Lets an actor sleep, if it may. */
  rest(actor: object): void;
  /** What was known of an actor never happened: it is what is stored, or is gone. */
  reload(actor: object, stored: StoredActor | undefined): void;
  /** The same for a table. */
  unread(table: object): void;
}

/** A portrait as the store has it. */
export interface StoredActor {
  readonly kind: Kind;
  readonly version: number;
  readonly args: string;
  readonly shape: Shape;
}

/** So that a full round takes half as many turns as there are references. */
const askedPerTurn = 2;

function part(text: string): string {
  if (!text.isWellFormed()) throw new CapError('invalid', 'names in a durable store are Unicode text');
  return encodeURIComponent(text);
}
const number = (n: number): string => String(n).padStart(16, '0');

export const actorKey = (vat: string, id: number): string => `a/${part(vat)}/${id}`;
export const rowsKey = (vat: string, id: number): string => `t/${part(vat)}/${id}/`;
export const rootKey = (vat: string, name: string): string => `r/${part(vat)}/${part(name)}`;
export const sturdyrefKey = (hash: string): string => `s/${hash}`;
export const numbersKey = (vat: string): string => `n/${part(vat)}`;
/** A cause that ended while messages under it were on their way. */
export const cutKey = (cause: string): string => `c/${part(cause)}`;
const kindKey = (label: string): string => `k/${part(label)}`;

const damaged = (what: string): CapError =>
  new CapError('invalid', `the store is damaged (${what}): restore it from a backup`);

/** A message that is kept: its cell, and `[to, method, args, causes]`. */
export type OnTheWay = readonly [key: string, what: readonly unknown[]];

export class ObjectStore {
  readonly #cells: Cells;
  readonly #edge: OutputCommit;
  readonly #makers: Makers;
  readonly #lasting: Naming;
  readonly #fleeting: Naming;
  readonly #kinds: ReadonlyMap<string, Kind>;
  /** Which versions of a label actors may still have. */
  readonly #versions = new Map<string, readonly number[]>();
  /** What is written of each label already, so that it is written once. */
  readonly #written = new Map<string, string>();
  /** References that somebody may still hold, by name. */
  readonly #known = new Map<string, WeakRef<object>>();
  readonly #gone = new FinalizationRegistry<string>((key) => {
    if (this.#known.get(key)?.deref() === undefined) this.#known.delete(key);
  });
  #messages = 0;

  constructor(cells: Cells, edge: OutputCommit, kinds: readonly Kind[], makers: Makers) {
    this.#cells = cells;
    this.#edge = edge;
    this.#makers = makers;
    this.#lasting = { isReference, nameOf: (x) => makers.nameOf(x, this) };
    this.#fleeting = { ...this.#lasting, fulfilled: (x) => makers.fulfilled(x), fleeting: true };
    this.#kinds = byLabel(kinds);
    this.#checkKinds();
    for (const prefix of ['m/', 'w/'])
      for (const [key] of cells.scan(prefix)) this.#messages = Math.max(this.#messages, Number(key.slice(2)));
  }

  // ---- values ------------------------------------------------------------------------------------------------------------

  /** For a portrait, a row, a root: what ends with the process is refused. */
  encode(value: unknown): string {
    return encode(value, this.#lasting);
  }

  /** For a message on its way: what ends with the process arrives broken after a restart. */
  encodeMessage(value: unknown): string {
    return encode(value, this.#fleeting);
  }

  decode(text: string): unknown {
    return decode(text, { find: (name) => this.find(name), lost: () => this.#makers.lost() });
  }

  // ---- references ----------------------------------------------------------------------------------------------------------

  /** The reference of that name: the one that is held somewhere, or a sleeping one. */
  find(name: Name): object {
    if (name[0] === 'd') return this.#makers.driver(name[1]);
    const [kind, vat, id] = name;
    const key = kind === 'a' ? actorKey(vat, id) : rowsKey(vat, id);
    const held = this.#known.get(key)?.deref();
    if (held !== undefined) return held;
    const made = kind === 'a' ? this.#makers.actor(vat, id, this.#stored(key)) : this.#makers.table(vat, id);
    this.met(key, made);
    return made;
  }

  /** A reference was made: it is the one for that key as long as it is held. */
  met(key: string, reference: object): void {
    this.#known.set(key, new WeakRef(reference));
    this.#held?.(key);
    this.#gone.register(reference, key);
  }

  #resting: Iterator<readonly [key: string, reference: WeakRef<object>]> | undefined;

  /** Between turns, where more than `awake` references are known: asks the next few, round and round, whether they may sleep. */
  restSome(awake: number): void {
    if (this.#known.size <= awake) return;
    this.#resting ??= this.#known.entries();
    for (let i = 0; i < askedPerTurn; i += 1) {
      const next = this.#resting.next();
      if (next.done === true) {
        this.#resting = undefined;
        return;
      }
      const [key, held] = next.value;
      const reference = key.startsWith('a/') ? held.deref() : undefined;
      if (reference !== undefined) this.#makers.rest(reference);
    }
  }

  #held: ((key: string) => void) | undefined;

  /** Tells of all references that somebody may hold: those there are, and each one that comes, until it is stopped. */
  watchHeld(tell: (key: string) => void): () => void {
    this.#held = tell;
    for (const [key, held] of this.#known) if (held.deref() !== undefined) tell(key);
    return () => {
      this.#held = undefined;
    };
  }

  get(key: string): string | undefined {
    const pending = this.#edge.pending(key);
    return pending === undefined ? this.#cells.get(key) : pending.value;
  }

  /** As `get`, for all keys that begin with `prefix`. */
  scan(prefix: string): ReadonlyMap<string, string> {
    const found = new Map(this.#cells.scan(prefix));
    for (const [key, value] of this.#edge.pendingWith(prefix)) {
      if (value === undefined) found.delete(key);
      else found.set(key, value);
    }
    return found;
  }

  #stored(key: string): StoredActor | undefined {
    const text = this.get(key);
    // Somebody still has its name: its turn was undone, or its vat ended. Whoever holds it must not be lost with it.
    if (text === undefined) return undefined;
    const comma = text.indexOf('\n');
    const [label, version] = text.slice(0, comma).split(' ');
    const kind = this.#kinds.get(unpart(label ?? ''));
    const shape = kind === undefined ? undefined : this.#shapes.get(kind);
    if (kind === undefined || shape === undefined || !/^\d+$/.test(version ?? ''))
      throw damaged('an actor without its kind');
    return { kind, version: Number(version), args: text.slice(comma + 1), shape };
  }

  /** How an actor is written: its kind and version, then its arguments. */
  actorText(kind: Kind, args: readonly unknown[]): string {
    return `${part(kind.label)} ${kind.options.version ?? 0}\n${this.encode(args)}`;
  }

  // ---- kinds -----------------------------------------------------------------------------------------------------------------

  readonly #shapes = new Map<Kind, Shape>();
  /** Of kinds whose cell says what `keepKind` would write. */
  readonly #current = new Map<Kind, Shape>();

  /** How a kind looks, as it is written down in the version of this environment; undefined where it is not yet. */
  keptShape(kind: Kind): Shape | undefined {
    return this.#current.get(kind);
  }

  /** Writes down how a kind looks, the first time that one of its actors is kept. Throws where the environment does not have it. */
  keepKind(kind: Kind, shape: Shape, cells: Map<string, string | undefined>): void {
    if (this.#kinds.get(kind.label) !== kind)
      throw new CapError(
        'invalid',
        `"${kind.label}" is not among the definitions of this store: give it to openVats, or a restart could not bring it back`,
      );
    const version = kind.options.version ?? 0;
    // Actors of older versions stay as they are until they change: whoever opens the store next must know all of them.
    const older = (this.#versions.get(kind.label) ?? []).filter((one) => one !== version);
    const text = JSON.stringify([version, shape, older]);
    this.#current.set(kind, shape);
    if (this.#written.get(kind.label) === text) return;
    this.#shapes.set(kind, shape);
    this.#written.set(kind.label, text);
    cells.set(kindKey(kind.label), text);
  }

  /** The turn that wrote it was undone: it has to be written again. */
  forgetKinds(): void {
    this.#written.clear();
    this.#current.clear();
  }

  /** What these cells were thought to be never happened: whoever is held is put back to what the store says. */
  reload(keys: Iterable<string>): void {
    this.forgetKinds();
    this.#checkKinds();
    const owners = new Set<string>();
    for (const key of keys) if (key.startsWith('a/') || key.startsWith('t/')) owners.add(ownerOf(key));
    for (const key of owners) {
      const held = this.#known.get(key)?.deref();
      if (held === undefined) continue;
      if (key.startsWith('t/')) this.#makers.unread(held);
      else this.#makers.reload(held, this.#stored(key));
    }
  }

  #checkKinds(): void {
    for (const [key, text] of this.#cells.scan('k/')) {
      const label = unpart(key.slice(2));
      const { version, shape, older } = lookFrom(text);
      const kind = this.#kinds.get(label);
      if (kind === undefined)
        throw new CapError(
          'invalid',
          `the store holds objects called "${label}", which no definition given to openVats is: add it, or name it in formerly`,
        );
      const mine = kind.options.version ?? 0;
      if (version > mine)
        throw new CapError(
          'invalid',
          `the store holds "${label}" in version ${version}, and this program has ${mine}: use a newer program`,
        );
      for (const one of [...older, version])
        if (one !== mine && kind.options.upgrade?.[one] === undefined)
          throw new CapError(
            'invalid',
            `the store holds "${label}" in version ${one}: the definition of version ${mine} needs upgrade[${one}]`,
          );
      this.#versions.set(label, [...older, version]);
      this.#shapes.set(kind, shape);
      if (kind.label === label) this.#written.set(label, text);
    }
  }

  // ---- messages ----------------------------------------------------------------------------------------------------------------

  messageKey(): string {
    this.#messages += 1;
    return `m/${number(this.#messages)}`;
  }

  #queued = '';

  /** The key of a message that joins the queue now: keys are in the order of the queue, since that is how it is restored. */
  queuedAs(key: string | undefined): string {
    if (key?.startsWith('w/') === true) return key;
    const kept = key === undefined || key < this.#queued ? this.messageKey() : key;
    this.#queued = kept;
    return kept;
  }

  waitKey(): string {
    this.#messages += 1;
    return `w/${number(this.#messages)}`;
  }

  /** What was on its way when the process ended, in the order in which it was sent. */
  onTheWay(): readonly OnTheWay[] {
    return this.#inOrder([...this.#cells.scan('m/'), ...this.#cells.scan('w/')]);
  }

  /** Those of `keys` that are messages, and in the store. */
  stillOnTheWay(keys: Iterable<string>): readonly OnTheWay[] {
    const found: (readonly [string, string])[] = [];
    for (const key of keys) {
      const text = key.startsWith('m/') || key.startsWith('w/') ? this.#cells.get(key) : undefined;
      if (text !== undefined) found.push([key, text]);
    }
    return this.#inOrder(found);
  }

  #inOrder(cells: readonly (readonly [string, string])[]): readonly OnTheWay[] {
    return cells
      .toSorted(([a], [b]) => (a.slice(2) < b.slice(2) ? -1 : 1))
      .map(([key, text]) => [key, this.decode(text) as readonly unknown[]] as const);
  }

  /** What was cut while messages were on their way: the cell, the cause and why. */
  cuts(): readonly (readonly [key: string, cause: string, why: CapError])[] {
    return [...this.#cells.scan('c/')].map(([key, text]) => {
      const [code, message] = parsed(text) as readonly unknown[];
      return [key, unpart(key.slice(2)), new CapError(String(code), String(message))] as const;
    });
  }

  /** What has to be durable before something seen now may leave. */
  newest(): Barrier | undefined {
    return this.#edge.newest();
  }
}

/** A row belongs to its table: `t/VAT/ID/`. */
export const ownerOf = (key: string): string =>
  key.startsWith('t/') ? key.slice(0, key.indexOf('/', key.indexOf('/', 2) + 1) + 1) : key;

const isReference = (x: object): boolean => ByReference.is(x) || typeof x === 'function';

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw damaged('a cell that is no JSON');
  }
}

function unpart(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw damaged('a name');
  }
}

function lookFrom(text: string): {
  readonly version: number;
  readonly shape: Shape;
  readonly older: readonly number[];
} {
  const [version, shape, older] = (parsed(text) ?? []) as readonly unknown[];
  if (!Number.isSafeInteger(version) || !Array.isArray(older) || (typeof shape !== 'string' && !Array.isArray(shape)))
    throw damaged('a kind');
  return { version: version as number, shape: shape as Shape, older: older as readonly number[] };
}

function byLabel(kinds: readonly Kind[]): ReadonlyMap<string, Kind> {
  const found = new Map<string, Kind>();
  for (const kind of kinds)
    for (const label of [kind.label, ...(kind.options.formerly ?? [])]) {
      if (found.has(label)) throw new CapError('invalid', `two definitions are or were called "${label}": rename one`);
      found.set(label, kind);
    }
  return found;
}
