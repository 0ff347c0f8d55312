/**
 * Time, as the vat sees it: passed in, never taken from the air, so that a test can turn it.
 *
 * Authority is decided by `boottime` (it counts suspend and nobody can set it back) and may only be shortened by `wall`.
 */
export interface Clock {
  /** ms since boot, suspend included. */
  boottime(): number;
  /** ms since 1970. */
  wall(): number;
  /** Changes with each boot of the machine. */
  readonly bootId: string;
  /** Monotonic ms for measuring turns; never decides authority. */
  tick(): number;
  /** Calls `then` once, `ms` from now or a little later; answers its cancel. For clean-up and waking, never for authority. */
  after(ms: number, then: () => void): () => void;
}
