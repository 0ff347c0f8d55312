/**
 * Changes names: mkdir, remove, rename. Each step works on a held directory and one name, never on a path.
 */
import { takeFlag, takeRecord } from '../base/arguments.ts';
import { failedWith, refusal } from '../base/errors.ts';
import { type Descriptor, own } from '../base/handle.ts';
import type { Kernel, Name, Status } from '../base/kernel.ts';
import { isTemporary, temporaryName } from '../base/names.ts';
import { type Path, parsePath } from '../root/path.ts';
import { inodeOf, type Place } from '../root/place.ts';
import { find, locate, openDirectory, type ParentAndName, refuseOtherMount } from '../root/resolve.ts';
import { refuseIfFull } from '../root/room.ts';
import { charge, refuseExcepted } from '../root/terms.ts';
import type { Job } from './content.ts';

// Attempts before `BUSY`, when somebody keeps changing what is being removed.
const maxRetries = 8;
const entriesPerYield = 128;
// The most leftovers of writes and removals that an empty-looking directory may hold.
const maxUnfinished = 256;

export function mkdir(path: unknown, options: unknown): Job<void> {
  const parsed = parsePath(path);
  const recursive = takeFlag(takeRecord(options, 'options')['recursive'], 'recursive');
  return (place) => {
    const { kernel } = place.root;
    const make = (dir: number, name: string) => {
      refuseIfFull(place, dir, 0);
      charge(place.terms, { files: 1 });
      kernel.mkdir(dir, name);
    };
    if (!recursive) {
      if (parsed.names.length === 0) throw refusal('EXISTS');
      using target = locate(place, parsed);
      if (kernel.lstat(target.dir, target.name)) throw refusal('EXISTS');
      make(target.dir, target.name);
      return;
    }
    // The cap's own directory exists, unless it was deleted meanwhile. `find` then throws.
    if (parsed.names.length === 0) return find(place, parsed)[Symbol.dispose]();
    openDirectory(place, parsed, (dir, name) => {
      try {
        make(dir, name);
      } catch (error) {
        // Somebody else created it first. That is fine if it is a directory, and the walk checks that.
        if (!failedWith(error, 'EEXIST')) throw error;
      }
    })[Symbol.dispose]();
  };
}

/**
 * Removes a name. If it is a link, only the link goes. A recursive removal descends by descriptors, because
 * an attacker can lead a removal by path (`fs.rm`) out of the directory (CVE-2022-21658).
 */
export function remove(path: unknown, options: unknown): Job<void> {
  const parsed = parsePath(path);
  const recursive = takeFlag(takeRecord(options, 'options')['recursive'], 'recursive');
  return async (place) => {
    const { order } = place.root;
    if (parsed.names.length === 0) throw refusal('NOT_PERMITTED');
    for (let tries = 0; tries < maxRetries; tries++) {
      const left = await order.exclusive(() => removeOne(place, parsed, recursive));
      if (!left) return;
      // If the name means something else after the check of the tree, start again.
      const hidden = left === 'tree' ? await hideTree(place, parsed) : left;
      if (hidden) return await removeHidden(place, hidden);
    }
    throw refusal('BUSY');
  };
}

/** Removes anything but a full directory. Returns what remains to be done. */
async function removeOne(place: Place, path: Path, recursive: boolean): Promise<'tree' | Hidden | undefined> {
  const { kernel } = place.root;
  using target = locate(place, path);
  const present = presentAt(place, target, path.directory);
  if (present.kind !== 'dir') {
    kernel.unlink(target.dir, target.name);
    return undefined;
  }
  if (recursive) return 'tree';
  try {
    kernel.rmdir(target.dir, target.name);
    return undefined;
  } catch (error) {
    if (failedWith(error, 'ENOTEMPTY', 'EEXIST') && (await isEmptyToAll(kernel, target)))
      return hide(place, path, inodeOf(present));
    throw error;
  }
}

/**
 * Whether the directory holds only unfinished writes and removals. No holder sees these, so for him it is
 * empty. The caller holds the lock, so no other operation of this process changes the directory before the
 * caller acts.
 */
