/**
 * The interfaces of a shell, a job and a command.
 *
 * A program reaches only what the cap was made of, so no text is ever judged. The end of a program is a
 * status, never an error. A call rejects only if nothing ran (`E_…`, see README.md) or if its grant ended.
 */
import type { FsCap } from '@hob/caps-fs';
import type { ByteSource, Far } from '@hob/vat';

/**
 * The limits of one job. Times are in milliseconds, sizes in bytes. A missing one has its default
 * (README.md). Errors: `E_LIMIT_INVALID`.
 */
export interface ShellLimits {
  readonly wallMs?: number;
  /** The limit of all processes together. */
  readonly cpuMs?: number;
  /** The limit of all processes together, including the files in /tmp. */
  readonly memoryBytes?: number;
  readonly processes?: number;
  readonly fileBytes?: number;
  readonly tmpBytes?: number;
  readonly openFiles?: number;
  /** stdout and stderr together, kept or not. */
  readonly outputBytes?: number;
}

/**
 * All that a job can reach: mounted directories, an environment, limits, and the hosts and sockets that are
 * handed in. There is no other file and no other network.
 */
export interface World {
  /**
   * `'/work': cap` mounts that directory there, read-only if the cap is. A granted cap (`Far`) can be mounted
   * if its grants only end. A promise for either works too. A mount inside another one covers the directory
   * there for all jobs.
   */
  readonly mounts: Readonly<Record<string, FsCap | Far<FsCap> | Promise<FsCap | Far<FsCap>>>>;
  /**
   * Net caps (`makeNetCap` of `@hob/caps-net`), granted ones too if their grants only end. Programs reach these
   * hosts through a proxy on loopback, which their environment names. Default: no network.
   */
  readonly net?: readonly (object | Promise<object>)[];
  /** `'/run/agent.sock': cap` puts a socket cap (`makeSocketCap` of `@hob/caps-net`) there. */
  readonly sockets?: Readonly<Record<string, object | Promise<object>>>;
  /** Default: the first mount. */
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly limits?: ShellLimits;
}

/** How a program ended. A status other than 0 is a result, not an error. */
export interface Ended {
  /** Exit status, or 128 + signal. */
  readonly status: number;
  /** The first and the last 512 KiB. A line says how many bytes between them are left out. */
  readonly stdout: string;
  readonly stderr: string;
  readonly truncated: boolean;
  readonly ended: 'exit' | 'signal' | 'timeout' | 'limit' | 'revoked';
  /** The limit that ended it. */
  readonly limit?: 'memory' | 'cpu' | 'output';
  readonly usage: { readonly wallMs: number; readonly cpuMs: number; readonly peakBytes: number };
}

/** The signals that a holder may send to a job. */
export type SignalName = 'INT' | 'TERM' | 'KILL' | 'HUP';

/** A running program. Its streams are pulled by the reader, so a slow reader slows the program down. */
export interface Job {
  readonly stdout: ByteSource;
  readonly stderr: ByteSource;
  /** Resolves when the input pipe has taken it. Errors: `E_INPUT_CLOSED`, `E_JOB_ENDED`. */
  write(chunk: Uint8Array | string): Promise<void>;
  end(): Promise<void>;
  /** Signals the process group of the job; `KILL` ends all its processes. Errors: `E_JOB_ENDED`. */
  signal(name: SignalName): Promise<void>;
  /**
   * Resolves when its last process is gone and both streams are at their end. From this call on, unread
   * output no longer stops the program: only the first and the last 512 KiB of each stream are kept.
   */
  wait(): Promise<Ended>;
}

/** A job behind a reference. Its streams are methods: `E(E(job).stdout()).next()`. */
export interface SentJob extends Omit<Job, 'stdout' | 'stderr'> {
  stdout(): Promise<ByteSource>;
  stderr(): Promise<ByteSource>;
}

/**
 * Options of one run. `timeoutMs` is in ms and only shortens `limits.wallMs`; `stdin` is sent and closed;
 * `limits` may only be lower than those of the shell.
 */
export interface RunOptions {
  readonly timeoutMs?: number;
  readonly stdin?: string;
  readonly limits?: ShellLimits;
}

/**
 * Options of a job that is watched while it runs. Times are in ms; `limits` may only be lower than those of
 * the shell.
 */
export interface SpawnOptions {
  /** `job(name)` finds it again. Each grant of the cap has its own names. */
  readonly name?: string;
  readonly timeoutMs?: number;
  readonly limits?: ShellLimits;
}

/** The parts of a shell to keep. A missing field keeps all. It can never add anything. */
export interface Less {
  readonly limits?: ShellLimits;
  /** Keeps these mounts and all mounts within them. */
  readonly mounts?: readonly string[];
  readonly readOnly?: boolean;
  /** Keeps these hosts, as `describe().network` names them. */
  readonly net?: readonly string[];
  /** Keeps the sockets at these paths. */
  readonly sockets?: readonly string[];
}

/**
 * The parts of a shell, as data for its holder. `env` has the names only, because values may be secrets.
 * It has no path of the host.
 */
export interface ShellDescription {
  readonly shell: string;
  readonly mounts: Readonly<Record<string, 'ro' | 'rw'>>;
  readonly cwd: string;
  readonly env: readonly string[];
  readonly limits: Required<ShellLimits>;
  /** The hosts that programs reach, as `host:port`. */
  readonly network: 'none' | readonly string[];
  /** The sockets that were handed in, by their paths inside. */
  readonly sockets: readonly string[];
}

/**
 * A shell whose whole world is what it was made of. `run` waits for the end, `spawn` returns the running
 * job. Errors: the codes of `ShellCode`, and those of a grant.
 */
export interface ShellCap {
  run(text: string, options?: RunOptions): Promise<Ended>;
  spawn(text: string, options?: SpawnOptions): Promise<Job>;
  /** Finds a job by name, also an ended one while its name is not used again. Errors: `no-such-object`. */
  job(name: string): Promise<Job>;
  describe(): Promise<ShellDescription>;
  /**
   * Makes a shell that allows less and ends with this one. Errors: `E_NOT_ATTENUATION`, `E_LIMIT_INVALID`.
   */
  attenuate(less: Less): Promise<ShellCap>;
  /**
   * Kills its jobs, and resolves when the last process is gone. The holder of a grant closes it for that
   * grant only.
   */
  close(): Promise<void>;
}

/** One program, with checked arguments and no shell in front of it. */
export interface CommandCap {
  /** Errors: `E_ARGV`, and those of the shell. */
  run(args: readonly string[], options?: { readonly timeoutMs?: number; readonly stdin?: string }): Promise<Ended>;
  close(): Promise<void>;
}
