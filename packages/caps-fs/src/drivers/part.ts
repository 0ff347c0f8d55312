/**
 * Loads the C part: the one in the package of this platform, or else the one that a compiler built on this machine.
 * Lists directories with it. Search threads use it too, so it imports no actors.
 *
 * Promise: a listing has the same names and kinds as without the C part, a few thousand in one call. A part from a
 * package is loaded only if it has the checksum that is in this package: Node looks for packages in each folder above
 * this one, and somebody else may write one of these.
 */
import { hash } from 'node:crypto';
import { closeSync, constants, existsSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { getSystemErrorName } from 'node:util';
import { type FileKind, type Kernel, KernelError } from '../base/kernel.ts';

const packages = createRequire(import.meta.url);

/** Where a compiler puts it (`native/build.mjs`). */
const BUILT = fileURLToPath(new URL('../../node_modules/.native/fscap.node', import.meta.url));

/** The checksums of the parts in the packages, written by `npm run native -- --write`. */
const CHECKSUMS = new URL('../../native/checksums.json', import.meta.url);

const platform = `${process.platform}-${process.arch}`;
const ofPackage: string | undefined = prebuilt();
const file: string = ofPackage ?? BUILT;

function prebuilt(): string | undefined {
  try {
    return packages.resolve(`@hob/caps-fs-${platform}/fscap.node`);
  } catch {
    return undefined;
  }
}

/** Checked first, so that any other failure to load is reported as one. */
export function isBuilt(): boolean {
  return existsSync(file);
}

/** Must equal `PART` in `native/fscap.c`. A binary built from other sources may expect other arguments. */
const ours = 4;

/** Returns `undefined` if the C part does not load here or has another version. */
export function loadPart(): unknown {
  try {
    const found = (ofPackage === undefined ? packages(file) : checked(ofPackage)) as { readonly part?: number };
    return found.part === ours ? found : undefined;
  } catch {
    return undefined;
  }
}

/** No part is as large. More is not read. */
const LARGEST = 16 * 1024 * 1024;

/** By descriptor, so that the file that was compared is the one that is loaded. */
function checked(from: string): unknown {
  const { files } = JSON.parse(readFileSync(CHECKSUMS, 'utf8')) as { files: Readonly<Record<string, string>> };
  // A FIFO that somebody put there must not hold the process up.
  const fd = openSync(from, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile() || stat.size > LARGEST) return {};
    if (hash('sha256', readFileSync(fd), 'hex') !== files[platform]) return {};
    const loaded = { exports: {} };
    process.dlopen(loaded, `/proc/self/fd/${fd}`);
    return loaded.exports;
  } finally {
    closeSync(fd);
  }
}

export interface Listing {
  someEntries(fd: number): string | number;
  sortedNames(fd: number, max: number): Promise<string | number> | string | number;
  filesWithout(
    dir: number,
    names: Uint8Array,
    max: number,
    bytes: number,
    text: Uint8Array,
    sizes: Float64Array,
  ): number;
}

/**
 * Lists many entries and searches many files in one call, where `proc` takes them one at a time. A call closes each
 * descriptor that it opens.
 */
export function listingOver(
  { someEntries, sortedNames, filesWithout }: Listing,
  proc: Kernel,
): Pick<Kernel, 'names' | 'children' | 'filesWithout'> {
  /** Returns `false` at the end, or when `take` has enough. */
  const each = (fd: number, take: (kind: string, name: string) => boolean): boolean => {
    const got = someEntries(fd);
    if (typeof got === 'number') throw new KernelError(getSystemErrorName(got));
    for (const entry of got.split('/')) if (entry !== '' && !take(entry.charAt(0), entry.slice(1))) return false;
    return got !== '';
  };
  const opened = (dir: number): number => proc.reopen(dir, 'list');
  /** U+FFFD may stand for bytes that are not UTF-8. Such a name counts only if it exists, and only once. */
  const kindOf = (dir: number, kind: string, name: string, unsure: Set<string>): FileKind | undefined => {
    if (!name.includes('\ufffd')) return kinds[kind] ?? proc.lstat(dir, name)?.kind;
    if (unsure.has(name)) return undefined;
    unsure.add(name);
    return proc.lstat(dir, name)?.kind;
  };
  return {
    filesWithout: (dir, names, max, bytes, text) => {
      const sizes = new Float64Array(names.length);
      const done = filesWithout(dir, Buffer.from(`${names.join('\0')}\0`), max, bytes, text, sizes);
      if (done < 0) throw new KernelError(getSystemErrorName(done));
      return sizes.subarray(0, done);
    },
    names: async (dir, max) => {
      const fd = opened(dir);
      try {
        const got = await sortedNames(fd, max);
        if (typeof got === 'number') throw new KernelError(getSystemErrorName(got));
        // Splitting an empty text would give one empty name.
        if (got === '') return [];
        return got.split('/');
      } finally {
        proc.close(fd);
      }
    },
    children: (dir, max) => {
      const found: { name: string; kind: FileKind }[] = [];
      const unsure = new Set<string>();
      const fd = opened(dir);
      try {
        const take = (letter: string, name: string): boolean => {
          const kind = kindOf(dir, letter, name, unsure);
          if (kind) found.push({ name, kind });
          return found.length < max;
        };
        while (each(fd, take));
        return found;
      } finally {
        proc.close(fd);
      }
    },
  };
}

const kinds: Readonly<Record<string, FileKind>> = { f: 'file', d: 'dir', l: 'link', o: 'other' };
