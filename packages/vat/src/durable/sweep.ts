/**
 * Deletes the actors and tables of a store that nobody can reach any more (mark and sweep).
 *
 * Promise: everything reachable from a root, a sturdyref, a message on its way, a waiting actor or a
 * reference held in the process stays. The sweep runs in slices and yields to the event loop between them.
 * Turns that run in between lose nothing.
 *
 * Why this is safe: a turn can write only references that it holds. References held when the sweep starts are
 * marked first. Every reference that comes into memory later, made or loaded from the store, is marked when
 * it appears. So no turn can store an unmarked reference.
 */
import type { CapError } from '../core/errors.ts';
import { afterOthers } from '../drivers/loop.ts';
import { namesIn } from './codec.ts';
import { actorKey, ownerOf, rowsKey } from './keys.ts';
import type { ObjectStore } from './object-store.ts';
import type { OutputCommit } from './output-commit.ts';

/** Maximum ms of one slice. */
const slice = 3;
const page = 128;

/** Reads committed cells, a few at a time. Asynchronous, since the disk may be slow. */
export interface Pages {
  getAllLater(keys: readonly string[]): Promise<readonly (string | undefined)[]>;
  /** At most `limit` cells whose key begins with `prefix` and is greater than `after`, in key order. */
  pageLater(prefix: string, after: string, limit: number): Promise<readonly (readonly [key: string, value: string])[]>;
}

interface Sweeping {
  readonly read: Pages;
  readonly outputCommit: OutputCommit;
  readonly objectStore: ObjectStore;
  readonly tick: () => number;
  /** Set once the vats are closed. The next sweep deletes the rest. */
  readonly ended: () => CapError | undefined;
}

/**
 * The keys that are reachable. They are split into 1024 small sets by a hash of the key (FNV-1a): one set of
 * half a million keys blocks the process for 35 ms when it grows.
 */
class Marks {
  readonly #sets: Set<string>[] = Array.from({ length: 1024 }, () => new Set());
  /** Marked keys whose cells have not been read yet. */
  readonly #unread: string[] = [];

  has(key: string): boolean {
    return this.#of(key).has(key);
  }

  add(key: string): void {
    const set = this.#of(key);
    if (set.has(key)) return;
    set.add(key);
    this.#unread.push(key);
  }

  /** Marks the references in the text of a cell. */
  addFrom(text: string): void {
    for (const name of namesIn(text)) {
      if (name[0] === 'a') this.add(actorKey(name[1], name[2]));
      else if (name[0] === 't') this.add(rowsKey(name[1], name[2]));
    }
  }

  /** Some keys whose cells must be read now; none once everything reachable is marked. */
  nextUnread(): readonly string[] {
    return this.#unread.splice(-page);
  }

  #of(key: string): Set<string> {
    let hash = 0x811c9dc5;
    for (let i = 0; i < key.length; i += 1) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193);
    return this.#sets[hash & 1023] as Set<string>;
  }
}

/** Yields to the event loop after each slice. */
class Slices {
  readonly #tick: () => number;
  readonly #ended: () => CapError | undefined;
  #until: number;

  constructor({ tick, ended }: Sweeping) {
    this.#tick = tick;
    this.#ended = ended;
    this.#until = tick() + slice;
  }

  /** Returns false if the sweep must stop. */
  async yieldIfDue(): Promise<boolean> {
    if (this.#tick() < this.#until) return true;
    await new Promise<void>((resolve) => afterOthers(resolve));
    this.#until = this.#tick() + slice;
    return this.#ended() === undefined;
  }
}

/** Returns the number of cells that it deleted. */
export async function sweep(store: Sweeping): Promise<number> {
  const { outputCommit, objectStore } = store;
  const slices = new Slices(store);
  const marks = new Marks();
  const stop = objectStore.watchHeld((key) => marks.add(key));
  try {
    // A reference in an uncommitted batch may no longer be held by anybody.
    await outputCommit.settled();
    return (await markReachable(store, marks, slices)) ? await deleteUnmarked(store, marks, slices) : 0;
  } finally {
    stop();
  }
}

/** Returns false if the sweep must stop. */
async function markReachable(store: Sweeping, marks: Marks, slices: Slices): Promise<boolean> {
  const { read, outputCommit } = store;
  for (const prefix of ['r/', 's/', 'm/', 'w/']) if (!(await markFrom(prefix, store, marks, slices))) return false;
  for (let keys = marks.nextUnread(); keys.length > 0; keys = marks.nextUnread()) {
    for (const table of keys.filter((key) => key.startsWith('t/')))
      if (!(await markFrom(table, store, marks, slices))) return false;
    const actors = keys.filter((key) => key.startsWith('a/'));
    const texts = await read.getAllLater(actors);
    for (const [i, key] of actors.entries()) {
      // An uncommitted batch may hold a newer portrait. Mark from both.
      for (const text of [texts[i], outputCommit.pending(key)?.value])
        if (text !== undefined) marks.addFrom(text.slice(text.indexOf('\n') + 1));
      if (!(await slices.yieldIfDue())) return false;
    }
  }
  return true;
}

/**
 * Marks from all cells of a prefix, including those not on disk yet. Cells written meanwhile come from held
 * references. Returns false if the sweep must stop.
 */
async function markFrom(
  prefix: string,
  { read, outputCommit }: Sweeping,
  marks: Marks,
  slices: Slices,
): Promise<boolean> {
  for (let after = prefix; ; ) {
    const cells = await read.pageLater(prefix, after, page);
    for (const [key, text] of cells) {
      marks.addFrom(text);
      after = key;
    }
    if (!(await slices.yieldIfDue())) return false;
    if (cells.length < page) break;
  }
  for (const [, text] of outputCommit.pendingWith(prefix)) if (text !== undefined) marks.addFrom(text);
  return true;
}

async function deleteUnmarked({ read, outputCommit }: Sweeping, marks: Marks, slices: Slices): Promise<number> {
  let deleted = 0;
  for (const prefix of ['a/', 't/']) {
    for (let after = prefix; ; ) {
      const cells = await read.pageLater(prefix, after, page);
      const unmarked = new Map<string, undefined>();
      for (const [key] of cells) {
        after = key;
        if (!marks.has(ownerOf(key))) unmarked.set(key, undefined);
      }
      if (unmarked.size > 0) {
        outputCommit.turn(unmarked, []);
        await outputCommit.settled();
        deleted += unmarked.size;
      }
      if (!(await slices.yieldIfDue())) return deleted;
      if (cells.length < page) break;
    }
  }
  return deleted;
}
