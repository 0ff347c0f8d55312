/**
 * The contents of the store for all vats: portraits, rows, roots and queued messages, as cells by key.
 *
 * Promise: a stored reference is found again, as the same object while anybody holds it. Only definitions of
 * the given environment are ever run, so a store cannot invent authority. A store is refused before anything
 * runs if it has a label that the environment lacks, or a newer version of one. The error names the label.
 */
import type { Barrier } from '../core/barrier.ts';
import { CapError } from '../core/errors.ts';
import type { ActorKind } from '../core/kind.ts';
import { ByReference } from '../core/reference.ts';
import { decode, encode, type Name, type Naming } from './codec.ts';
import { actorKey, damaged, kindKey, nameIn, namePart, numberPart, ownerOf, rowsKey } from './keys.ts';
import type { OutputCommit } from './output-commit.ts';

/** The cells of a store, as of the last commit. */
export interface Cells {
  get(key: string): string | undefined;
  /** The cells whose key begins with `prefix`, in key order. */
  scan(prefix: string): Iterable<readonly [key: string, value: string]>;
}

/** The type of references to actors of a kind. It is known without waking an actor. */
export type Shape = 'function' | 'procedure' | readonly string[];

/** Functions that the object store needs. The modules for actors, tables and drivers provide them. */
interface Makers {
  /**
   * `stored` is undefined for an actor that is no longer in the store. It keeps its name, and calls on it
   * break.
   */
  actor(vat: string, id: number, stored: StoredActor | undefined): object;
  table(vat: string, id: number): object;
  driver(name: string): object;
  /** A stand-in for something that ended with an earlier process. Messages to it break. */
  lost(): object;
  /** The name of one of our references; undefined for one that ends with the process. */
  nameOf(reference: object, objectStore: ObjectStore): Name | undefined;
  /** The value that a promise was fulfilled with; undefined while it is not fulfilled. */
  fulfilled(promise: object): { readonly value: unknown } | undefined;
  /** Puts an actor to sleep, if it may sleep. */
  rest(actor: object): void;
  /**
   * Resets an actor to its stored state after its turns were lost. Without stored state the actor is gone.
   */
  reload(actor: object, stored: StoredActor | undefined): void;
  /** The same for a table. */
  unread(table: object): void;
}

/** A portrait as the store holds it. */
export interface StoredActor {
  readonly kind: ActorKind;
  readonly version: number;
  readonly args: string;
  readonly shape: Shape;
  /** The reference to it can be called without a method name, whatever its shape. */
  readonly callable: boolean;
}

/** The third word before the arguments of such an actor. */
const CALLABLE = 'callable';

/** With 2 per turn, a full round over all references takes half as many turns as there are references. */
const askedPerTurn = 2;

/** A stored message: the key of its cell, and `[to, method, args, causes]`. */
export type OnTheWay = readonly [key: string, what: readonly unknown[]];