async function isEmptyToAll(kernel: Kernel, { dir, name }: ParentAndName): Promise<boolean> {
  using opened = own(kernel, kernel.openDirectory(dir, name));
  using _ = madeAccessible(kernel, opened.fd);
  // Only `raw` contains the names that are not UTF-8.
  const raw = await kernel.rawNames(opened.fd, maxUnfinished);
  const seen = kernel.children(opened.fd, maxUnfinished);
  return raw.length < maxUnfinished && raw.length === seen.length && seen.every((entry) => isTemporary(entry.name));
}

/**
 * Renames and never replaces anything. If the backend has no such system call, a file gets its second name
 * and then loses its first, which is atomic. For a directory there is no such way: one that appears at the
 * target in between is replaced if it is empty.
 */
export function rename(from: unknown, to: unknown): Job<void> {
  const source = parsePath(from);
  const target = parsePath(to);
  return (place) => {
    const { kernel, order } = place.root;
    if (source.names.length === 0 || target.names.length === 0) throw refusal('NOT_PERMITTED');
    return order.exclusive(() => {
      using old = locate(place, source);
      const present = presentAt(place, old, source.directory || target.directory);
      using fresh = locate(place, target);
      if (kernel.renameNew?.(old.dir, old.name, fresh.dir, fresh.name)) return;
      if (kernel.lstat(fresh.dir, fresh.name)) throw refusal('EXISTS');
      if (present.kind === 'dir') return kernel.rename(old.dir, old.name, fresh.dir, fresh.name);
      kernel.link(old.dir, old.name, fresh.dir, fresh.name);
      kernel.unlink(old.dir, old.name);
    });
  };
}

function presentAt(place: Place, { dir, name }: ParentAndName, directory: boolean): Status {
  const present = place.root.kernel.lstat(dir, name);
  if (!present) throw refusal('NOT_FOUND');
  if (directory && present.kind !== 'dir') throw refusal('NOT_A_DIRECTORY');
  return present;
}

/**
 * Makes a recursive removal look like one step. First it checks everything that could refuse the removal.
 * Then it gives the directory a name that nobody can use. Then the caller empties it, and if that fails,
 * gives the rest its name back. (In a directory that is emptied in place, a write could land in the part that
 * is left.)
 */
async function hideTree(place: Place, path: Path): Promise<Hidden | undefined> {
  const { kernel, order } = place.root;
  // Held open until it has its new name, because the file system reuses the inode numbers of removed objects.
  using top = openIfDirectory(place, path);
  if (!top) return undefined;
  await new Removal(place).judge(top.fd, 1);
  return await order.exclusive(() => hide(place, path, inodeOf(kernel.fstat(top.fd))));
}

interface Hidden extends ParentAndName {
  readonly hidden: string;
}

/**
 * Gives the directory a name that nobody can use. Returns `undefined` if the path means another object by
 * now.
 */
function hide(place: Place, path: Path, inode: string): Hidden | undefined {
  const { kernel } = place.root;
  const target = locate(place, path);
  let hidden: string | undefined;
  try {
    const present = presentAt(place, target, false);
    if (present.kind !== 'dir' || inodeOf(present) !== inode) return undefined;
    const name = temporaryName(kernel.random);
    kernel.rename(target.dir, target.name, target.dir, name);
    hidden = name;
    return { ...target, hidden };
  } finally {
    if (hidden === undefined) target[Symbol.dispose]();
  }
}

async function removeHidden(place: Place, hidden: Hidden): Promise<void> {
  using target = hidden;
  try {
    await new Removal(place).removeDirectory(target.dir, target.hidden, 1);
  } catch (error) {
    // A removal of a directory above it was quicker.
    if (failedWith(error, 'ENOENT')) return;
    putBack(place.root.kernel, target);
    throw error;
  }
}

function openIfDirectory(place: Place, path: Path): Descriptor | undefined {
  const { kernel } = place.root;
  using target = locate(place, path);
  if (presentAt(place, target, false).kind !== 'dir') return undefined;
  return own(kernel, kernel.openDirectory(target.dir, target.name));
}

function putBack(kernel: Kernel, { dir, name, hidden }: Hidden): void {
  try {
    if (kernel.renameNew?.(dir, hidden, dir, name)) return;
    if (!kernel.lstat(dir, name)) kernel.rename(dir, hidden, dir, name);
  } catch {
    // It is gone, or its old name is taken. Then it is swept like any other leftover.
  }
}

