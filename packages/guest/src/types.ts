/** The types of the public interface. */
import type { Clock, Far, Meter } from '@hob/vat';

/** The limits of one evaluation. A missing limit has its default (README.md). None can be unlimited. */
export interface GuestLimits {
  readonly wallMs?: number;
  /** Processor time. Waiting for an answer or a human costs nothing. */
  readonly cpuMs?: number;
  /** Resident memory of the process, including Node itself (some 75 MiB). */
  readonly memoryBytes?: number;
  /** Bytes printed to the console. */
  readonly outputBytes?: number;
}

/**
 * The result of a program that ended by itself. Times are in ms, `peakBytes` is the most memory that it
 * used.
 */
export interface Evaluation {
  /** The returned value: data, or a cap that the guest was given. */
  readonly value: unknown;
  readonly console: string;
  readonly usage: { readonly wallMs: number; readonly cpuMs: number; readonly peakBytes: number };
}

/** The world of one program: its caps, its limits, who pays, and what stops it. */
export interface EvaluateOptions {
  /**
   * The caps of the program, by petname. It gets nothing else. The program starts when all promised caps have
   * resolved.
   */
  readonly caps: Readonly<Record<string, Far<object> | Promise<Far<object>>>>;
  readonly limits?: GuestLimits;
  /** Pays for the calls that the program makes. */
  readonly meter?: Meter;
  /** Kills the guest. */
  readonly signal?: AbortSignal;
}

/** A running evaluation. */
export interface GuestJob {
  /** The output of the program as text. `next` resolves to undefined at the end. */
  readonly console: { next(): Promise<string | undefined>; return(): Promise<void> };
  /** The result, or a rejection, as from `evaluate`. */
  result(): Promise<Evaluation>;
  /** Stops the program. Resolves when its process is gone. */
  abort(): Promise<void>;
}

/**
 * Runs programs, each in a process of its own. `evaluate` rejects with an `EvaluationError` if the program
 * fails, and with a `CapError` if it could not run or was stopped.
 */
export interface Guests {
  evaluate(source: string, options: EvaluateOptions): Promise<Evaluation>;
  /** Starts an evaluation and returns at once. */
  start(source: string, options: EvaluateOptions): GuestJob;
  /** Kills all programs. Resolves when no process is left. */
  close(): Promise<void>;
}

/** How programs are run. Without `spawnConfined`, `isolation` must be `ses-only`. */
export interface GuestsOptions {
  /** The `spawnConfined` of `@hob/caps-shell`. */
  readonly spawnConfined?: unknown;
  /** The most idle processes. The default is 4. */
  readonly pool?: number;
  /** The upper limits of an evaluation, and its limits if it names none. */
  readonly limits?: GuestLimits;
  /** `ses-only` runs programs without a sandbox. The default is `sandbox`. */
  readonly isolation?: 'sandbox' | 'ses-only';
  /** The clock for idle processes. The default is the clock of this machine. */
  readonly clock?: Clock;
}
