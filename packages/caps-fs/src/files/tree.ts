/** Names coming and going: mkdir, remove, rename. All on (directory that we hold, one name), never on a path. */
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

// Somebody keeps filling or changing what we empty.
const maxRetries = 8;
const entriesPerBreath = 128;
// Of writes and removals that are under way in one directory.
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
      using spot = locate(place, parsed);
      if (kernel.lstat(spot.dir, spot.name)) throw refusal('EXISTS');
      make(spot.dir, spot.name);
      return;
    }
    // Which may have been deleted while it was held.
    if (parsed.names.length === 0) return find(place, parsed)[Symbol.dispose]();
    openDirectory(place, parsed, (dir, name) => {
      try {
        make(dir, name);
      } catch (error) {
        // Another one was quicker: good as well, if it is a directory, which the walk finds out.
        if (!failedWith(error, 'EEXIST')) throw error;
      }
    })[Symbol.dispose]();
  };
}

/** A link is removed itself. Recursive goes down by descriptors, since `fs.rm` by path can be led out (CVE-2022-21658). */
export function remove(path: unknown, options: unknown): Job<void> {
  const parsed = parsePath(path);
  const recursive = takeFlag(takeRecord(options, 'options')['recursive'], 'recursive');
  return async (place) => {
    const { order } = place.root;
    if (parsed.names.length === 0) throw refusal('NOT_PERMITTED');
    for (let tries = 0; tries < maxRetries; tries++) {
      const left = await order.alone(() => removeOne(place, parsed, recursive));
      if (!left) return;
      // Something else may have that name when the survey is over: then from the beginning.
      const hidden = left === 'tree' ? await hideTree(place, parsed) : left;
      if (hidden) return await removeHidden(place, hidden);
    }
    throw refusal('BUSY');
  };
}

/** Answers what is still to be done. */
async function removeOne(place: Place, path: Path, recursive: boolean): Promise<'tree' | Hidden | undefined> {
  const { kernel } = place.root;
  using spot = locate(place, path);
  const present = presentAt(place, spot, path.directory);
  if (present.kind !== 'dir') {
    kernel.unlink(spot.dir, spot.name);
    return undefined;
  }
  if (recursive) return 'tree';
  try {
    kernel.rmdir(spot.dir, spot.name);
    return undefined;
  } catch (error) {
    if (failedWith(error, 'ENOTEMPTY', 'EEXIST') && (await isEmptyToAll(kernel, spot)))
      return hide(place, path, inodeOf(present));
    throw error;
  }
}

/**
 * Whether only unfinished files and removals are in there, which no holder sees: for him the directory is empty. Nothing of ours
 * comes between the answer and the next step of who asked.
 */
async function isEmptyToAll(kernel: Kernel, { dir, name }: ParentAndName): Promise<boolean> {
  using opened = own(kernel, kernel.openDirectory(dir, name));
  using _ = admitted(kernel, opened.fd);
  // Names that are no UTF-8 are in the first of these only.
  const raw = await kernel.rawNames(opened.fd, maxUnfinished);
  const seen = kernel.children(opened.fd, maxUnfinished);
  return raw.length < maxUnfinished && raw.length === seen.length && seen.every((entry) => isTemporary(entry.name));
}

/**
 * Never over something. For anything but a directory that is atomic (a second name, then the first one goes). For a
 * directory the system has no such step: one that appears at the target in between is replaced only if it is empty.
 */
