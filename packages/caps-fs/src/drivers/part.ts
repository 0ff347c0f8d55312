/**
 * Loads the C part, and lists directories with it. Search threads use it too, so it imports no actors.
 *
 * Promise: a listing has the same names and kinds as without the C part, a few thousand in one call.
 */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { getSystemErrorName } from 'node:util';
import { type Kernel, KernelError, type Kind } from '../base/kernel.ts';

const file = fileURLToPath(new URL('../../node_modules/.native/fscap.node', import.meta.url));

/**
 * False on machines without a C compiler. Checked first, so that any other failure to load is reported as
 * one.
 */
export function isBuilt(): boolean {
  return existsSync(file);
}

/** Must equal `PART` in `native/fscap.c`. A binary built from other sources may expect other arguments. */
const ours = 2;

/** Returns `undefined` if the C part does not load here or has another version. */
export function loadPart(): unknown {
  try {
    const found = createRequire(import.meta.url)(file) as { readonly part?: number };
    return found.part === ours ? found : undefined;
  } catch {
    return undefined;
  }
}

export interface Listing {
  someEntries(fd: number): string | number;
  sortedNames(fd: number, max: number): Promise<string | number> | string | number;
}

/**
 * Lists many entries in one call, where `proc` reads one at a time. Node opens and closes the descriptors.
 */
export function listingOver({ someEntries, sortedNames }: Listing, proc: Kernel): Pick<Kernel, 'names' | 'children'> {
  /** Returns `false` at the end, or when `take` has enough. */
  const each = (fd: number, take: (kind: string, name: string) => boolean): boolean => {
    const got = someEntries(fd);
    if (typeof got === 'number') throw new KernelError(getSystemErrorName(got));
    for (const entry of got.split('/')) if (entry !== '' && !take(entry.charAt(0), entry.slice(1))) return false;
    return got !== '';
  };
  const opened = (dir: number): number => proc.reopen(dir, 'list');
  /** U+FFFD may stand for bytes that are not UTF-8. Such a name counts only if it exists, and only once. */
  const kindOf = (dir: number, kind: string, name: string, unsure: Set<string>): Kind | undefined => {
    if (!name.includes('\ufffd')) return kinds[kind] ?? proc.lstat(dir, name)?.kind;
    if (unsure.has(name)) return undefined;
    unsure.add(name);
    return proc.lstat(dir, name)?.kind;
  };
  return {
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
      const found: { name: string; kind: Kind }[] = [];
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

const kinds: Readonly<Record<string, Kind>> = { f: 'file', d: 'dir', l: 'link', o: 'other' };
