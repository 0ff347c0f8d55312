/**
 * Walks through a tree by descriptors, one name at a time. It never follows links and never enters other
 * mounts.
 *
 * Promise: every name it reports lies beneath the given directory, whoever swaps directories and links
 * meanwhile. It skips excepted names and temporaries. At most `maxDepth` descriptors are open. It never
 * yields, so it is only for a worker thread or a small tree. It imports only modules that import nothing.
 */
import type { FsCode } from '../base/errors.ts';
import { type FileKind, type Kernel, KernelError } from '../base/kernel.ts';
import { byCodePoint, isTemporary, namedBy } from '../base/names.ts';

/**
 * Thrown to end a walk early, with the reason for the caller. It is plain data, so that it can cross threads.
 */
export class Stop {
  readonly code: FsCode;
  readonly detail: string | undefined;

  constructor(code: FsCode, detail?: string) {
    this.code = code;
    this.detail = detail;
  }
}

/** Where to search: plain data with everything that a worker thread needs to know of a cap. */
export interface SearchScope {
  /** The directory, opened with O_PATH. The caller holds it open. */
  readonly fd: number;
  readonly mount: number;
  /** The backend of the cap. A worker thread makes a kernel of its own. */
  readonly backend: Kernel['backend'];
  readonly excepted: readonly string[];
  readonly maxEntries: number;
  readonly maxDepth: number;
}

export interface VisitedEntry {
  /** The directory that it is in. */
  readonly dir: number;
  readonly names: readonly string[];
  readonly kind: FileKind;
}

interface Visitor {
  /** Whether to skip this entry of the current directory. Asked before the entries are sorted. */
  passes?(name: string, kind: FileKind): boolean;
  /** Called before the entries of a directory. */
  open?(dir: number, names: readonly string[]): void;
  /** Called for each entry. Returns whether to enter it if it is a directory. */
  entry(entry: VisitedEntry): boolean;
  /** Called for a directory that may not be read. */
  skip?(names: readonly string[]): void;
  /** Called after the entries of a directory. */
  close?(): void;
}

export function descend(kernel: Kernel, ground: SearchScope, visitor: Visitor, from: readonly string[] = []): void {
  let seen = 0;
  const visit = (dir: number, names: readonly string[], depth: number): void => {
    visitor.open?.(dir, names);
    const entries = kernel.children(dir, ground.maxEntries - seen + 1);
    seen += entries.length;
    if (seen > ground.maxEntries) throw new Stop('FS_LIMIT', `maxEntries ${ground.maxEntries}, ask for a part of it`);
    for (const { name, kind } of inOrder(entries.filter((entry) => !visitor.passes?.(entry.name, entry.kind)))) {
      if (isTemporary(name) || namedBy(ground.excepted, name)) continue;
      const below = [...names, name];
      if (!visitor.entry({ dir, names: below, kind }) || kind !== 'dir') continue;
      if (depth >= ground.maxDepth) throw new Stop('FS_LIMIT', `maxDepth ${ground.maxDepth}, ask for a part of it`);
      const child = openIfDirectory(kernel, dir, name, () => visitor.skip?.(below));
      if (child === undefined) continue;
      try {
        if (kernel.mountOf(child) === ground.mount) visit(child, below, depth + 1);
      } finally {
        kernel.close(child);
      }
    }
    visitor.close?.();
  };
  visit(ground.fd, from, 1);
}

/**
 * Sorts by code point. JavaScript's own order compares UTF-16 units and differs only where there are
 * surrogates.
 */
function inOrder<E extends { readonly name: string }>(entries: E[]): E[] {
  if (entries.some(({ name }) => /[\ud800-\udfff]/.test(name))) {
    return entries.sort((a, b) => byCodePoint(a.name, b.name));
  }
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * Returns `undefined` if it is gone, is no directory any more, or may not be read. The search then goes on.
 */
function openIfDirectory(kernel: Kernel, dir: number, name: string, skip: () => void): number | undefined {
  try {
    return kernel.openDirectory(dir, name);
  } catch (error) {
    if (isRefused(error)) skip();
    if (isPassing(error)) return undefined;
    throw error;
  }
}

function isRefused(error: unknown): boolean {
  return error instanceof KernelError && (error.errno === 'EACCES' || error.errno === 'EPERM');
}

export function isPassing(error: unknown): boolean {
  return error instanceof KernelError && passing.has(error.errno);
}

const passing: ReadonlySet<string> = new Set([
  'ENOENT',
  'ENOTDIR',
  'ELOOP',
  'EACCES',
  'EPERM',
  'ENXIO',
  'ESTALE',
  'EINTR',
]);

/** Why a file or a directory is not searched. */
export type SkipReason = 'binary' | 'large' | 'unreadable';

/** The content of a file, valid while `use` runs. */
export interface Small {
  readonly bytes: Uint8Array;
  /**
   * The mount of the file. Check it before showing any content. Other files skip it: it costs as much as the
   * read.
   */
  mount(): number;
}

/**
 * Reads a regular file of at most `max` bytes, checked before it is opened. Returns `undefined` for anything
 * else.
 */
export function readSmall<R>(
  kernel: Kernel,
  dir: number,
  name: string,
  max: number,
  use: (small: Small) => R,
  skip?: (reason: SkipReason) => void,
): R | undefined {
  let found: number | undefined;
  try {
    found = kernel.openAny(dir, name);
    return readFound(kernel, found, max, use, skip);
  } catch (error) {
    if (isRefused(error)) skip?.('unreadable');
    if (isPassing(error)) return undefined;
    throw error;
  } finally {
    if (found !== undefined) kernel.close(found);
  }
}

export function readFound<R>(
  kernel: Kernel,
  found: number,
  max: number,
  use: (small: Small) => R,
  skip?: (reason: SkipReason) => void,
): R | undefined {
  const { kind, size } = kernel.fstat(found);
  if (kind === 'file' && size > max) skip?.('large');
  if (kind !== 'file' || size === 0 || size > max) return undefined;
  const bytes = readAll(kernel, found, size);
  return use({ bytes, mount: () => kernel.mountOf(found) });
}

const maxKept = 1024 * 1024;
/**
 * Memory for the file that is read now. The next file overwrites it. New memory for each file would take a tenth of the
 * time of a search.
 */
let kept: Uint8Array = new Uint8Array(0);

function memoryFor(kernel: Kernel, size: number): Uint8Array {
  if (size > maxKept) return kernel.memory(size);
  if (size > kept.length) kept = kernel.memory(Math.min(maxKept, 2 * size));
  return kept.subarray(0, size);
}

function readAll(kernel: Kernel, found: number, size: number): Uint8Array {
  const fd = kernel.reopen(found, 'read');
  try {
    const bytes = memoryFor(kernel, size);
    let done = 0;
    while (done < size) {
      const got = kernel.readNow(fd, done === 0 ? bytes : bytes.subarray(done), done);
      if (got === 0) break;
      done += got;
    }
    return done === size ? bytes : bytes.subarray(0, done);
  } finally {
    kernel.close(fd);
  }
}
