/**
 * Limits on the work and memory that a peer can cause. The receiver decides them. A peer cannot read or
 * change them.
 */
import { takeRecord } from '../../core/options.ts';

/** The limits of one connection; a missing one has its default. */
export interface CapTPLimits {
  /** Bytes of a frame. */
  readonly frameBytes?: number;
  /**
   * Structural characters of a text frame. They are counted before parsing, because the cost of parsing grows
   * with them.
   */
  readonly tokens?: number;
  /** Nesting depth of a value. */
  readonly depth?: number;
  /** Digits of one bigint. */
  readonly bigintDigits?: number;
  /** Unanswered calls of the peer. Further calls fail with `limit`. */
  readonly questions?: number;
  /** Exports, and separately imports, of one connection. More are refused with `limit`. */
  readonly exports?: number;
  /** Bytes that may wait in the socket. Above this, the peer counts as one that does not read. */
  readonly bufferedBytes?: number;
  /** Approximate memory that this connection may use. Above this, it closes. */
  readonly memoryBytes?: number;
}

export type SessionLimits = Required<CapTPLimits>;

/** The limits of a session that names none. Sizes are in bytes. */
export const defaultLimits: SessionLimits = Object.freeze({
  frameBytes: 1 << 20,
  tokens: 200_000,
  depth: 128,
  bigintDigits: 16_384,
  questions: 65_536,
  exports: 65_536,
  bufferedBytes: 16 << 20,
  memoryBytes: 64 << 20,
});

/** The limits of a session that names some. Errors: `invalid`. */
export function limitsOf(given: CapTPLimits | undefined): SessionLimits {
  if (given === undefined) return defaultLimits;
  const named = takeRecord(given, 'a connection', Object.keys(defaultLimits), 'limit');
  return Object.freeze({ ...defaultLimits, ...named });
}

/** Maximum operations in one frame. Bounds the cost of a frame and the table entries that it can add. */
export const operationsPerFrame = 4096;

/** Maximum new promises in one frame. Each costs 4 us, so a frame stays far below 50 ms. */
export const promisesPerFrame = 4096;

/** Promises that are broken in one go when a connection ends. The others follow after other work has run. */
export const brokenAtOnce = 4096;

/** Approximate memory of a table entry and of what it keeps alive. Measured by `bench/captp`, rounded up. */
export const weights: Readonly<Record<'answer' | 'call' | 'question' | 'export' | 'import' | 'promise', number>> =
  Object.freeze({
    answer: 400,
    /** An unanswered call of the peer: its message, its promise and the state of the callee. */
    call: 1200,
    /** A question of ours. A peer that never answers makes us keep it. */
    question: 400,
    export: 300,
    import: 500,
    promise: 1000,
  });