export function rename(from: unknown, to: unknown): Job<void> {
  const source = parsePath(from);
  const target = parsePath(to);
  return (place) => {
    const { kernel, order } = place.root;
    if (source.names.length === 0 || target.names.length === 0) throw refusal('NOT_PERMITTED');
    return order.alone(() => {
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
 * All at once for whoever looks: what can be refused is found out first, then the directory gets a name that nobody can
 * use, then it is emptied. If that fails after all, what is left comes back. (Emptied in place, a write could land in a half.)
 */
async function hideTree(place: Place, path: Path): Promise<Hidden | undefined> {
  const { kernel, order } = place.root;
  // Held until it has its new name: the number of an inode that is gone is given out again.
  using top = openIfDirectory(place, path);
  if (!top) return undefined;
  await new Removal(place).judge(top.fd, 1);
  return await order.alone(() => hide(place, path, inodeOf(kernel.fstat(top.fd))));
}

interface Hidden extends ParentAndName {
  readonly hidden: string;
}

/** Gives the directory a name that nobody can use; `undefined` if it is not that one any more. */
function hide(place: Place, path: Path, inode: string): Hidden | undefined {
  const { kernel } = place.root;
  const spot = locate(place, path);
  let hidden: string | undefined;
  try {
    const present = presentAt(place, spot, false);
    if (present.kind !== 'dir' || inodeOf(present) !== inode) return undefined;
    const name = temporaryName(kernel.random);
    kernel.rename(spot.dir, spot.name, spot.dir, name);
    hidden = name;
    return { ...spot, hidden };
  } finally {
    if (hidden === undefined) spot[Symbol.dispose]();
  }
}

async function removeHidden(place: Place, hidden: Hidden): Promise<void> {
  using spot = hidden;
  try {
    await new Removal(place).removeDirectory(spot.dir, spot.hidden, 1);
  } catch (error) {
    // What is above it was removed as well, and that was quicker.
    if (failedWith(error, 'ENOENT')) return;
    putBack(place.root.kernel, spot);
    throw error;
  }
}

function openIfDirectory(place: Place, path: Path): Descriptor | undefined {
  const { kernel } = place.root;
  using spot = locate(place, path);
  if (presentAt(place, spot, false).kind !== 'dir') return undefined;
  return own(kernel, kernel.openDirectory(spot.dir, spot.name));
}

function putBack(kernel: Kernel, { dir, name, hidden }: Hidden): void {
  try {
    if (kernel.renameNew?.(dir, hidden, dir, name)) return;
    if (!kernel.lstat(dir, name)) kernel.rename(dir, hidden, dir, name);
  } catch {
    // It is gone, or its old name was taken: then it is swept like any other leftover.
  }
}

/**
 * Lets us list and empty a directory of ours that forbids it, as a program may leave one. Its mode comes back at the end of the block,
 * so where the removal is refused nothing has changed. On the descriptor that is held: a link put in its place changes nothing.
 */
function admitted(kernel: Kernel, dir: number): Disposable {
  const { mode, owner } = kernel.fstat(dir);
  if (owner !== kernel.user || (mode & 0o700) === 0o700) return { [Symbol.dispose]: () => {} };
  kernel.chmodHeld(dir, (mode & 0o7777) | 0o700);
  return {
    [Symbol.dispose]: () => {
      try {
        kernel.chmodHeld(dir, mode & 0o7777);
      } catch {
        // Its owner has changed since: the mode is not ours to set any more.
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

  /** Throws what the removal of all this would be refused with. */
  async judge(dir: number, depth: number): Promise<void> {
    const { kernel } = this.#place.root;
    this.#enter(dir, depth);
    using _ = admitted(kernel, dir);
    for (const name of await kernel.rawNames(dir, this.#place.root.limits.maxEntries + 1)) {
      await this.#count(name);
      if (kernel.lstat(dir, name)?.kind !== 'dir') continue;
      try {
        using child = own(kernel, kernel.openDirectory(dir, name));
        await this.judge(child.fd, depth + 1);
      } catch (error) {
        // It was exchanged for something else since: the removal itself will see.
        if (!failedWith(error, 'ENOTDIR', 'ELOOP', 'ENOENT')) throw error;
      }
    }
  }

  async removeDirectory(dir: number, name: Name, depth: number): Promise<void> {
    const { kernel, limits } = this.#place.root;
    using child = own(kernel, kernel.openDirectory(dir, name));
    this.#enter(child.fd, depth);
    using _ = admitted(kernel, child.fd);
    for (let tries = 0; tries < maxRetries; tries++) {
      // Raw names: what is not UTF-8 is not listed, but must not keep its directory from going.
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
        // It was exchanged for something else since: look again.
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
    if (this.#entries % entriesPerBreath === 0) await kernel.breathe();
    refuseExcepted(this.#place.terms, new TextDecoder().decode(name));
  }
}
