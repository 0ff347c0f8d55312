/**
 * The system calls, built from `node:fs` on Linux.
 *
 * Opening `/proc/self/fd/<n>/<one name>` with O_NOFOLLOW is `openat(n, name, O_NOFOLLOW)`: the magic link
 * jumps to the inode that we hold, and the one name after it is one lookup in it. This file never puts two
 * names or a `..` into a path.
 */
import { hash, randomBytes } from 'node:crypto';
import fs from 'node:fs';
import process from 'node:process';
import { type FileKind, type Kernel, KernelError, type Name, type Status } from '../base/kernel.ts';
import { inOrder } from '../base/names.ts';

const { O_APPEND, O_CREAT, O_DIRECTORY, O_EXCL, O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY, W_OK, X_OK } =
  fs.constants;
// O_PATH is not in fs.constants. Unlike O_DIRECTORY and O_NOFOLLOW, it has the same value on x64 and arm64.
const O_PATH = 0o10000000;
const procMagic = 0x9fa0;
const tmpfsMagic = 0x01021994;
const batch = 512;
const maxRemembered = 1024;

export function nodeKernel(random: (bytes: number) => Uint8Array = fewRandomBytes): Kernel {
  return {
    backend: 'proc',
    supported: process.platform === 'linux' && procIsThere(),
    user: process.geteuid?.() ?? -1,

    openRoot: (path) => call(() => fs.openSync(path, O_PATH | O_DIRECTORY)),
    openDirectory: (dir, name) => call(() => fs.openSync(at(dir, name), O_PATH | O_DIRECTORY | O_NOFOLLOW)),
    openAny: (dir, name) => call(() => fs.openSync(at(dir, name), O_PATH | O_NOFOLLOW)),
    create: (dir, name, mode, how) => {
      const flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | (how === 'append' ? O_APPEND : 0);
      return call(() => fs.openSync(at(dir, name), flags, mode));
    },
    // No O_NOFOLLOW: the link here is the magic one to what `fd` holds. O_NONBLOCK, in case it is not a plain
    // file.
    reopen: (fd, how) => {
      const access = { read: O_RDONLY, append: O_WRONLY | O_APPEND, write: O_WRONLY, list: O_RDONLY | O_DIRECTORY }[
        how
      ];
      const flags = access | O_NONBLOCK | O_NOCTTY;
      return call(() => fs.openSync(here(fd), flags));
    },
    close: (fd) => call(() => fs.closeSync(fd)),

    fstat: (fd) => call(() => new Stats(fs.fstatSync(fd, { bigint: true }))),
    identityOf: (fd) =>
      call(() => {
        const { dev, ino } = fs.fstatSync(fd, { bigint: true });
        return { dev, ino };
      }),
    lstat: (dir, name) =>
      call(() => {
        const found = fs.lstatSync(at(dir, name), { bigint: true, throwIfNoEntry: false });
        return found && new Stats(found);
      }),
    readLink: (dir, name) => call(() => fs.readlinkSync(at(dir, name), 'buffer')),
    pathOf: (fd) => call(() => fs.readlinkSync(here(fd))),
    mountOf: (fd) => call(() => mountIn(fdinfo(fd))),
    freeSpaceOf: (fd) =>
      call(() => {
        const { bavail, blocks, bsize } = fs.statfsSync(here(fd));
        return { free: bavail * bsize, total: blocks * bsize };
      }),
    inMemory: (fd) => call(() => fs.statfsSync(here(fd)).type === tmpfsMagic),
    names,
    rawNames,
    children,
    readNow: (fd, into, position) => call(() => fs.readSync(fd, into, 0, into.length, position)),
    writeNow: (fd, from) =>
      call(() => {
        for (let done = 0; done < from.length; ) done += fs.writeSync(fd, from, done, from.length - done, done);
      }),

    ...changes,

    read: (fd, into, position) =>
      settle((done) => fs.read(fd, into, 0, into.length, position, (error, bytes) => done(error, bytes))),
    write: (fd, from, position) =>
      settle((done) => fs.write(fd, from, 0, from.length, position, (error, bytes) => done(error, bytes))),
    sync: (fd) => settle((done) => fs.fsync(fd, (error) => done(error, undefined))),

    random,
    sealer: (given) => {
      const key = hash('sha256', `caps-fs version:${given === '' ? keyOfMachine() : given}`, 'hex');
      // Only half of the hash is used, so nobody can extend it without the key. An HMAC takes 23 us, this takes
      // 1.6 us.
      return remembering((text) => hash('sha256', key + text, 'base64url').slice(0, 22));
    },
    yieldToEventLoop: () => new Promise((resolve) => setImmediate(resolve)),
    now: () => Date.now(),
    after: (ms, then) => {
      const timer = setTimeout(then, ms).unref();
      return { again: () => void timer.refresh(), stop: () => clearTimeout(timer) };
    },
    // Not from the pool that all small buffers share.
    memory: (bytes) => new Uint8Array(Buffer.allocUnsafeSlow(bytes).buffer),
  };
}

