/**
 * A shell, a job and a command as capabilities: their public shapes.
 *
 * A program's whole world is what the cap was made of, so no text is ever judged. What a program did is a status, never an error: a call
 * breaks only where nothing ran (`E_…` of README.md) or where its grant ended.
 */
import type { FsCap } from '@hob/caps-fs';
import type { ByteSource, Far } from '@hob/vat';

export interface ShellLimits {
  readonly wallMs?: number;
  /** Of all processes together. */
  readonly cpuMs?: number;
  /** Of all processes together, with what lies in /tmp. */
  readonly memoryBytes?: number;
  readonly processes?: number;
  readonly fileBytes?: number;
  readonly tmpBytes?: number;
  readonly openFiles?: number;
  /** stdout and stderr together, kept or not. */
  readonly outputBytes?: number;
}

export interface World {
  /**
   * `'/work': cap` mounts that directory there, read-only when the cap is. What was granted (`Far`) is mounted if the forwarders in front
   * of it do nothing but end. A promise for either is as good. A mount may lie in another one: it covers the directory there for all jobs.
   */
  readonly mounts: Readonly<Record<string, FsCap | Far<FsCap> | Promise<FsCap | Far<FsCap>>>>;
  /** The first mount, where nothing is said. */
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly limits?: ShellLimits;
}

export interface Ended {
  /** Exit status, or 128 + signal. */
  readonly status: number;
  /** The first and the last 512 KiB; what lies between is left out with a line that says so. */
  readonly stdout: string;
  readonly stderr: string;
  readonly truncated: boolean;
  readonly ended: 'exit' | 'signal' | 'timeout' | 'limit' | 'revoked';
  /** Which, where a limit ended it. */
  readonly limit?: 'memory' | 'cpu' | 'output';
  readonly usage: { readonly wallMs: number; readonly cpuMs: number; readonly peakBytes: number };
}

export type SignalName = 'INT' | 'TERM' | 'KILL' | 'HUP';

export interface Job {
  readonly stdout: ByteSource;
  readonly stderr: ByteSource;
  /** Answers when the program's end has room for it. Errors: `E_INPUT_CLOSED`, `E_JOB_ENDED`. */
  write(chunk: Uint8Array | string): Promise<void>;
  end(): Promise<void>;
  /** To the job's process group; `KILL` to all of it. Errors: `E_JOB_ENDED`. */
  signal(name: SignalName): Promise<void>;
  /**
   * Answers when its last process is gone and both streams are at their end. From the call on nothing holds the program back: of what is
   * not read in time only the first and the last 512 KiB of each stream are kept.
   */
  wait(): Promise<Ended>;
}

/** A job as a reference, where streams are asked for: `E(E(job).stdout()).next()`. */
export interface SentJob extends Omit<Job, 'stdout' | 'stderr'> {
  stdout(): Promise<ByteSource>;
  stderr(): Promise<ByteSource>;
}

export interface RunOptions {
  readonly timeoutMs?: number;
  readonly stdin?: string;
  readonly limits?: ShellLimits;
}

export interface SpawnOptions {
  /** By which it is found again. Names are of whoever holds the cap: another grant of it has others. */
  readonly name?: string;
  readonly timeoutMs?: number;
  readonly limits?: ShellLimits;
}

export interface Less {
  readonly limits?: ShellLimits;
  /** These and all mounts within them. */
  readonly mounts?: readonly string[];
  readonly readOnly?: boolean;
}

export interface ShellDescription {
  readonly shell: string;
  readonly mounts: Readonly<Record<string, 'ro' | 'rw'>>;
  readonly cwd: string;
  readonly env: readonly string[];
  readonly limits: Required<ShellLimits>;
  readonly network: 'none';
}

export interface ShellCap {
  run(text: string, options?: RunOptions): Promise<Ended>;
  spawn(text: string, options?: SpawnOptions): Promise<Job>;
  /** Also one that has ended, as long as its name was not needed again. Errors: `no-such-object`. */
  job(name: string): Promise<Job>;
  describe(): Promise<ShellDescription>;
  /** Another cap, of less. It ends with this one. Errors: `E_NOT_ATTENUATION`, `E_LIMIT_INVALID`. */
  attenuate(less: Less): Promise<ShellCap>;
  /** Kills its jobs; answers when the last process is gone. Who holds it by a grant closes it for that grant only. */
  close(): Promise<void>;
}

export interface CommandCap {
  /** Errors: `E_ARGV`, and those of the shell. */
  run(args: readonly string[], options?: { readonly timeoutMs?: number; readonly stdin?: string }): Promise<Ended>;
  close(): Promise<void>;
}
