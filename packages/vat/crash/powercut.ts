/**
 * A disk whose power can be cut: a folder, and beside it the shadow that `powercut.c` keeps of what was
 * synced.
 *
 * Promise: after `cut` the folder is one that a disk might hold which lost its power when the process was
 * killed. A folder has its entries as of its last fsync or, by chance, as they were last; a file its bytes as
 * of its last fsync or, by chance, a mix, sector by sector, of those and what was written since. The same
 * seed and the same folder give the same cut.
 *
 * Not modelled: what lay between the last fsync and the last write (a sector written twice is here old or
 * newest), and a disk that lies about fsync.
 */
import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The piece that a disk writes whole or not at all. */
export const SECTOR = 512;

export interface Disk {
  /** Absolute and without links, as the kernel names it. */
  readonly folder: string;
  /** Not below the folder. */
  readonly shadow: string;
}

/** A whole number below a bound. */
export type Chance = (below: number) => number;

/** The environment with which a program runs on this disk. */
export function environmentOf({ folder, shadow }: Disk, shim: string): Record<string, string> {
  return { LD_PRELOAD: shim, POWERCUT_ROOT: folder, POWERCUT_SHADOW: shadow };
}

type Kind = 'f' | 'd' | 'o';
interface Entry {
  readonly key: string;
  readonly kind: Kind;
}
type Names = ReadonlyMap<string, Entry>;

/** Says that everything in the folder now has reached the disk. */
export function seal({ folder, shadow }: Disk): void {
  rmSync(shadow, { recursive: true, force: true });
  mkdirSync(shadow, { recursive: true });
  const walk = (path: string, key: string): void => {
    const names = namesNow(path);
    writeFileSync(
      join(shadow, `${key}.names`),
      [...names].map(([name, entry]) => `${entry.key} ${entry.kind} ${name}\0`).join(''),
    );
    for (const [name, { key: inner, kind }] of names) {
      if (kind === 'd') walk(join(path, name), inner);
      if (kind === 'f') writeFileSync(join(shadow, inner), readFileSync(join(path, name)));
    }
  };
  walk(folder, entryOf(folder).key);
}

/** How much is left to chance: with `synced` nothing, and the disk holds the least that it may. */
export type CutKind = 'synced' | 'mixed';

/**
 * Cuts the power, after the processes are dead. What the folder then holds is sealed: the next life starts on
 * it.
 */
export function cut(disk: Disk, kind: CutKind, chance: Chance): void {
  const { folder, shadow } = disk;
  const written = filesNow(folder);
  const after = `${folder}.after`;
  rmSync(after, { recursive: true, force: true });

  const restore = (path: string, key: string, now: Names): void => {
    mkdirSync(path, { mode: 0o700 });
    // All old or all new: a journal keeps the order of changes, so one of the two is always a state that can
    // be.
    const names = kind === 'mixed' && chance(2) === 0 ? now : namesSynced(shadow, key);
    for (const [name, entry] of [...names].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const to = join(path, name);
      const was = written.get(entry.key);
      if (entry.kind === 'd') restore(to, entry.key, was === undefined ? new Map() : namesNow(was.path));
      if (entry.kind !== 'f') continue;
      const synced = bytesOf(join(shadow, entry.key)) ?? Buffer.alloc(0);
      const newest = (was && bytesOf(was.path)) ?? synced; // removed, but not from the disk: only what was synced is known
      writeFileSync(to, kind === 'mixed' ? mix(synced, newest, chance) : synced);
      chmodSync(to, was?.mode ?? 0o600);
    }
  };
  restore(after, entryOf(folder).key, namesNow(folder));
  rmSync(folder, { recursive: true });
  renameSync(after, folder);
  seal(disk);
}

/**
 * Each sector old or new, and so the length; a truncation whole or not at all. How many are new is itself by
 * chance: none, few, half, most, all.
 */
function mix(synced: Buffer, newest: Buffer, chance: Chance): Buffer {
  const percent = [0, 3, 50, 97, 100][chance(5)] as number;
  const isNew = (): boolean => chance(100) < percent;
  const result = Buffer.alloc((isNew() ? newest : synced).length); // a sector that was never written reads as zeros
  for (let at = 0; at < result.length; at += SECTOR) {
    const [before, after] = [synced.subarray(at, at + SECTOR), newest.subarray(at, at + SECTOR)];
    // A truncation that is not on the disk has removed nothing. Zeros in the middle of an emptied log would hide
    // its last commits behind the first ones, which are older than the database.
    if (before.equals(after) || at >= newest.length) before.copy(result, at);
    else (isNew() ? after : before).copy(result, at);
  }
  return result;
}

// ---- what is there ---------------------------------------------------------------------------------------------------

/** As the shim names it: an inode's number alone may be given to another file after a removal. */
function entryOf(path: string): Entry {
  const is = lstatSync(path, { bigint: true });
  return { key: `${is.ino}-${is.birthtimeNs}`, kind: is.isFile() ? 'f' : is.isDirectory() ? 'd' : 'o' };
}

function namesNow(folder: string): Names {
  return new Map(readdirSync(folder).map((name) => [name, entryOf(join(folder, name))]));
}

/** Empty for a folder that was never synced: it was, its entries were not. */
function namesSynced(shadow: string, key: string): Names {
  const text = bytesOf(join(shadow, `${key}.names`))?.toString() ?? '';
  const entries = text.split('\0').filter((line) => line !== '');
  return new Map(
    entries.map((line) => {
      const [, of = '', kind = 'o', name = ''] = /^(\S+) (\w) (.*)$/s.exec(line) ?? [];
      return [name, { key: of, kind: kind as Kind }];
    }),
  );
}

function filesNow(folder: string): ReadonlyMap<string, { readonly path: string; readonly mode: number }> {
  const found = new Map<string, { readonly path: string; readonly mode: number }>();
  const walk = (path: string): void => {
    for (const [name, { key, kind }] of namesNow(path)) {
      const inner = join(path, name);
      found.set(key, { path: inner, mode: lstatSync(inner).mode & 0o777 });
      if (kind === 'd') walk(inner);
    }
  };
  walk(folder);
  return found;
}

function bytesOf(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return undefined;
  }
}
