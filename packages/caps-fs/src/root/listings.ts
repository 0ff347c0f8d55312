/**
 * The names of a directory that somebody pages through, so that each page does not read and sort all of them.
 *
 * Promise: names are used again only while the directory has not changed since they were read. The system
 * stamps a change with a clock of a few milliseconds. So names that were read within `settled` of the last change
 * are not kept: a later change could have the same stamp.
 */
import type { Status } from '../base/kernel.ts';

/** Ten ticks of the slowest clock that stamps files. */
const settled = 100;

interface Listing {
  readonly stamp: string;
  readonly names: readonly string[];
}

export class Listings {
  readonly #max: number;
  readonly #kept = new Map<string, Listing>();
  #names = 0;

  /** Keeps at most `max` names together. */
  constructor(max: number) {
    this.#max = max;
  }

  /** `inode` identifies the directory. */
  namesOf(inode: string, { stamp }: Status): readonly string[] | undefined {
    const listing = this.#kept.get(inode);
    if (listing?.stamp === stamp) return listing.names;
    this.drop(inode);
    return undefined;
  }

  /** `status` was taken before the names were read, at `now`. */
  keep(inode: string, { stamp, ctime }: Status, now: number, names: readonly string[]): void {
    this.drop(inode);
    if (now - ctime < settled || names.length > this.#max) return;
    this.#kept.set(inode, { stamp, names });
    this.#names += names.length;
    for (const oldest of this.#kept.keys()) {
      if (this.#names <= this.#max) return;
      this.drop(oldest);
    }
  }

  drop(inode: string): void {
    this.#names -= this.#kept.get(inode)?.names.length ?? 0;
    this.#kept.delete(inode);
  }
}
