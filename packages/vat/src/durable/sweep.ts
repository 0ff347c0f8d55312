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
import { actorKey, type ObjectStore, ownerOf, rowsKey } from './object-store.ts';
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

export interface Sweeping {
  readonly read: Pages;
  readonly edge: OutputCommit;
  readonly keeper: ObjectStore;
  readonly tick: () => number;
  /** Set once the vats are closed. The next sweep deletes the rest. */
  readonly ended: () => CapError | undefined;
}

/**
 * The set of marked keys, split into 1024 small sets by a hash of the key (FNV-1a). One set of half a million
 * keys blocks the process for 35 ms when it grows.
 */
class Marks {
  readonly #sets: Set<string>[] = Array.from({ length: 1024 }, () => new Set());

  has(key: string): boolean {
    return this.#of(key).has(key);
  }

  add(key: string): void {
    this.#of(key).add(key);
  }

  #of(key: string): Set<string> {
    let hash = 0x811c9dc5;
    for (let i = 0; i < key.length; i += 1) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193);
    return this.#sets[hash & 1023] as Set<string>;
  }
}

/** Returns the number of cells that it deleted. */
export async function sweep({ read, edge, keeper, tick, ended }: Sweeping): Promise<number> {
  const marked = new Marks();
  const grey: string[] = [];
  const mark = (key: string): void => {
    if (marked.has(key)) return;
    marked.add(key);
    grey.push(key);
  };
  const markAll = (text: string): void => {
    for (const name of namesIn(text)) {
      if (name[0] === 'a') mark(actorKey(name[1], name[2]));
      else if (name[0] === 't') mark(rowsKey(name[1], name[2]));
    }
  };

  let until = tick() + slice;
  /** Yields to the event loop when the slice is over. Returns false if the sweep must stop. */
  const yieldIfDue = async (): Promise<boolean> => {
    if (tick() < until) return true;
    await new Promise<void>((resolve) => afterOthers(resolve));
    until = tick() + slice;
    return ended() === undefined;
  };
  /**
   * Marks from all cells of a prefix, including those not on disk yet. Cells written meanwhile come from held
   * references.
   */
  const each = async (prefix: string): Promise<boolean> => {
    for (let after = prefix; ; ) {
      const some = await read.pageLater(prefix, after, page);
      for (const [key, text] of some) {
        markAll(text);
        after = key;
      }
      if (!(await yieldIfDue())) return false;
      if (some.length < page) break;
    }
    for (const [, text] of edge.pendingWith(prefix)) if (text !== undefined) markAll(text);
    return true;
  };

  const stop = keeper.watchHeld(mark);
  try {
    // A reference in an uncommitted batch may no longer be held by anybody.
    await edge.settled();
    for (const prefix of ['r/', 's/', 'm/', 'w/']) if (!(await each(prefix))) return 0;
    while (grey.length > 0) {
      const some = grey.splice(-page);
      for (const table of some.filter((key) => key.startsWith('t/'))) if (!(await each(table))) return 0;
      const actors = some.filter((key) => key.startsWith('a/'));
      const texts = await read.getAllLater(actors);
      for (const [i, key] of actors.entries()) {
        // An uncommitted batch may hold a newer portrait. Mark from both.
        for (const text of [texts[i], edge.pending(key)?.value])
          if (text !== undefined) markAll(text.slice(text.indexOf('\n') + 1));
        if (!(await yieldIfDue())) return 0;
      }
    }

    let deleted = 0;
    for (const prefix of ['a/', 't/']) {
      for (let after = prefix; ; ) {
        const some = await read.pageLater(prefix, after, page);
        const over = new Map<string, undefined>();
        for (const [key] of some) {
          after = key;
          if (!marked.has(ownerOf(key))) over.set(key, undefined);
        }
        if (over.size > 0) {
          edge.turn(over, []);
          await edge.settled();
          deleted += over.size;
        }
        if (!(await yieldIfDue())) return deleted;
        if (some.length < page) break;
      }
    }
    return deleted;
  } finally {
    stop();
  }
}
