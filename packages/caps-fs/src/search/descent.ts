/**
 * Looking through a tree: by descriptors, one name at a time, links never followed, other mounts never entered.
 *
 * Promise: what it names lies beneath the directory that it was given, whoever exchanges directories and links meanwhile;
 * excepted names and temporaries are not there for it. At most `maxDepth` descriptors are open. It stands still for nobody:
 * it is for a thread of its own, or for a tree that is known to be small. Imports only what imports nothing.
 */
import type { FsCode } from '../base/errors.ts';
import { type Kernel, KernelError, type Kind } from '../base/kernel.ts';
import { byCodePoint, isTemporary, namedBy } from '../base/names.ts';

/** An end before the end, for a reason that the caller is told. Data, since it may have to cross to another thread. */
export class Stop {
  readonly code: FsCode;
  readonly detail: string | undefined;

  constructor(code: FsCode, detail?: string) {
    this.code = code;
    this.detail = detail;
  }
}

/** Plain data: what a thread has to know of a cap. */
export interface Ground {
  /** A directory, by O_PATH. Whoever started this holds it. */
  readonly fd: number;
  readonly mount: number;
  /** Of the cap: a thread makes a kernel of its own. */
  readonly backend: Kernel['backend'];
  readonly excepted: readonly string[];
  readonly maxEntries: number;
  readonly maxDepth: number;
}

export interface Entry {
  /** The directory that it is in. */
  readonly dir: number;
  readonly names: readonly string[];
  readonly kind: Kind;
}

export interface Visitor {
  /** What it has nothing to do with, of the directory that was opened last: told before anything is sorted. */
  passes?(name: string, kind: Kind): boolean;
  /** Before the entries of a directory. */
  open?(dir: number, names: readonly string[]): void;
  /** Whether to go into it, if it is a directory. */
  entry(entry: Entry): boolean;
  /** After the entries of a directory. */
  close?(): void;
}

export function descend(kernel: Kernel, ground: Ground, visitor: Visitor, from: readonly string[] = []): void {
  let seen = 0;
  const look = (dir: number, names: readonly string[], depth: number): void => {
    visitor.open?.(dir, names);
    const entries = kernel.children(dir, ground.maxEntries - seen + 1);
    seen += entries.length;
    if (seen > ground.maxEntries) throw new Stop('FS_LIMIT', `maxEntries ${ground.maxEntries}, ask for a part of it`);
    for (const { name, kind } of inOrder(entries.filter((entry) => !visitor.passes?.(entry.name, entry.kind)))) {
      if (isTemporary(name) || namedBy(ground.excepted, name)) continue;
      const below = [...names, name];
      if (!visitor.entry({ dir, names: below, kind }) || kind !== 'dir') continue;
      if (depth >= ground.maxDepth) throw new Stop('FS_LIMIT', `maxDepth ${ground.maxDepth}, ask for a part of it`);
      const child = entered(kernel, dir, name);
      if (child === undefined) continue;
      try {
        if (kernel.mountOf(child) === ground.mount) look(child, below, depth + 1);
      } finally {
        kernel.close(child);
      }
    }
    visitor.close?.();
  };
  look(ground.fd, from, 1);
}

/** By code point. What JavaScript compares, units of UTF-16, differs from it only where there are surrogates. */
function inOrder<E extends { readonly name: string }>(entries: E[]): E[] {
  if (entries.some(({ name }) => /[\ud800-\udfff]/.test(name))) {
    return entries.sort((a, b) => byCodePoint(a.name, b.name));
  }
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** `undefined`: it is gone, or something else by now, or not ours to read. None of it ends the whole search. */
function entered(kernel: Kernel, dir: number, name: string): number | undefined {
  try {
    return kernel.openDirectory(dir, name);
  } catch (error) {
    if (isPassing(error)) return undefined;
    throw error;
  }
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

/** What is in a file, for as long as it is being looked at. */
export interface Small {
  readonly bytes: Uint8Array;
  /** Whoever shows something of it asks first. Not asked for the others: it costs as much as the reading. */
  mount(): number;
}

/** A regular file of at most `max` bytes, looked at before it is opened; `undefined`: it is none, or is gone. */
export function readSmall<R>(
  kernel: Kernel,
  dir: number,
  name: string,
  max: number,
  use: (small: Small) => R,
): R | undefined {
  let found: number | undefined;
  try {
    found = kernel.openAny(dir, name);
    return readFound(kernel, found, max, use);
  } catch (error) {
    if (isPassing(error)) return undefined;
    throw error;
  } finally {
    if (found !== undefined) kernel.close(found);
  }
}

export function readFound<R>(kernel: Kernel, found: number, max: number, use: (small: Small) => R): R | undefined {
  const { kind, size } = kernel.fstat(found);
  if (kind !== 'file' || size === 0 || size > max) return undefined;
  const bytes = readAll(kernel, found, size);
  return use({ bytes, mount: () => kernel.mountOf(found) });
}

function readAll(kernel: Kernel, found: number, size: number): Uint8Array {
  const fd = kernel.reopen(found, 'read');
  try {
    const bytes = kernel.memory(size);
    let done = 0;
    while (done < size) {
      const got = kernel.readNow(fd, bytes.subarray(done), done);
      if (got === 0) break;
      done += got;
    }
    return done === size ? bytes : bytes.subarray(0, done);
  } finally {
    kernel.close(fd);
  }
}