export class ObjectStore {
  readonly #cells: Cells;
  readonly #outputCommit: OutputCommit;
  readonly #makers: Makers;
  readonly #lasting: Naming;
  readonly #fleeting: Naming;
  readonly #kinds: ReadonlyMap<string, ActorKind>;
  /** The older versions of a label that stored actors may still have. */
  readonly #versions = new Map<string, readonly number[]>();
  /** The text already written for each label, so that it is written once. */
  readonly #written = new Map<string, string>();
  /** The references that somebody may still hold, by name. */
  readonly #known = new Map<string, WeakRef<object>>();
  readonly #gone = new FinalizationRegistry<string>((key) => {
    if (this.#known.get(key)?.deref() === undefined) this.#known.delete(key);
  });
  #messages = 0;

  constructor(cells: Cells, outputCommit: OutputCommit, kinds: readonly ActorKind[], makers: Makers) {
    this.#cells = cells;
    this.#outputCommit = outputCommit;
    this.#makers = makers;
    this.#lasting = { isReference, nameOf: (x) => makers.nameOf(x, this) };
    this.#fleeting = { ...this.#lasting, fulfilled: (x) => makers.fulfilled(x), fleeting: true };
    this.#kinds = byLabel(kinds);
    this.#checkKinds();
    for (const prefix of ['m/', 'w/'])
      for (const [key] of cells.scan(prefix)) this.#messages = Math.max(this.#messages, Number(key.slice(2)));
  }

  // ---- values ----------------------------------------------------------------------------------

  /** For a portrait, a row or a root: a value that ends with the process is refused. */
  encode(value: unknown): string {
    return encode(value, this.#lasting);
  }

  /** For a message on its way: a value that ends with the process arrives broken after a restart. */
  encodeMessage(value: unknown): string {
    return encode(value, this.#fleeting);
  }

  decode(text: string): unknown {
    return decode(text, { find: (name) => this.find(name), lost: () => this.#makers.lost() });
  }

  // ---- references ------------------------------------------------------------------------------

  /** The reference of that name: the object that somebody holds, or else a new one for a sleeping actor. */
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

  /** Records `reference` as the one object for `key` while anybody holds it. */
  met(key: string, reference: object): void {
    this.#known.set(key, new WeakRef(reference));
    this.#held?.(key);
    this.#gone.register(reference, key);
  }

  #resting: Iterator<readonly [key: string, reference: WeakRef<object>]> | undefined;

  /**
   * Called between turns. If more than `awake` references are known, lets the next few sleep, in rotation.
   */
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

  /**
   * Calls `tell` for every reference that somebody may hold, now and as new ones appear. Returns a function
   * that stops it.
   */
  watchHeld(tell: (key: string) => void): () => void {
    this.#held = tell;
    for (const [key, held] of this.#known) if (held.deref() !== undefined) tell(key);
    return () => {
      this.#held = undefined;
    };
  }

  get(key: string): string | undefined {
    const pending = this.#outputCommit.pending(key);
    return pending === undefined ? this.#cells.get(key) : pending.value;
  }

  /** Like `get`, for all keys that begin with `prefix`. */
  scan(prefix: string): ReadonlyMap<string, string> {
    const found = new Map(this.#cells.scan(prefix));
    for (const [key, value] of this.#outputCommit.pendingWith(prefix)) {
      if (value === undefined) found.delete(key);
      else found.set(key, value);
    }
    return found;
  }

  #stored(key: string): StoredActor | undefined {
    const text = this.get(key);
    // The actor's turn was rolled back or its vat has ended, but somebody still holds its reference.
    if (text === undefined) return undefined;
    const comma = text.indexOf('\n');
    const [label, version, callable] = text.slice(0, comma).split(' ');
    const kind = this.#kinds.get(nameIn(label ?? ''));
    const shape = kind === undefined ? undefined : this.#shapes.get(kind);
    if (kind === undefined || shape === undefined || !/^\d+$/.test(version ?? ''))
      throw damaged('an actor without its kind');
    return { kind, version: Number(version), args: text.slice(comma + 1), shape, callable: callable === CALLABLE };
  }

  /** The text of an actor: its kind and version, then its arguments. */
  actorText(kind: ActorKind, args: readonly unknown[], callable: boolean): string {
    const flag = callable && this.keptShape(kind) !== 'function' ? ` ${CALLABLE}` : '';
    return `${namePart(kind.label)} ${kind.options.version ?? 0}${flag}\n${this.encode(args)}`;
  }

  // ---- kinds -----------------------------------------------------------------------------------

  readonly #shapes = new Map<ActorKind, Shape>();
  /** Kinds whose cell already holds the text that `keepKind` would write. */
  readonly #current = new Map<ActorKind, Shape>();

  /** The shape of a kind, as stored for this environment's version; undefined if not stored yet. */
  keptShape(kind: ActorKind): Shape | undefined {
    return this.#current.get(kind);
  }

  /**
   * Writes the shape of a kind when the first of its actors is stored. Throws if the environment lacks the
   * kind.
   */
  keepKind(kind: ActorKind, shape: Shape, cells: Map<string, string | undefined>): void {
    if (this.#kinds.get(kind.label) !== kind)
      throw new CapError(
        'invalid',
        `"${kind.label}" is not among the definitions of this store: give it to openVats, or a restart could not bring it back`,
      );
    const version = kind.options.version ?? 0;
    // Actors of older versions stay unchanged until they change. The next program that opens the store must
    // know those versions too.
    const older = (this.#versions.get(kind.label) ?? []).filter((one) => one !== version);
    const text = JSON.stringify([version, shape, older]);
    this.#current.set(kind, shape);
    if (this.#written.get(kind.label) === text) return;
    this.#shapes.set(kind, shape);
    this.#written.set(kind.label, text);
    cells.set(kindKey(kind.label), text);
  }

  /** Call after a rolled-back turn: the kinds it wrote must be written again. */
  forgetKinds(): void {
    this.#written.clear();
    this.#current.clear();
  }

  /** Undoes lost turns that wrote `keys`: every held object is reset to its stored state. */
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
      const label = nameIn(key.slice(2));
      const { version, shape, older } = kindFrom(text);
      const kind = this.#kinds.get(label);
      if (kind === undefined)
        throw new CapError(
          'invalid',
          `the store holds objects called "${label}", and no definition given to openVats has that label: add it, or name it in formerly`,
        );
      const mine = kind.options.version ?? 0;
      if (version > mine)
        throw new CapError(
          'invalid',
          `the store holds "${label}" in version ${version}, and this program has ${mine}: use a newer program`,
        );
      for (const one of [...older, version])
        if (kind.stepsFrom(one) === undefined)
          throw new CapError(
            'invalid',
            `the store holds "${label}" in version ${one}: the definition of version ${mine} needs upgrade[${one}] or migrations[${one + 1}] to migrations[${mine}]`,
          );
      this.#versions.set(label, [...older, version]);
      this.#shapes.set(kind, shape);
      if (kind.label === label) this.#written.set(label, text);
    }
  }

  // ---- messages --------------------------------------------------------------------------------

  messageKey(): string {
    this.#messages += 1;
    return `m/${numberPart(this.#messages)}`;
  }

  #queued = '';

  /**
   * The key for a message that joins the queue now. Keys must be in queue order, because a restart restores
   * the queue by key.
   */
  queuedAs(key: string | undefined): string {
    if (key?.startsWith('w/') === true) return key;
    const kept = key === undefined || key < this.#queued ? this.messageKey() : key;
    this.#queued = kept;
    return kept;
  }

  waitKey(): string {
    this.#messages += 1;
    return `w/${numberPart(this.#messages)}`;
  }

  /** The messages that were on their way when the process ended, in the order they were sent. */
  onTheWay(): readonly OnTheWay[] {
    return this.#inOrder([...this.#cells.scan('m/'), ...this.#cells.scan('w/')]);
  }

  /** The messages among `keys` that are still in the store. */
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

  /** The causes that were cut while messages were on their way. */
  cuts(): readonly (readonly [key: string, cause: string, why: CapError])[] {
    return [...this.#cells.scan('c/')].map(([key, text]) => {
      const [code, message] = parsed(text) as readonly unknown[];
      return [key, nameIn(key.slice(2)), new CapError(String(code), String(message))] as const;
    });
  }

  /** Returns the batch that must be durable before effects that depend on the present state may leave. */
  newestOrCheck(): Barrier | undefined {
    return this.#outputCommit.newestOrCheck();
  }
}

const isReference = (x: object): boolean => ByReference.is(x) || typeof x === 'function';

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw damaged('a cell that is no JSON');
  }
}

function kindFrom(text: string): {
  readonly version: number;
  readonly shape: Shape;
  readonly older: readonly number[];
} {
  const [version, shape, older] = (parsed(text) ?? []) as readonly unknown[];
  if (!Number.isSafeInteger(version) || !Array.isArray(older) || (typeof shape !== 'string' && !Array.isArray(shape)))
    throw damaged('a kind');
  return { version: version as number, shape: shape as Shape, older: older as readonly number[] };
}

function byLabel(kinds: readonly ActorKind[]): ReadonlyMap<string, ActorKind> {
  const found = new Map<string, ActorKind>();
  for (const kind of kinds)
    for (const label of [kind.label, ...(kind.options.formerly ?? [])]) {
      if (found.has(label)) throw new CapError('invalid', `two definitions are or were called "${label}": rename one`);
      found.set(label, kind);
    }
  return found;
}
