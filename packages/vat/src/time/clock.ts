/**
 * Time as the vat sees it. The clock is always passed in, so that a test can control it.
 *
 * Authority is decided by `boottime`, which counts suspend and cannot be set back. `wall` may only shorten
 * it.
 */
export interface Clock {
  /** ms since boot, including suspend. A caller that has just called `wall()` may give the result as `wall`. */
  boottime(wall?: number): number;
  /** ms since 1970. */
  wall(): number;
  /** Changes at each boot of the machine. */
  readonly bootId: string;
  /** Monotonic ms, for measuring turns. It never decides authority. */
  tick(): number;
  /**
   * Calls `then` once, after `ms` or a little later. Returns a function that cancels it. For clean-up and
   * waking only, never for authority.
   */
  after(ms: number, then: () => void): () => void;
}
