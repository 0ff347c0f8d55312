/** Counts the commits of vats since they were opened, for a program that monitors them. The counts decide nothing. */

/** The upper bounds, in ms, by which commit times are counted. */
const BOUNDS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000] as const;

/** Commits of turns since the vats were opened. */
export interface CommitCounts {
  readonly done: number;
  readonly failed: number;
  /** The sum of the times of the commits that were done. */
  readonly ms: number;
  /** How many of them took at most `ms`. */
  readonly within: readonly { readonly ms: number; readonly count: number }[];
}

/** Counts commits, and the ledger entries in them by kind. */
export class Counts {
  #done = 0;
  #failed = 0;
  #ms = 0;
  /** For each bound, the number of commits that took at most that long, and longer than the previous bound. */
  readonly #took = BOUNDS.map(() => 0);
  readonly #entries = new Map<string, number>();

  committed(ms: number, entries: readonly { readonly kind: string }[]): void {
    this.#done += 1;
    this.#ms += ms;
    const at = BOUNDS.findIndex((bound) => ms <= bound);
    if (at >= 0) this.#took[at] = (this.#took[at] ?? 0) + 1;
    for (const { kind } of entries) this.#entries.set(kind, (this.#entries.get(kind) ?? 0) + 1);
  }

  failed(): void {
    this.#failed += 1;
  }

  get commits(): CommitCounts {
    let count = 0;
    const within = BOUNDS.map((ms, at) => ({ ms, count: (count += this.#took[at] ?? 0) }));
    return { done: this.#done, failed: this.#failed, ms: this.#ms, within };
  }

  /** By kind. */
  get entries(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#entries);
  }
}