/**
 * Makes a directory of this user listable and writable for the length of the block, since a program may leave
 * one that is not. The old mode comes back at the end, so a refused removal changes nothing. The mode is set
 * through the held descriptor, so a link put in its place has no effect.
 */
function madeAccessible(kernel: Kernel, dir: number): Disposable {
  const { mode, owner } = kernel.fstat(dir);
  if (owner !== kernel.user || (mode & 0o700) === 0o700) return { [Symbol.dispose]: () => {} };
  kernel.chmodHeld(dir, (mode & 0o7777) | 0o700);
  return {
    [Symbol.dispose]: () => {
      try {
        kernel.chmodHeld(dir, mode & 0o7777);
      } catch {
        // The owner has changed meanwhile, so we may not set the mode any more.
      }
    },
  };
}

/** One recursive removal, bounded in entries and depth. */
export class Removal {
  readonly #place: Place;
  #entries = 0;

  constructor(place: Place) {
    this.#place = place;
  }

  /** Throws the refusal that removing this tree would meet. Removes nothing. */
  async judge(dir: number, depth: number): Promise<void> {
    const { kernel } = this.#place.root;
    this.#enter(dir, depth);
    using _ = madeAccessible(kernel, dir);
    for (const name of await kernel.rawNames(dir, this.#place.root.limits.maxEntries + 1)) {
      await this.#count(name);
      if (kernel.lstat(dir, name)?.kind !== 'dir') continue;
      try {
        using child = own(kernel, kernel.openDirectory(dir, name));
        await this.judge(child.fd, depth + 1);
      } catch (error) {
        // It was swapped meanwhile. The removal itself handles that.
        if (!failedWith(error, 'ENOTDIR', 'ELOOP', 'ENOENT')) throw error;
      }
    }
  }

  async removeDirectory(dir: number, name: Name, depth: number): Promise<void> {
    const { kernel, limits } = this.#place.root;
    using child = own(kernel, kernel.openDirectory(dir, name));
    this.#enter(child.fd, depth);
    using _ = madeAccessible(kernel, child.fd);
    for (let tries = 0; tries < maxRetries; tries++) {
      // Raw names: an entry whose name is not UTF-8 is never listed, but it must not block the removal.
      for (const entry of await kernel.rawNames(child.fd, limits.maxEntries + 1)) {
        await this.#removeEntry(child.fd, entry, depth);
      }
      try {
        return kernel.rmdir(dir, name);
      } catch (error) {
        if (!failedWith(error, 'ENOTEMPTY', 'EEXIST')) throw error;
      }
    }
    throw refusal('BUSY');
  }

  async #removeEntry(dir: number, name: Uint8Array, depth: number): Promise<void> {
    const { kernel } = this.#place.root;
    await this.#count(name);
    for (let tries = 0; tries < maxRetries; tries++) {
      try {
        return kernel.unlink(dir, name);
      } catch (error) {
        if (failedWith(error, 'ENOENT')) return;
        if (!failedWith(error, 'EISDIR', 'EPERM')) throw error;
        if (kernel.lstat(dir, name)?.kind !== 'dir') {
          if (failedWith(error, 'EPERM')) throw error;
          continue;
        }
      }
      try {
        return await this.removeDirectory(dir, name, depth + 1);
      } catch (error) {
        // It was swapped meanwhile. Look again.
        if (!failedWith(error, 'ENOTDIR', 'ELOOP', 'ENOENT')) throw error;
      }
    }
    throw refusal('BUSY');
  }

  #enter(dir: number, depth: number): void {
    const { maxDepth } = this.#place.root.limits;
    if (depth > maxDepth) throw refusal('FS_LIMIT', `maxDepth ${maxDepth}`);
    refuseOtherMount(this.#place, dir);
  }

  async #count(name: Uint8Array): Promise<void> {
    const { kernel, limits } = this.#place.root;
    this.#entries += 1;
    if (this.#entries > limits.maxEntries) throw refusal('FS_LIMIT', `maxEntries ${limits.maxEntries}`);
    if (this.#entries % entriesPerYield === 0) await kernel.yieldToEventLoop();
    refuseExcepted(this.#place.terms, new TextDecoder().decode(name));
  }
}
