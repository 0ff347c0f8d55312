/**
 * The system calls that this package needs, each on a descriptor and one name.
 *
 * Promise: no call takes a path. `name` is one component, so each call is one lookup in one directory that is
 * held open. The kernel follows no link in it. Only the drivers implement this. All other code uses nothing
 * else of the system.
 */
export type FileKind = 'file' | 'dir' | 'link' | 'other';
/** One path component, as bytes where the name may not be UTF-8. */
export type Name = string | Uint8Array;

export interface Status {
  readonly kind: FileKind;
  readonly mode: number;
  readonly links: number;
  readonly owner: number;
  readonly size: number;
  readonly mtime: number;
  /** When the name, mode or content last changed. Unlike `mtime`, nobody can set it. */
  readonly ctime: number;
  /**
   * Changes whenever the object or its content changes. It contains the inode, so it leaves the package only
   * sealed.
   */
  readonly stamp: string;
}

export interface Identity {
  readonly dev: bigint;
  readonly ino: bigint;
}

/** A failed system call. It carries the name of the errno and nothing else of the host. */
export class KernelError {
  readonly errno: string;
  constructor(errno: string) {
    this.errno = errno;
  }
}

/**
 * Operations that a backend can do in one step when no link and no other mount is on the path. `undefined`
 * means that the backend cannot tell. The caller then makes the walk, which decides every question about
 * links. `names` are joined by `/`.
 */
export interface Shortcuts {
  /** Opens with O_PATH. */
  open(dir: number, names: string, directory: boolean): number | undefined;
  /** One name: its status and the mount that it is in. If it is a link, of the link itself. */
  look(dir: number, name: string): { readonly status: Status; readonly mount: number } | undefined;
  /** If the last name is a link, this is the status of the link itself. */
  stat(dir: number, names: string): Status | undefined;
  /**
   * Reads a whole file of at most `max` bytes. A small file that is in memory is read at once, others in one
   * trip to the thread pool. `inMemory` says that the whole file system is in memory; some cannot tell that
   * themselves. The caller may close `dir` as soon as this returns.
   */
  read(
    dir: number,
    names: string,
    max: number,
    inMemory: boolean,
  ): Promise<Uint8Array | undefined> | Uint8Array | undefined;
  /** Like `read`, but also returns the status of the file at that moment. */
  readSeen(dir: number, names: string, max: number, inMemory: boolean): Promise<Seen | undefined> | Seen | undefined;
}

export interface Seen {
  readonly status: Status;
  readonly bytes: Uint8Array;
}

/** Files that get their name only when they are complete. A kill -9 before that leaves nothing behind. */
export interface Unnamed {
  /** Returns `undefined` if the file system does not support it. */
  create(dir: number, mode: number): number | undefined;
  /**
   * Creates the file, writes it, sets its mode to `keep` if given, and syncs it, in one trip to the thread
   * pool.
   */
  write(dir: number, mode: number, keep: number | undefined, bytes: Uint8Array): Promise<number | undefined>;
  /** Gives the file its first name. Fails atomically with EEXIST if the name is taken. */
  name(fd: number, dir: number, name: string): void;
  /**
   * Creates, writes and names the file at once, without a sync. For file systems without a disk. With
   * `temporary` it replaces an existing file; without it an existing name is EEXIST. Returns the status of
   * the new file.
   */
  writeNamed(
    dir: number,
    name: string,
    temporary: string | undefined,
    mode: number,
    keep: number | undefined,
    bytes: Uint8Array,
  ): Status | undefined;
}

export interface Alarm {
  /** Restarts the full time from now. */
  again(): void;
  stop(): void;
}

export interface Kernel {
  readonly backend: 'proc' | 'native';
  readonly shortcuts?: Shortcuts;
  readonly unnamed?: Unnamed;
  /** Whether this system has the `/proc/self/fd` that the walk relies on. */
  readonly supported: boolean;
  readonly user: number;

  /** The only call that takes a path of the host. The granter gives it, once. */
  openRoot(path: string): number;
  /** Opens a directory with O_PATH. A link is ENOTDIR. */
  openDirectory(dir: number, name: Name): number;
  /** Opens anything with O_PATH, also a link itself. Opening has no effect on the object. */
  openAny(dir: number, name: Name): number;
  /** Creates a file for writing. The name must be free. */
  create(dir: number, name: Name, mode: number, how: 'write' | 'append'): number;
  /** Opens the object that the O_PATH descriptor `fd` holds again, with access to its data. */
  reopen(fd: number, how: 'read' | 'append' | 'write' | 'list'): number;
  close(fd: number): void;

