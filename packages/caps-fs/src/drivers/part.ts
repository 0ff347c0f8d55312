/**
 * The C part as Node loads it, and what a thread that only looks through a tree takes of it. Imports no actors.
 *
 * Promise: of a directory it tells the same names and kinds as the backend without it, a few thousand in one call.
 */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { getSystemErrorName } from 'node:util';
import { type Kernel, KernelError, type Kind } from '../base/kernel.ts';

const file = fileURLToPath(new URL('../../node_modules/.native/fscap.node', import.meta.url));

/** Not there on machines without a C compiler: looked for first, so that what else fails is seen. */
export function isBuilt(): boolean {
  return existsSync(file);
}

/** As `native/fscap.c` numbers it: one that was built from other sources would take our arguments for others. */
const ours = 2;

/** `undefined`: it does not load here, or is another one. */
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

/** What `proc` does with an entry at a time; the descriptors are those of Node. */
export function listingOver({ someEntries, sortedNames }: Listing, proc: Kernel): Pick<Kernel, 'names' | 'children'> {
  /** `false`: enough. */
  const each = (fd: number, take: (kind: string, name: string) => boolean): boolean => {
    const got = someEntries(fd);
    if (typeof got === 'number') throw new KernelError(getSystemErrorName(got));
    for (const entry of got.split('/')) if (entry !== '' && !take(entry.charAt(0), entry.slice(1))) return false;
    return got !== '';
  };
  const opened = (dir: number): number => proc.reopen(dir, 'list');
  /** U+FFFD may stand for bytes that are no UTF-8: such a name counts only if it names something, and once. */
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
        // Split, that would be one name of no characters.
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
