/**
 * The backend with a C part: what Node has, and beside it what only openat2, renameat2 and O_TMPFILE can do.
 *
 * Promise: it is there only if the part was built and openat2 answers here: on an old kernel, under a filter that refuses
 * it, or without a compiler there is none, and `proc` does the same, slower. Where a shortcut does not know it says so.
 */
import { constants } from 'node:fs';
import { getSystemErrorName } from 'node:util';
import { mutant } from '@hob/vat';
import { type Kernel, KernelError, type Status } from '../kernel.ts';
import { kindOf, nodeKernel } from './node-fs.ts';
import { isBuilt, type Listing, listingOver, loadPart } from './part.ts';

type Fields = BigUint64Array;

interface Part extends Listing {
  openBeneath(dir: number, path: string, flags: number, resolve: number): number;
  statBeneath(dir: number, path: string, flags: number, resolve: number, into: Fields): number;
  mountOf(fd: number): number;
  renameNew(fromDir: number, from: string, toDir: number, to: string): number;
  createUnnamed(dir: number, mode: number): number;
  nameUnnamed(fd: number, dir: number, name: string): number;
  readBeneath(
    dir: number,
    path: string,
    flags: number,
    resolve: number,
    max: number,
  ): Promise<number | [Fields, Uint8Array?]> | number | [Fields, Uint8Array?];
  writeUnnamed(dir: number, mode: number, keep: number, bytes: Uint8Array): Promise<number> | number;
}

const { O_DIRECTORY } = constants;

// RESOLVE_ flags of openat2. Together: no link is followed, neither the directory nor its mount is left.
const otherMounts = mutant('fs-openat2-mounts') ? 0 : 0x01;
const links = mutant('fs-openat2-links') ? 0 : 0x02 | 0x04;
const beneath = mutant('fs-openat2-links') ? 0 : 0x08;
const confined: number = otherMounts | links | beneath;

/** The kernel of this backend, or why there is none, in words for whoever asked for it by name. */
export function nativeKernel(random?: (bytes: number) => Uint8Array): Kernel | string {
  if (process.platform !== 'linux') return 'the native backend needs Linux';
  if (!isBuilt()) return 'the native backend is not built: it needs a C compiler (cc) when Hob is set up';
  const part = loadPart() as Part | undefined;
  if (part === undefined) return 'the native backend does not load here';
  const proc = nodeKernel(random, mutant('fs-nofollow'));
  if (!proc.supported) return 'this needs Linux with /proc mounted';
  return openat2Answers(part, proc) ? over(part, proc) : 'the native backend needs openat2 (Linux 5.6)';
}

function openat2Answers(part: Part, proc: Kernel): boolean {
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

function over(part: Part, proc: Kernel): Kernel {
  return {
    ...proc,
    ...listingOver(part, proc),
    backend: 'native',
    shortcuts: {
      open: (dir, names, directory) => known(part.openBeneath(dir, names, directory ? O_DIRECTORY : 0, confined)),
      stat: (dir, names) => {
        const into = new BigUint64Array(8);
        return known(part.statBeneath(dir, names, 0, confined, into)) === undefined ? undefined : statusOf(into);
      },
      read: async (dir, names, max) => {
        const got = await part.readBeneath(dir, names, 0, confined, max);
        if (typeof got === 'number') {
          known(got);
          return undefined;
        }
        return { status: statusOf(got[0]), bytes: got[1] };
      },
    },
    unnamed: {
      create: (dir, mode) => had(part.createUnnamed(dir, mode)),
      write: async (dir, mode, keep, bytes) => had(await part.writeUnnamed(dir, mode, keep ?? -1, bytes)),
      name: (fd, dir, name) => void done(part.nameUnnamed(fd, dir, name)),
    },
    // Kernels before 5.8 do not say the mount: there it is read from /proc.
    mountOf: (fd) => {
      const mount = part.mountOf(fd);
      return mount < 0 ? proc.mountOf(fd) : mount;
    },
    renameNew: (fromDir, from, toDir, to) => {
      if (typeof from !== 'string' || typeof to !== 'string') return false;
      const answer = part.renameNew(fromDir, from, toDir, to);
      // A mount point: the other way says what that is.
      return answer < 0 && getSystemErrorName(answer) === 'EBUSY' ? false : had(answer) !== undefined;
    },
  };
}

/** Links, other mounts, what changes under the kernel's eyes: the walk looks itself. A path may also be too long as a whole only. */
const unsure: ReadonlySet<string> = new Set(['ELOOP', 'EXDEV', 'EAGAIN', 'ENAMETOOLONG', 'ENOSYS', 'E2BIG']);
/** A file system that has no such thing. EPERM: a file without a name in a directory that was removed; with one it is ENOENT. */
const lacking: ReadonlySet<string> = new Set(['EOPNOTSUPP', 'ENOTSUP', 'EINVAL', 'EISDIR', 'ENOSYS', 'EPERM']);

function known(answer: number): number | undefined {
  return answer < 0 && unsure.has(getSystemErrorName(answer)) ? undefined : done(answer);
}

function had(answer: number): number | undefined {
  return answer < 0 && lacking.has(getSystemErrorName(answer)) ? undefined : done(answer);
}

function done(answer: number): number {
  if (answer < 0) throw new KernelError(getSystemErrorName(answer));
  return answer;
}

function statusOf(fields: Fields): Status {
  const [mode = 0n, links = 0n, owner = 0n, size = 0n, mtime = 0n, ctime = 0n, dev = 0n, ino = 0n] = fields;
  return {
    kind: kindOf(Number(mode)),
    mode: Number(mode),
    links: Number(links),
    owner: Number(owner),
    size: Number(size),
    mtime: Number(BigInt.asIntN(64, mtime) / 1_000n) / 1_000,
    ctime: Number(BigInt.asIntN(64, ctime) / 1_000_000n),
    stamp: `${dev}:${ino}:${size}:${BigInt.asIntN(64, mtime)}:${BigInt.asIntN(64, ctime)}`,
  };
}