/** System calls that change names and modes. */
const changes = {
  refuseIfLocked: (dir) => call(() => fs.accessSync(here(dir), W_OK | X_OK)),
  chmod: (fd, mode) => call(() => fs.fchmodSync(fd, mode)),
  chmodHeld: (fd, mode) => call(() => fs.chmodSync(here(fd), mode)),
  setTimes: (fd, mtime, atime) =>
    call(() => {
      const then = atime ?? fs.fstatSync(fd).atimeMs;
      fs.utimesSync(here(fd), then / 1_000, mtime / 1_000);
    }),
  truncate: (fd, size) => call(() => fs.ftruncateSync(fd, size)),
  symlink: (text, dir, name) => call(() => fs.symlinkSync(text, at(dir, name))),
  mkdir: (dir, name) => call(() => fs.mkdirSync(at(dir, name), { recursive: false })),
  rmdir: (dir, name) => call(() => fs.rmdirSync(at(dir, name))),
  unlink: (dir, name) => call(() => fs.unlinkSync(at(dir, name))),
  link: (fromDir, from, toDir, to) => call(() => fs.linkSync(at(fromDir, from), at(toDir, to))),
  rename: (fromDir, from, toDir, to) => call(() => fs.renameSync(at(fromDir, from), at(toDir, to))),
} satisfies Partial<Kernel>;

async function names(dir: number, max: number): Promise<string[]> {
  const opened = call(() => fs.opendirSync(here(dir), { bufferSize: batch }));
  try {
    const names: string[] = [];
    const unsure = new Set<string>();
    /** Returns whether there may be more. */
    const takeSome = (): boolean => {
      for (let seen = 0; seen < 8 * batch; seen += 1) {
        const entry = opened.readSync();
        if (!entry || names.length === max) return false;
        const { name } = entry;
        // U+FFFD may stand for bytes that are not UTF-8. Such a name counts only if it exists, and only
        // once.
        if (!name.includes('\ufffd')) names.push(name);
        else if (!unsure.has(name)) {
          unsure.add(name);
          if (fs.lstatSync(at(dir, name), { throwIfNoEntry: false })) names.push(name);
        }
      }
      return true;
    };
    while (call(takeSome)) await new Promise((resolve) => setImmediate(resolve));
    return inOrder(names);
  } finally {
    opened.closeSync();
  }
}

async function rawNames(dir: number, max: number): Promise<Uint8Array[]> {
  // Node can list names as bytes, but its types do not say so.
  const entries = await take(fs.opendirSync, here(dir), 'buffer' as 'utf8', max);
  return entries.map((entry) => entry.name as unknown as Buffer);
}

