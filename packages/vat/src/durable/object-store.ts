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
import { decodeAll, encode, type Name, type Naming } from './codec.ts';
import { actorKey, damaged, jsonIn, nameIn, namePart, numberPart, ownerOf, rowsKey } from './keys.ts';
import type { OutputCommit } from './output-commit.ts';
import { type Shape, StoredKinds } from './stored-kinds.ts';

/** The cells of a store, as of the last commit. */
export interface Cells {
  get(key: string): string | undefined;
  getAll(keys: readonly string[]): readonly (string | undefined)[];
  /** The cells whose key begins with `prefix`, in key order. */
  scan(prefix: string): Iterable<readonly [key: string, value: string]>;
}

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

/** The number of actors that one read asks for. More would be one long message, and a server has a time limit. */
const readAtOnce = 512;

/** A stored message: the key of its cell, and `[to, method, args, causes]`. */
export type OnTheWay = readonly [key: string, what: readonly unknown[]];

export class ObjectStore {
  readonly #cells: Cells;
  readonly #outputCommit: OutputCommit;
  readonly #makers: Makers;
  readonly #lasting: Naming;
  readonly #fleeting: Naming;
  readonly kinds: StoredKinds;
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
    this.kinds = new StoredKinds(cells, kinds);
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
    return this.decodeAll([text])[0];
  }

  /**
   * Decodes several texts. The actors that they refer to are read from the store together: a vat waits for each read,
   * and a server may take half a millisecond for one.
   */
  decodeAll(texts: readonly string[]): readonly unknown[] {
    let stored: ReadonlyMap<string, string | undefined> = new Map();
    return decodeAll(
      texts,
      { find: (name) => this.find(name, stored), lost: () => this.#makers.lost() },
      (names) => (stored = this.#readTogether(names)),
    );
  }

  /** The texts of the actors among `names` that nobody holds. Of a single one, `find` reads it. */
  #readTogether(names: readonly Name[]): ReadonlyMap<string, string | undefined> {
    const keys = new Set<string>();
    for (const [kind, vat, id] of names) if (kind === 'a') keys.add(actorKey(vat, id));
    const absent = [...keys].filter((key) => this.#known.get(key)?.deref() === undefined);
    const found = new Map<string, string | undefined>();
    for (let from = 0; absent.length > 1 && from < absent.length; from += readAtOnce) {
      const some = absent.slice(from, from + readAtOnce);
      for (const [n, text] of this.#cells.getAll(some).entries()) {
        const key = some[n] as string;
        found.set(
          key,
          this.#newest(key, () => text),
        );
      }
    }
    return found;
  }

  // ---- references ------------------------------------------------------------------------------

  /**
   * The reference of that name: the object that somebody holds, or else a new one for a sleeping actor, whose text may be
   * in `texts`.
   */
  find(name: Name, texts?: ReadonlyMap<string, string | undefined>): object {
    if (name[0] === 'd') return this.#makers.driver(name[1]);
    const [kind, vat, id] = name;
    const key = kind === 'a' ? actorKey(vat, id) : rowsKey(vat, id);
    const held = this.#known.get(key)?.deref();
    if (held !== undefined) return held;
    const textOf = (): string | undefined => (texts?.has(key) === true ? texts.get(key) : this.get(key));
    const made = kind === 'a' ? this.#makers.actor(vat, id, this.#stored(textOf())) : this.#makers.table(vat, id);
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
    return this.#newest(key, () => this.#cells.get(key));
  }

  /** A cell as the commit under way writes it, or else as it is stored. */
  #newest(key: string, stored: () => string | undefined): string | undefined {
    const pending = this.#outputCommit.pending(key);
    return pending === undefined ? stored() : pending.value;
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

  #stored(text: string | undefined): StoredActor | undefined {
    // The actor's turn was rolled back or its vat has ended, but somebody still holds its reference.
    if (text === undefined) return undefined;
    const comma = text.indexOf('\n');
    const [label, version, callable] = text.slice(0, comma).split(' ');
    const known = this.kinds.labelled(nameIn(label ?? ''));
    if (known === undefined || !/^\d+$/.test(version ?? '')) throw damaged('an actor without its kind');
    return { ...known, version: Number(version), args: text.slice(comma + 1), callable: callable === CALLABLE };
  }

  /** The text of an actor: its kind and version, then its arguments. */
  actorText(kind: ActorKind, args: readonly unknown[], callable: boolean): string {
    const flag = callable && this.kinds.shapeOf(kind) !== 'function' ? ` ${CALLABLE}` : '';
    return `${namePart(kind.label)} ${kind.options.version ?? 0}${flag}\n${this.encode(args)}`;
  }

  /** Undoes lost turns that wrote `keys`: every held object is reset to its stored state. */
  reload(keys: Iterable<string>): void {
    this.kinds.forget();
    this.kinds.check();
    const owners = new Set<string>();
    for (const key of keys) if (key.startsWith('a/') || key.startsWith('t/')) owners.add(ownerOf(key));
    for (const key of owners) {
      const held = this.#known.get(key)?.deref();
      if (held === undefined) continue;
      if (key.startsWith('t/')) this.#makers.unread(held);
      else this.#makers.reload(held, this.#stored(this.get(key)));
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
      const [code, message] = jsonIn(text) as readonly unknown[];
      return [key, nameIn(key.slice(2)), new CapError(String(code), String(message))] as const;
    });
  }

  /** Returns the batch that must be durable before effects that depend on the present state may leave. */
  newestOrCheck(): Barrier | undefined {
    return this.#outputCommit.newestOrCheck();
  }
}

const isReference = (x: object): boolean => ByReference.is(x) || typeof x === 'function';