  fstat(fd: number): Status;
  /** Returns `undefined` if nothing has that name. */
  lstat(dir: number, name: Name): Status | undefined;
  readLink(dir: number, name: Name): Uint8Array;
  /** The identity of what `fd` holds, for mounting. It never leaves the process. */
  identityOf(fd: number): Identity;
  /** The path of what `fd` holds, as this process sees it now. For the granter: it never reaches a holder. */
  pathOf(fd: number): string;
  /** The mount that `fd` was opened in. Comparing st_dev would miss a bind mount of the same file system. */
  mountOf(fd: number): number;
  /**
   * Space of the file system that `fd` is on, in bytes. `total` is 0 if the file system does not report it.
   */
  freeSpaceOf(fd: number): { readonly free: number; readonly total: number };
  /** Whether the file system that `fd` is on lives in memory, so that no operation there waits for a disk. */
  inMemory(fd: number): boolean;
  /** Returns at most `max` names, sorted by code point. Names that are not UTF-8 are left out. */
  names(dir: number, max: number): Promise<string[]>;
  rawNames(dir: number, max: number): Promise<Uint8Array[]>;

  /**
   * Returns at most `max` names with their kinds, without yielding. Use it in a worker thread or on a small
   * directory.
   */
  children(dir: number, max: number): { readonly name: string; readonly kind: FileKind }[];
  /**
   * Searches files of a directory for `text`, in the order of `names`. Reads at most `bytes` bytes in all, so it may
   * return fewer results than names, but at least one. A result is the size of the file if it is a text of at most
   * `max` bytes that does not contain `text`. If a result is negative, the caller must read the file itself.
   */
  filesWithout?(dir: number, names: readonly string[], max: number, bytes: number, text: Uint8Array): Float64Array;
  readNow(fd: number, into: Uint8Array, position: number): number;
  /** Writes all bytes to the beginning of an empty file. */
  writeNow(fd: number, from: Uint8Array): void;

  /** Throws if the user may not make or remove names in this directory. */
  refuseIfLocked(dir: number): void;
  chmod(fd: number, mode: number): void;
  /** Like `chmod`, for an O_PATH descriptor. */
  chmodHeld(fd: number, mode: number): void;
  /** Sets the times of the object that `fd` holds, in ms. Without `atime` that time stays as it is. */
  setTimes(fd: number, mtime: number, atime: number | undefined): void;
  /** For a descriptor that is open for writing. */
  truncate(fd: number, size: number): void;
  mkdir(dir: number, name: Name): void;
  /** Makes a link with this text. The name must be free. The text is not looked up. */
  symlink(text: string, dir: number, name: Name): void;
  rmdir(dir: number, name: Name): void;
  unlink(dir: number, name: Name): void;
  /**
   * Adds a second name. For a link, it names the link itself. Fails atomically with EEXIST if `to` is taken.
   */
  link(fromDir: number, from: Name, toDir: number, to: Name): void;
  /** Renames in one step and never replaces anything. Returns `false` if the system cannot do that. */
  renameNew?(fromDir: number, from: Name, toDir: number, to: Name): boolean;
  /** Replaces whatever is at `to`. */
  rename(fromDir: number, from: Name, toDir: number, to: Name): void;

  /**
   * `read` and `write` may move fewer bytes than asked. `null` means the end of a file that was opened for
   * append.
   */
  read(fd: number, into: Uint8Array, position: number): Promise<number>;
  write(fd: number, from: Uint8Array, position: number | null): Promise<number>;
  sync(fd: number): Promise<void>;

  random(bytes: number): Uint8Array;
  /**
   * Returns a keyed hash: opaque, and equal only for equal texts. With an empty key it uses one of this machine,
   * which stays the same when the process is started again.
   */
  sealer(key: string): (text: string) => string;
  /** Lets other work run in the middle of a long walk. */
  yieldToEventLoop(): Promise<void>;
  /** Milliseconds of the clock that stamps files. */
  now(): number;
  after(ms: number, then: () => void): Alarm;
  /** An uninitialised buffer. Expose only the bytes you wrote. */
  memory(bytes: number): Uint8Array;
}
