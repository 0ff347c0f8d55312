/**
 * The backend with a C part. It adds what only openat2, renameat2 and O_TMPFILE can do to what Node has.
 *
 * Promise: this backend is used only if the C part was built and openat2 works here. On an old kernel, under
 * a filter that refuses openat2, or without a compiler, the `proc` backend does the same more slowly. A
 * shortcut that cannot tell returns `undefined`.
 */
import { constants } from 'node:fs';
import { getSystemErrorName } from 'node:util';
import { type Kernel, KernelError, type Seen, type Status } from '../base/kernel.ts';
import { kindOf, nodeKernel } from './node-fs.ts';
import { isBuilt, type Listing, listingOver, loadPart } from './part.ts';

type Fields = Float64Array;
/** A number is always an error. */
type Read = number | Uint8Array | [Uint8Array, stamp: string];

interface NativePart extends Listing {
  openBeneath(dir: number, path: string, flags: number, resolve: number): number;
  statBeneath(dir: number, path: string, flags: number, resolve: number, into: Fields): number | string;
  statHeld(fd: number, into: Fields): number | string;
  statNamed(dir: number, name: string, into: Fields): number | string;
  roomOf(fd: number, into: Fields): number;
  mountOf(fd: number): number;
  renameNew(fromDir: number, from: string, toDir: number, to: string): number;
  createUnnamed(dir: number, mode: number): number;
  nameUnnamed(fd: number, dir: number, name: string): number;
  readBeneath(
    dir: number,
    path: string,
    resolve: number,
    max: number,
    inMemory: 0 | 1,
    into: Fields | undefined,
  ): Promise<Read> | Read;
  writeUnnamed(dir: number, mode: number, keep: number, bytes: Uint8Array): Promise<number>;
  writeNamed(
    dir: number,
    name: string,
    temporary: string,
    mode: number,
    keep: number,
    bytes: Uint8Array,
    into: Fields,
  ): number | string;
}

const { O_DIRECTORY } = constants;

// RESOLVE_ flags of openat2. Together they follow no link and leave neither the directory nor its mount.
const otherMounts = 0x01;
const links = 0x02 | 0x04;
const beneath = 0x08;
const confined: number = otherMounts | links | beneath;

/**
 * Returns the kernel of this backend, or a text that says why there is none, for callers that named this
 * backend.
 */
export function nativeKernel(random?: (bytes: number) => Uint8Array): Kernel | string {
  if (process.platform !== 'linux') return 'the native backend needs Linux';
  if (!isBuilt())
    return 'the native backend is not here: install optional dependencies too, or set Hob up with a C compiler (cc)';
  const part = loadPart() as NativePart | undefined;
  if (part === undefined)
    return 'the native backend does not load here, or was built for another version: set Hob up again';
  const proc = nodeKernel(random);
  if (!proc.supported) return 'this needs Linux with /proc mounted';
  return openat2Answers(part, proc) ? over(part, proc) : 'the native backend needs openat2 (Linux 5.6)';
}

function openat2Answers(part: NativePart, proc: Kernel): boolean {
  const root = proc.openRoot('/');
  try {
    const fd = part.openBeneath(root, '.', O_DIRECTORY, confined);
    if (fd < 0) return false;
    proc.close(fd);
    return true;
  } finally {
    proc.close(root);
  }
}

