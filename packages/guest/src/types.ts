/** What a program that runs guests sees. */
import type { Clock, Far, Meter } from '@hob/vat';

/** Of one evaluation. Nothing is unlimited; what is not said is the default (README.md). */
export interface GuestLimits {
  readonly wallMs?: number;
  /** Time on a processor: waiting for an answer or a human costs nothing. */
  readonly cpuMs?: number;
  /** All that the process holds, Node itself (some 60 MiB) included. */
  readonly memoryBytes?: number;
  /** Of the console. */
  readonly outputBytes?: number;
}

export interface Evaluation {
  /** Data, or a cap that the guest was given. */
  readonly value: unknown;
  readonly console: string;
  readonly usage: { readonly wallMs: number; readonly cpuMs: number; readonly peakBytes: number };
}

export interface EvaluateOptions {
  /** By petname: what the program finds under these names, and nothing else. It starts when those that are promised are there. */
  readonly caps: Readonly<Record<string, Far<object> | Promise<Far<object>>>>;
  readonly limits?: GuestLimits;
  /** Pays for the calls that the program makes. */
  readonly meter?: Meter;
  /** Kills the guest. */
  readonly signal?: AbortSignal;
}

/** A program on its way. */
export interface GuestJob {
  /** What it prints, as text; undefined at the end. */
  readonly console: { next(): Promise<string | undefined>; return(): Promise<void> };
  /** Breaks as `evaluate` does. */
  result(): Promise<Evaluation>;
  /** Answers when its process is gone. */
  abort(): Promise<void>;
}

export interface Guests {
  evaluate(source: string, options: EvaluateOptions): Promise<Evaluation>;
  /** The same, not waited for. */
  start(source: string, options: EvaluateOptions): GuestJob;
  /** Kills what runs, and answers when no process is left. */
  close(): Promise<void>;
}

export interface GuestsOptions {
  /** That of `@hob/caps-shell`. */
  readonly spawnConfined?: unknown;
  /** Most processes that wait for work. */
  readonly pool?: number;
  /** The most that an evaluation may ask for, and what it has where it asks for nothing. */
  readonly limits?: GuestLimits;
  /** `ses-only`: without a sandbox. To be asked for by name. */
  readonly isolation?: 'sandbox' | 'ses-only';
  /** For what waits without being used; that of this machine. */
  readonly clock?: Clock;
}
