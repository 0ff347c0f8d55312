/**
 * The kinds of the actors in a store.
 *
 * Promise: a store with an actor whose definition this program lacks, or has in an older version, is not opened.
 */
import { CapError } from '../core/errors.ts';
import type { ActorKind } from '../core/kind.ts';
import { damaged, jsonIn, kindKey, nameIn } from './keys.ts';

/** The type of references to actors of a kind. It is known without waking an actor. */
export type Shape = 'function' | 'procedure' | readonly string[];

interface Cells {
  scan(prefix: string): Iterable<readonly [key: string, value: string]>;
}

export class StoredKinds {
  readonly #cells: Cells;
  readonly #kinds: ReadonlyMap<string, ActorKind>;
  /** The older versions of a label that stored actors may still have. */
  readonly #versions = new Map<string, readonly number[]>();
  /** The text already written for each label, so that it is written once. */
  readonly #written = new Map<string, string>();
  readonly #shapes = new Map<ActorKind, Shape>();
  /** Kinds whose cell already holds the text that `keep` would write. */
  readonly #current = new Map<ActorKind, Shape>();

  constructor(cells: Cells, kinds: readonly ActorKind[]) {
    this.#cells = cells;
    this.#kinds = byLabel(kinds);
    this.check();
  }

  /** The kind of stored actors with this label; undefined if none is stored. */
  labelled(label: string): { readonly kind: ActorKind; readonly shape: Shape } | undefined {
    const kind = this.#kinds.get(label);
    const shape = kind === undefined ? undefined : this.#shapes.get(kind);
    return kind === undefined || shape === undefined ? undefined : { kind, shape };
  }

  /** The shape of a kind, as stored for this environment's version; undefined if not stored yet. */
  shapeOf(kind: ActorKind): Shape | undefined {
    return this.#current.get(kind);
  }

  /**
   * Writes the shape of a kind when the first of its actors is stored. Throws if the environment lacks the
   * kind.
   */
  keep(kind: ActorKind, shape: Shape, cells: Map<string, string | undefined>): void {
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
  forget(): void {
    this.#written.clear();
    this.#current.clear();
  }

  /** Reads the kinds from the store. Errors: `invalid` (this program cannot serve one of them). */
  check(): void {
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
}

function kindFrom(text: string): {
  readonly version: number;
  readonly shape: Shape;
  readonly older: readonly number[];
} {
  const [version, shape, older] = (jsonIn(text) ?? []) as readonly unknown[];
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