function over(part: NativePart, proc: Kernel): Kernel {
  return {
    ...proc,
    ...listingOver(part, proc),
    backend: 'native',
    shortcuts: {
      open: (dir, names, directory) =>
        unlessUnsure(part.openBeneath(dir, names, directory ? O_DIRECTORY : 0, confined)),
      look: (dir, name) => {
        const stamp = part.statNamed(dir, name, scratch);
        const mount = scratch[6] ?? 0;
        if (typeof stamp === 'string') return mount > 0 ? { status: statusOf(scratch, stamp), mount } : undefined;
        checked(stamp);
        return undefined;
      },
      stat: (dir, names) => {
        const stamp = part.statBeneath(dir, names, 0, confined, scratch);
        if (typeof stamp === 'string') return statusOf(scratch, stamp);
        unlessUnsure(stamp);
        return undefined;
      },
      read: (dir, names, max, inMemory) => {
        const got = part.readBeneath(dir, names, confined, max, inMemory ? 1 : 0, undefined);
        return got instanceof Promise ? got.then(bytesOf) : bytesOf(got);
      },
      readSeen: (dir, names, max, inMemory) => {
        // Not the shared scratch array: this call may finish later.
        const into = new Float64Array(scratch.length);
        const seen = (got: Read): Seen | undefined =>
          Array.isArray(got) ? { status: statusOf(into, got[1]), bytes: got[0] } : undefinedFor(got);
        const got = part.readBeneath(dir, names, confined, max, inMemory ? 1 : 0, into);
        return got instanceof Promise ? got.then(seen) : seen(got);
      },
    },
    unnamed: {
      create: (dir, mode) => unlessLacking(part.createUnnamed(dir, mode)),
      write: async (dir, mode, keep, bytes) => unlessLacking(await part.writeUnnamed(dir, mode, keep ?? -1, bytes)),
      name: (fd, dir, name) => void checked(part.nameUnnamed(fd, dir, name)),
      writeNamed: (dir, name, temporary, mode, keep, bytes) => {
        const stamp = part.writeNamed(dir, name, temporary ?? '', mode, keep ?? -1, bytes, scratch);
        if (typeof stamp === 'string') return statusOf(scratch, stamp);
        unlessLacking(stamp);
        return undefined;
      },
    },
    fstat: (fd) => {
      const stamp = part.statHeld(fd, scratch);
      return typeof stamp === 'number' ? proc.fstat(fd) : statusOf(scratch, stamp);
    },
    lstat: (dir, name) => {
      if (typeof name !== 'string') return proc.lstat(dir, name);
      const stamp = part.statNamed(dir, name, scratch);
      if (typeof stamp === 'string') return statusOf(scratch, stamp);
      return getSystemErrorName(stamp) === 'ENOENT' ? undefined : proc.lstat(dir, name);
    },
    freeSpaceOf: (fd) => {
      checked(part.roomOf(fd, scratch));
      return { free: scratch[0] ?? 0, total: scratch[1] ?? 0 };
    },
    // Kernels before 5.8 do not report the mount this way. Then it is read from /proc.
    mountOf: (fd) => {
      const mount = part.mountOf(fd);
      return mount < 0 ? proc.mountOf(fd) : mount;
    },
    renameNew: (fromDir, from, toDir, to) => {
      if (typeof from !== 'string' || typeof to !== 'string') return false;
      const answer = part.renameNew(fromDir, from, toDir, to);
      // EBUSY: a mount point. The caller's other way gives the right error for it.
      return answer < 0 && getSystemErrorName(answer) === 'EBUSY' ? false : unlessLacking(answer) !== undefined;
    },
  };
}

/**
 * Errors after which the walk decides: links, other mounts, names that change during the call. ENAMETOOLONG
 * is one of them because the whole path may be too long while each single name is not.
 */
const unsure: ReadonlySet<string> = new Set(['ELOOP', 'EXDEV', 'EAGAIN', 'ENAMETOOLONG', 'ENOSYS', 'E2BIG']);
/**
 * Errors of a file system that does not support the operation. EPERM is what creating an unnamed file in a
 * removed directory gives; the ordinary way then gives ENOENT.
 */
const lacking: ReadonlySet<string> = new Set(['EOPNOTSUPP', 'ENOTSUP', 'EINVAL', 'EISDIR', 'ENOSYS', 'EPERM']);

function unlessUnsure(answer: number): number | undefined {
  return answer < 0 && unsure.has(getSystemErrorName(answer)) ? undefined : checked(answer);
}

function unlessLacking(answer: number): number | undefined {
  return answer < 0 && lacking.has(getSystemErrorName(answer)) ? undefined : checked(answer);
}

function checked(answer: number): number {
  if (answer < 0) throw new KernelError(getSystemErrorName(answer));
  return answer;
}

/** Shared by all synchronous calls: each one fills it and reads it before it returns. */
const scratch: Fields = new Float64Array(7);

function statusOf(fields: Fields, stamp: string): Status {
  const mode = fields[0] ?? 0;
  return {
    kind: kindOf(mode),
    mode,
    links: fields[1] ?? 0,
    owner: fields[2] ?? 0,
    size: fields[3] ?? 0,
    mtime: fields[4] ?? 0,
    ctime: fields[5] ?? 0,
    stamp,
  };
}

function bytesOf(got: Read): Uint8Array | undefined {
  return got instanceof Uint8Array ? got : undefinedFor(got);
}

/**
 * Returns `undefined`. 0 means that there is no such small file: it is not a file, is empty, or is too large.
 */
function undefinedFor(got: Read): undefined {
  unlessUnsure(got as number);
  return undefined;
}
