/**
 * The holders of a directory, for fair shares.
 *
 * The caps of one `openFsCap` form a tree: a subdirectory or an attenuated cap is below the cap that it was made
 * from, and a session that calls a cap by reference is below that cap. Each place in the tree shares what is left
 * to it among those below. So a holder that makes many caps only divides its own share. The program that opened
 * the root is at the top, and has no share but the whole.
 */

// A deeper chain shares the place of its last level, so that a long chain of attenuations costs nothing.
const maxLevels = 4;

export class Holder {
  readonly parent: Holder | undefined;
  readonly #level: number;

  private constructor(parent: Holder | undefined, level: number) {
    this.parent = parent;
    this.#level = level;
  }

  /** Above the roots of all caps of the process, which share threads and descriptors but have no shares of them. */
  static readonly everyone: Holder = new Holder(undefined, -1);

  /** For one `openFsCap`. */
  static root(): Holder {
    return new Holder(Holder.everyone, 0);
  }

  below(): Holder {
    return this.#level >= maxLevels ? this : new Holder(this, this.#level + 1);
  }

  /** Whether others beside this one have shares, too. Roots have none. */
  get shares(): boolean {
    return this.#level > 0;
  }
}

/** How much each holder has of one thing, and how much it may have. */
export class Shares {
  readonly #max: number;
  readonly #used = new WeakMap<Holder, number>();
  #total = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get full(): boolean {
    return this.#total >= this.#max;
  }

  /**
   * Whether the holder may have one more. It may have as much as is left to its neighbours. So one holder has at
   * most half, and however many come, something is left for the next. (After Choudhury and Hahne, Dynamic queue
   * length thresholds, 1998.)
   */
  mayTake(holder: Holder): boolean {
    return this.#leftFor(holder) > 0;
  }

  #leftFor(holder: Holder): number {
    if (!holder.shares || holder.parent === undefined) return this.#max - this.#total;
    return this.#leftFor(holder.parent) - this.#usedBy(holder);
  }

  #usedBy(holder: Holder): number {
    return this.#used.get(holder) ?? 0;
  }

  add(holder: Holder, amount: 1 | -1): void {
    this.#total += amount;
    for (let at: Holder | undefined = holder; at; at = at.parent) this.#used.set(at, this.#usedBy(at) + amount);
  }
}
