/** What a peer may make us do and keep. Decisions of the receiver: a peer cannot learn or change them. */

export interface CapTPLimits {
  /** Bytes of a frame. */
  readonly frameBytes?: number;
  /** Structural characters of a text frame, counted before it is parsed: parsing and walking cost in proportion to them. */
  readonly tokens?: number;
  /** Nesting of a value. */
  readonly depth?: number;
  /** Digits of one bigint. */
  readonly bigintDigits?: number;
  /** Calls of the peer that are not answered yet: more are answered with `limit`. */
  readonly questions?: number;
  /** References and promises given to the peer, and those taken from it: more are refused with `limit`. */
  readonly exports?: number;
  /** Bytes that may wait in the socket before the peer counts as one that does not read. */
  readonly bufferedBytes?: number;
  /** About all that this connection may make us keep: over it, it closes. */
  readonly memoryBytes?: number;
}

export type Limits = Required<CapTPLimits>;

export const defaultLimits: Limits = Object.freeze({
  frameBytes: 1 << 20,
  tokens: 200_000,
  depth: 128,
  bigintDigits: 16_384,
  questions: 65_536,
  exports: 65_536,
  bufferedBytes: 16 << 20,
  memoryBytes: 64 << 20,
});

/** Operations of one frame: with them what a frame costs is bounded, and what it may bring into the tables. */
export const operationsPerFrame = 4096;

/** Promises that one frame may bring: each costs 4 us, so that with them a frame stays far below 50 ms. */
export const promisesPerFrame = 4096;

/** What waits when a connection ends is told in portions: the rest when others have run. */
export const brokenAtOnce = 4096;

/** About what an entry of a table takes, with what hangs on it. Measured by `bench/captp`, rounded up. */
export const weights: Readonly<Record<'answer' | 'call' | 'question' | 'export' | 'import' | 'promise', number>> =
  Object.freeze({
    answer: 400,
    /** One that is not answered: with its message, its promise, and what the callee keeps for it. */
    call: 1200,
    /** Of ours: a peer that never answers makes us keep it. */
    question: 400,
    export: 300,
    import: 500,
    promise: 1000,
  });