/** Reads a directory in steps, so that ten million entries cost no more than `max` entries. */
async function take(open: typeof fs.opendirSync, path: string, encoding: 'utf8', max: number): Promise<fs.Dirent[]> {
  const dir = call(() => open(path, { encoding, bufferSize: batch }));
  try {
    const entries: fs.Dirent[] = [];
    for (let entry = call(() => dir.readSync()); entry !== null; entry = call(() => dir.readSync())) {
      if (entries.length === max) return entries;
      entries.push(entry);
      if (entries.length % (8 * batch) === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    return entries;
  } finally {
    dir.closeSync();
  }
}

function children(dir: number, max: number): { name: string; kind: FileKind }[] {
  const opened = call(() => fs.opendirSync(here(dir), { bufferSize: batch }));
  try {
    const found: { name: string; kind: FileKind }[] = [];
    const unsure = new Set<string>();
    call(() => {
      for (let entry = opened.readSync(); entry; entry = opened.readSync()) {
        if (found.length === max) break;
        const { name } = entry;
        const isUnsure = name.includes('\ufffd');
        if (isUnsure && unsure.has(name)) continue;
        if (isUnsure) unsure.add(name);
        const kind = isUnsure ? undefined : kindOfEntry(entry);
        // The file system did not report the kind, or the name may not be UTF-8. Ask through the
        // descriptor.
        const sure = kind ?? fs.lstatSync(at(dir, name), { throwIfNoEntry: false });
        if (sure) found.push({ name, kind: typeof sure === 'string' ? sure : kindOf(sure.mode) });
      }
    });
    return found;
  } finally {
    opened.closeSync();
  }
}

/**
 * A cache of bounded size. The same files are looked at again and again, and a lookup is cheaper than a hash.
 */
function remembering(make: (text: string) => string): (text: string) => string {
  const made = new Map<string, string>();
  return (text) => {
    const known = made.get(text);
    if (known !== undefined) return known;
    if (made.size >= maxRemembered) made.clear();
    const fresh = make(text);
    made.set(text, fresh);
    return fresh;
  };
}

/**
 * A text that outlives the process and that no holder knows: the machine's id, or else that of this boot. It
 * leaves this file only hashed.
 */
function keyOfMachine(): string {
  for (const place of ['/etc/machine-id', '/proc/sys/kernel/random/boot_id']) {
    try {
      const text = fs.readFileSync(place, 'latin1').trim();
      if (text.length >= 32) return text;
    } catch {
      // It is not there, or Node's permission model forbids it.
    }
  }
  return Buffer.from(fewRandomBytes(32)).toString('hex');
}

let store = randomBytes(0);

/**
 * Takes random bytes from a larger block, because one call for each few bytes is slow. No byte is used twice.
 */
function fewRandomBytes(bytes: number): Uint8Array {
  if (store.length < bytes) store = randomBytes(Math.max(bytes, 4096));
  const few = store.subarray(0, bytes);
  store = store.subarray(bytes);
  return few;
}

function here(fd: number): string {
  return `/proc/self/fd/${fd}`;
}

function at(fd: number, name: Name): string | Buffer {
  if (typeof name === 'string') return `/proc/self/fd/${fd}/${name}`;
  return Buffer.concat([Buffer.from(`/proc/self/fd/${fd}/`), name]);
}

function procIsThere(): boolean {
  try {
    return fs.statfsSync('/proc/self/fd').type === procMagic;
  } catch {
    return false;
  }
}

const scratch = Buffer.allocUnsafe(512);

/**
 * Takes three system calls. `readFileSync` makes five and takes twice as long, and every walk comes through
 * here.
 */
function fdinfo(fd: number): string {
  const info = fs.openSync(`/proc/self/fdinfo/${fd}`, O_RDONLY);
  try {
    return scratch.toString('latin1', 0, fs.readSync(info, scratch, 0, scratch.length, 0));
  } finally {
    fs.closeSync(info);
  }
}

function mountIn(fdinfo: string): number {
  const found = /^mnt_id:\s*(\d+)$/m.exec(fdinfo);
  if (!found) throw new KernelError('ENOSYS');
  return Number(found[1]);
}

export function kindOf(mode: number): FileKind {
  const type = mode & 0o170000;
  return type === 0o100000 ? 'file' : type === 0o040000 ? 'dir' : type === 0o120000 ? 'link' : 'other';
}

function kindOfEntry(entry: fs.Dirent): FileKind | undefined {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'dir';
  if (entry.isSymbolicLink()) return 'link';
  const isOther = entry.isFIFO() || entry.isSocket() || entry.isCharacterDevice() || entry.isBlockDevice();
  return isOther ? 'other' : undefined;
}

/** Converts the big integers only when somebody reads them. Most callers only need the kind. */
class Stats implements Status {
  readonly #all: fs.BigIntStats;
  readonly kind: FileKind;
  readonly mode: number;
  readonly size: number;

  constructor(all: fs.BigIntStats) {
    this.#all = all;
    this.mode = Number(all.mode);
    this.kind = kindOf(this.mode);
    this.size = Number(all.size);
  }

  get links(): number {
    return Number(this.#all.nlink);
  }

  get owner(): number {
    return Number(this.#all.uid);
  }

  get mtime(): number {
    return Number(this.#all.mtimeNs / 1_000n) / 1_000;
  }

  get ctime(): number {
    return Number(this.#all.ctimeNs / 1_000_000n);
  }

  get stamp(): string {
    const { dev, ino, size, mtimeNs, ctimeNs } = this.#all;
    return `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`;
  }
}

/** Node's errors contain paths. Only the name of the errno is passed on. */
function call<R>(body: () => R): R {
  try {
    return body();
  } catch (error) {
    throw kernelError(error);
  }
}

function settle<R>(start: (done: (error: Error | null, result: R) => void) => void): Promise<R> {
  return new Promise((resolve, reject) => {
    start((error, result) => (error ? reject(kernelError(error)) : resolve(result)));
  });
}

function kernelError(error: unknown): KernelError {
  if (error instanceof KernelError) return error;
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return new KernelError(typeof code === 'string' ? code : 'EIO');
}
