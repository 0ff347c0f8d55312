/**
 * Removes names, and trees of them. Each step works on a held directory and one name, never on a path.
 *
 * Promise: a recursive removal is visible as a whole or not at all. Everything that can refuse it is
 * checked before anything is gone. If it fails all the same, its error says what is gone.
 */
import { CapError } from '@hob/vat';
import { takeFlag, takeRecord, takeString } from '../base/arguments.ts';
import { failedWith, outward, refusal } from '../base/errors.ts';
import { type Descriptor, own } from '../base/handle.ts';
import { type Kernel, KernelError, type Name } from '../base/kernel.ts';
import { isTemporary, temporaryName } from '../base/names.ts';
import { type HeldDirectory, inodeOf, versionOf } from '../root/held-directory.ts';
import { type Path, parsePath, showName } from '../root/path.ts';
import { locate, type ParentAndName, refuseOtherMount } from '../root/resolve.ts';
import { refuseExcepted } from '../root/terms.ts';
import type { Operation } from './operation.ts';
import { mayRemove, presentAt } from './tree.ts';

// Attempts before `BUSY`, when somebody keeps changing what is being removed.
const maxRetries = 8;
const entriesPerYield = 128;
// The most leftovers of writes and removals that an empty-looking directory may hold.
const maxUnfinished = 256;
// The most names that an error lists.
const maxTold = 50;

/**
 * Removes a name. If it is a link, only the link goes. A recursive removal descends by descriptors, because
 * an attacker can lead a removal by path (`fs.rm`) out of the directory (CVE-2022-21658).
 */
export function remove(path: unknown, options: unknown): Operation<void> {
  const parsed = parsePath(path);
  const { recursive: given, version: wanted } = takeRecord(options, 'options', ['recursive', 'version']);
  const recursive = takeFlag(given, 'recursive');
  const version = wanted === undefined ? undefined : takeString(wanted, 'version');
  return async (held) => {
    const { order } = held.root;
    if (parsed.names.length === 0) throw refusal('NOT_PERMITTED', 'the capability’s own directory');
    for (let tries = 0; tries < maxRetries; tries++) {
      const left = await order.exclusive(() => removeOne(held, parsed, recursive, version));
      if (!left) return;
      // If the name means something else after the check of the tree, start again.
      const hidden = left === 'tree' ? await hideTree(held, parsed) : left;
      if (hidden) return await removeHidden(held, hidden);
    }
    throw refusal('BUSY');
  };
}

