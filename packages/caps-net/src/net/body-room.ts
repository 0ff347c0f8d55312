/** The memory of the host for bodies of requests that programs send through one cap, all of them together. */

/** A compressed body never grows by more: deflate writes at most 1,032 bytes for one that it reads. */
const GROWS = 1_032;

export class BodyRoom {
  readonly #most: number;
  #left: number;

  /** `most` bytes for one body, and twice as many for all at once. */
  constructor(most: number) {
    this.#most = most;
    this.#left = 2 * most;
  }

  /** Makes room for one body. Give it back with `end`. */
  body(): BodyPlace {
    let held = 0;
    return {
      take: (bytes) => {
        if (bytes > this.#left) return false;
        this.#left -= bytes;
        held += bytes;
        return true;
      },
      decodedMost: (bytes) => Math.min(this.#most, bytes * GROWS),
      end: () => {
        this.#left += held;
        held = 0;
      },
    };
  }
}

/** The room of one body. */
export interface BodyPlace {
  /** Whether there is room for so many bytes more. */
  take(bytes: number): boolean;
  /** The most bytes that a compressed body of this size can have. */
  decodedMost(bytes: number): number;
  end(): void;
}
