/**
 * Deletes what nobody can reach any more: the actors and tables of a store.
 *
 * Promise: whatever a root, a sturdyref, a message on its way or an actor that waits leads to stays, and so does whatever the
 * process holds a reference to, and what that leads to. It runs in slices, with the event loop let go between them; turns that run
 * in between lose nothing.
 *
 * Why that is safe: a turn can only write down references that it holds. Those that were held when the sweep began are marked first;
 * whatever comes into memory later (made, or woken from the store) is marked as it comes. So a reference cannot get behind the mark.
 */
import type { CapError } from '../core/errors.ts';
import { afterOthers } from '../drivers/loop.ts';
import { namesIn } from './codec.ts';
import { actorKey, type ObjectStore, ownerOf, rowsKey } from './object-store.ts';
import type { OutputCommit } from './output-commit.ts';

/** ms of one slice. */
const slice = 3;
const page = 128;

/** Cells as last committed, a few at a time: not waited for, since the disk may be slow. */
export interface Pages {
  getAllLater(keys: readonly string[]): Promise<readonly (string | undefined)[]>;
  /** At most `limit` of those whose key begins with `prefix` and is greater than `after`, in the order of their keys. */
  pageLater(prefix: string, after: string, limit: number): Promise<readonly (readonly [key: string, value: string])[]>;
}

export interface Sweeping {
  readonly read: Pages;
  readonly edge: OutputCommit;
  readonly keeper: ObjectStore;
  readonly tick: () => number;
  /** The vats are closed: what is not deleted yet is for the next sweep. */
  readonly ended: () => CapError | undefined;
}

/**
 * Names that were met, in many small sets: one that holds half a million stands still for 35 ms when it grows.
 * Which set is by a hash of the name (FNV-1a).
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

/** Answers how many cells it deleted. */
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
  /** Lets the loop go where it is time; answers whether to go on. */
  const breathe = async (): Promise<boolean> => {
    if (tick() < until) return true;
    await new Promise<void>((resolve) => afterOthers(resolve));
    until = tick() + slice;
    return ended() === undefined;
  };
  /** All cells of a prefix, also those that are not on the disk yet. What is written meanwhile is held by somebody. */
  const each = async (prefix: string): Promise<boolean> => {
    for (let after = prefix; ; ) {
      const some = await read.pageLater(prefix, after, page);
      for (const [key, text] of some) {
        markAll(text);
        after = key;
      }
      if (!(await breathe())) return false;
      if (some.length < page) break;
    }
    for (const [, text] of edge.pendingWith(prefix)) if (text !== undefined) markAll(text);
    return true;
  };

  const stop = keeper.watchHeld(mark);
  try {
    // What is not on the disk yet may be held by nobody any more.
    await edge.settled();
    for (const prefix of ['r/', 's/', 'm/', 'w/']) if (!(await each(prefix))) return 0;
    while (grey.length > 0) {
      const some = grey.splice(-page);
      for (const table of some.filter((key) => key.startsWith('t/'))) if (!(await each(table))) return 0;
      const actors = some.filter((key) => key.startsWith('a/'));
      const texts = await read.getAllLater(actors);
      for (const [i, key] of actors.entries()) {
        // What a batch that is not on the disk yet says of it counts as well.
        for (const text of [texts[i], edge.pending(key)?.value])
          if (text !== undefined) markAll(text.slice(text.indexOf('\n') + 1));
        if (!(await breathe())) return 0;
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
        if (!(await breathe())) return deleted;
        if (some.length < page) break;
      }
    }
    return deleted;
  } finally {
    stop();
  }
}