/** Removes anything but a full directory. Returns what remains to be done. */
async function removeOne(
  held: HeldDirectory,
  path: Path,
  recursive: boolean,
  version: string | undefined,
): Promise<'tree' | Hidden | undefined> {
  const { kernel } = held.root;
  using target = locate(held, path);
  const present = presentAt(held, target, path.directory);
  if (version !== undefined) {
    if (present.kind !== 'file') throw refusal('STALE', 'it is no file now');
    const now = versionOf(held.root, present);
    if (now !== version) throw refusal('STALE', `it is ${now} now`);
  }
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
      return hide(held, path, inodeOf(present));
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
 * Makes a recursive removal look like one step. First it checks everything that could refuse the removal.
 * Then it gives the directory a name that nobody can use. Then the caller empties it, and if that fails,
 * gives the rest its name back. (In a directory that is emptied in place, a write could land in the part that
 * is left.)
 */
async function hideTree(held: HeldDirectory, path: Path): Promise<Hidden | undefined> {
  const { kernel, order } = held.root;
  // Held open until it has its new name, because the file system reuses the inode numbers of removed objects.
  using top = openIfDirectory(held, path);
  if (!top) return undefined;
  await new Removal(held).judge(top.fd, 1);
  return await order.exclusive(() => hide(held, path, inodeOf(kernel.fstat(top.fd))));
}

interface Hidden extends ParentAndName {
  readonly hidden: string;
}

/**
 * Gives the directory a name that nobody can use. Returns `undefined` if the path means another object by
 * now.
 */
function hide(held: HeldDirectory, path: Path, inode: string): Hidden | undefined {
  const { kernel } = held.root;
  const target = locate(held, path);
  let hidden: string | undefined;
  try {
    const present = presentAt(held, target, false);
    if (present.kind !== 'dir' || inodeOf(present) !== inode) return undefined;
    const name = temporaryName(kernel.random);
    kernel.rename(target.dir, target.name, target.dir, name);
    hidden = name;
    return { ...target, hidden };
  } finally {
    if (hidden === undefined) target[Symbol.dispose]();
  }
}

async function removeHidden(held: HeldDirectory, hidden: Hidden): Promise<void> {
  using target = hidden;
  const removal = new Removal(held);
  try {
    await removal.removeDirectory(target.dir, target.hidden, 1);
  } catch (error) {
    // A removal of a directory above it was quicker.
    if (failedWith(error, 'ENOENT')) return;
    const isBack = putBack(held.root.kernel, target);
    throw removal.explained(error, isBack);
  }
}

function openIfDirectory(held: HeldDirectory, path: Path): Descriptor | undefined {
  const { kernel } = held.root;
  using target = locate(held, path);
  if (presentAt(held, target, false).kind !== 'dir') return undefined;
  return own(kernel, kernel.openDirectory(target.dir, target.name));
}

/** Returns whether the rest has its name back. Otherwise it is swept like any other leftover. */
function putBack(kernel: Kernel, { dir, name, hidden }: Hidden): boolean {
  try {
    if (kernel.renameNew?.(dir, hidden, dir, name)) return true;
    if (kernel.lstat(dir, name)) return false;
    kernel.rename(dir, hidden, dir, name);
    return true;
  } catch {
    // It is gone, or its old name is taken.
    return false;
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
  readonly #held: HeldDirectory;
  #entries = 0;
  #gone = 0;
  /** The first names that are gone, for the error of a removal that fails. */
  readonly #told: string[] = [];
  #stoppedAt = '';

  constructor(held: HeldDirectory) {
    this.#held = held;
  }

  /** Throws the refusal that removing this tree would meet. Removes nothing. */
  async judge(dir: number, depth: number): Promise<void> {
    const { kernel } = this.#held.root;
    this.#enter(dir, depth);
    using _ = madeAccessible(kernel, dir);
    const here = kernel.fstat(dir);
    const names = await kernel.rawNames(dir, this.#held.root.limits.maxEntries + 1);
    if (names.length > 0) kernel.refuseIfLocked(dir);
    for (const name of names) {
      await this.#count(name);
      const status = kernel.lstat(dir, name);
      if (status === undefined) continue;
      if (!mayRemove(kernel, here, status)) throw new KernelError('EPERM');
      if (status.kind !== 'dir') continue;
      try {
        using child = own(kernel, kernel.openDirectory(dir, name));
        await this.judge(child.fd, depth + 1);
      } catch (error) {
        // It was swapped meanwhile. The removal itself handles that.
        if (!failedWith(error, 'ENOTDIR', 'ELOOP', 'ENOENT')) throw error;
      }
    }
  }

  /** `path` is what an error calls the directory; empty for the directory that the caller named. */
  async removeDirectory(dir: number, name: Name, depth: number, path = ''): Promise<void> {
    const { kernel, limits } = this.#held.root;
    using child = own(kernel, kernel.openDirectory(dir, name));
    this.#enter(child.fd, depth);
    using _ = madeAccessible(kernel, child.fd);
    for (let tries = 0; tries < maxRetries; tries++) {
      // Raw names: an entry whose name is not UTF-8 is never listed, but it must not block the removal. In
      // order, so that an error can say what is gone by saying where the removal stopped.
      const names = await kernel.rawNames(child.fd, limits.maxEntries + 1);
      for (const entry of names.sort(Buffer.compare)) await this.#removeEntry(child.fd, entry, depth, path);
      this.#stoppedAt = path;
      try {
        return kernel.rmdir(dir, name);
      } catch (error) {
        if (!failedWith(error, 'ENOTEMPTY', 'EEXIST')) throw error;
      }
    }
    throw refusal('BUSY');
  }

  /** Adds what is gone to the error of a removal that failed. */
  explained(thrown: unknown, isBack: boolean): unknown {
    const error = outward(thrown);
    if (!(error instanceof CapError) || (this.#gone === 0 && isBack)) return error;
    const stopped = this.#stoppedAt === '' ? '' : `stopped at ${showName(this.#stoppedAt)}, `;
    const names =
      this.#gone <= maxTold
        ? this.#told.map(showName).join(', ')
        : 'all that come before it, name by name and directory by directory';
    const rest = isBack ? '' : '; another directory has its name, so the rest will be removed later';
    return new CapError(error.code, `${error.message}; ${stopped}gone are ${this.#gone} entries: ${names}${rest}`);
  }

  async #removeEntry(dir: number, name: Uint8Array, depth: number, path: string): Promise<void> {
    const { kernel } = this.#held.root;
    await this.#count(name);
    const below = `${path === '' ? '' : `${path}/`}${new TextDecoder().decode(name)}`;
    this.#stoppedAt = below;
    for (let tries = 0; tries < maxRetries; tries++) {
      try {
        kernel.unlink(dir, name);
        return this.#tell(below);
      } catch (error) {
        if (failedWith(error, 'ENOENT')) return;
        if (!failedWith(error, 'EISDIR', 'EPERM')) throw error;
        if (kernel.lstat(dir, name)?.kind !== 'dir') {
          if (failedWith(error, 'EPERM')) throw error;
          continue;
        }
      }
      try {
        await this.removeDirectory(dir, name, depth + 1, below);
        return this.#tell(below);
      } catch (error) {
        // It was swapped meanwhile. Look again.
        if (!failedWith(error, 'ENOTDIR', 'ELOOP', 'ENOENT')) throw error;
      }
    }
    throw refusal('BUSY');
  }

  #tell(path: string): void {
    this.#gone += 1;
    if (this.#told.length < maxTold) this.#told.push(path);
  }

  #enter(dir: number, depth: number): void {
    const { maxDepth } = this.#held.root.limits;
    if (depth > maxDepth) throw refusal('FS_LIMIT', `maxDepth ${maxDepth}`);
    refuseOtherMount(this.#held, dir);
  }

  async #count(name: Uint8Array): Promise<void> {
    const { kernel, limits } = this.#held.root;
    this.#entries += 1;
    if (this.#entries > limits.maxEntries) throw refusal('FS_LIMIT', `maxEntries ${limits.maxEntries}`);
    if (this.#entries % entriesPerYield === 0) await kernel.yieldToEventLoop();
    refuseExcepted(this.#held.terms, new TextDecoder().decode(name));
  }
}
