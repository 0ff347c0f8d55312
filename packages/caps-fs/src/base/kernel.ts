/**
 * What this package needs of the operating system: system calls on a descriptor and one name.
 *
 * Promise: no call takes a path. `name` is one component, so each call is one lookup in one directory that is held open,
 * and the kernel follows no link in it. Only the driver implements this; everything else is pure over it.
 */
export type Kind = 'file' | 'dir' | 'link' | 'other';
/** One component. Bytes where a name need not be UTF-8. */
export type Name = string | Uint8Array;

export interface Status {
  readonly kind: Kind;
  readonly mode: number;
  readonly links: number;
  readonly owner: number;
  readonly size: number;
  readonly mtime: number;
  /** When its name, its mode or its content last changed, which nobody can set. */
  readonly ctime: number;
  /** What changes when the object or its content does. Names the inode: never leaves the package unsealed. */
  readonly stamp: string;
}

export interface Identity {
  readonly dev: bigint;
  readonly ino: bigint;
}

/** A system call failed. Carries the errno's name and nothing of the host. */
export class KernelError {
  readonly errno: string;
  constructor(errno: string) {
    this.errno = errno;
  }
}

/**
 * What a backend may know to do in one step for a path that has neither a link nor another mount on its way. An answer of
 * `undefined` is no answer: then the walk is made, which decides every question of links. `names` are joined by `/`.
 */
export interface Shortcuts {
  /** By O_PATH. */
  open(dir: number, names: string, directory: boolean): number | undefined;
  /** Of the last name itself, a link too. */
  stat(dir: number, names: string): Status | undefined;
  /**
   * A file of at most `max` bytes, whole. At once when it is small and in memory, else in one trip to the thread pool; `inMemory`
   * says that it is, where the file system cannot. `dir` may be closed once this has returned.
   */
  read(
    dir: number,
    names: string,
    max: number,
    inMemory: boolean,
  ): Promise<Uint8Array | undefined> | Uint8Array | undefined;
  /** The same, and what it was then. */
  readSeen(dir: number, names: string, max: number, inMemory: boolean): Promise<Seen | undefined> | Seen | undefined;
}

export interface Seen {
  readonly status: Status;
  readonly bytes: Uint8Array;
}

/** A file is made without a name and gets it when it is whole: kill -9 leaves nothing. */
export interface Unnamed {
  /** `undefined` where the file system has none. */
  create(dir: number, mode: number): number | undefined;
  /** Created, written, with `keep` as its mode if that is given, and on the disk. In one trip to the thread pool. */
  write(dir: number, mode: number, keep: number | undefined, bytes: Uint8Array): Promise<number | undefined>;
  /** EEXIST is atomic. */
  name(fd: number, dir: number, name: string): void;
  /**
   * All of that at once, but the disk: for where there is none. With the name of a temporary it replaces what is there, without one
   * it is EEXIST then. Answers what the file is.
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
  /** From now on the whole time once more. */
  again(): void;
  stop(): void;
}

export interface Kernel {
  readonly backend: 'proc' | 'native';
  readonly shortcuts?: Shortcuts;
  readonly unnamed?: Unnamed;
  /** Whether `/proc/self/fd` of this system is what the walk relies on. */
  readonly supported: boolean;
  readonly user: number;

  /** The only call that takes a path of the host, once, from the granter. */
  openRoot(path: string): number;
  /** A directory, by O_PATH; a link is ENOTDIR. */
  openDirectory(dir: number, name: Name): number;
  /** Whatever is there, a link itself included, by O_PATH: opening has no effect on it. */
  openAny(dir: number, name: Name): number;
  /** A file that does not exist yet, for writing. */
  create(dir: number, name: Name, mode: number, how: 'write' | 'append'): number;
  /** A second descriptor for what `fd` holds, this time with data. */
  reopen(fd: number, how: 'read' | 'append' | 'list'): number;
  close(fd: number): void;

  fstat(fd: number): Status;
  /** `undefined` when there is nothing of that name. */
  lstat(dir: number, name: Name): Status | undefined;
  readLink(dir: number, name: Name): Uint8Array;
  /** What `fd` holds, for who mounts it. Never leaves the process. */
  identityOf(fd: number): Identity;
  /** The mount that `fd` was opened in. st_dev would not see a bind mount of the same file system. */
  mountOf(fd: number): number;
  /** Of the file system that `fd` is on, in bytes; `total` is 0 where it does not say. */
  roomOf(fd: number): { readonly free: number; readonly total: number };
  /** Whether the file system that `fd` is on is all in memory: nothing that is done there waits for a disk. */
  inMemory(fd: number): boolean;
  /** At most `max` names, in the order of their code points; those that are not UTF-8 are left out. */
  names(dir: number, max: number): Promise<string[]>;
  rawNames(dir: number, max: number): Promise<Uint8Array[]>;

  /** At most `max` names with what they are, at once: for a thread of its own, or what is known to be small. */
  children(dir: number, max: number): { readonly name: string; readonly kind: Kind }[];
  readNow(fd: number, into: Uint8Array, position: number): number;
  /** All of it, at the beginning of an empty file. */
  writeNow(fd: number, from: Uint8Array): void;

  chmod(fd: number, mode: number): void;
  /** The same for a descriptor by O_PATH. */
  chmodHeld(fd: number, mode: number): void;
  mkdir(dir: number, name: Name): void;
  rmdir(dir: number, name: Name): void;
  unlink(dir: number, name: Name): void;
  /** A second name, for a link: of the link itself. EEXIST is atomic. */
  link(fromDir: number, from: Name, toDir: number, to: Name): void;
  /** Never over something, in one step; `false` where there is no such step. */
  renameNew?(fromDir: number, from: Name, toDir: number, to: Name): boolean;
  /** Replaces what is at `to`. */
  rename(fromDir: number, from: Name, toDir: number, to: Name): void;

  /** At `position`, or at the end of a descriptor opened for append with `null`. May move less than asked. */
  read(fd: number, into: Uint8Array, position: number): Promise<number>;
  write(fd: number, from: Uint8Array, position: number | null): Promise<number>;
  sync(fd: number): Promise<void>;

  random(bytes: number): Uint8Array;
  /** A keyed hash: opaque, and equal only for equal text. */
  seal(text: string): string;
  /** Lets other turns run in the middle of a long walk. */
  breathe(): Promise<void>;
  /** Of the clock that stamps files. */
  now(): number;
  after(ms: number, then: () => void): Alarm;
  /** Memory that nobody cleared, and nobody else has: for who fills all of it, and shows no more of it than he filled. */
  memory(bytes: number): Uint8Array;
}
