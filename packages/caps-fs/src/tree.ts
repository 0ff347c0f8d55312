/** Names coming and going: mkdir, remove, rename. All on (directory that we hold, one name), never on a path. */
import { mutant } from '@hob/vat';
import { takeFlag, takeRecord } from './arguments.ts';
import type { Job } from './content.ts';
import { failedWith, refusal } from './errors.ts';
import { type Descriptor, own } from './handle.ts';
import type { Kernel, Name, Status } from './kernel.ts';
import { temporaryName } from './names.ts';
import { type Path, parsePath } from './path.ts';
import type { Place } from './place.ts';
import { locate, openDirectory, refuseOtherMount, type Spot } from './resolve.ts';
import { refuseIfFull } from './room.ts';
import { charge, refuseExcepted } from './terms.ts';

// Somebody keeps filling or changing what we empty.
const maxRetries = 8;
const entriesPerBreath = 128;
const inPlace = mutant('fs-remove-in-place');

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
    const { kernel } = place.root;
    if (parsed.names.length === 0) throw refusal('NOT_PERMITTED');
    using spot = locate(place, parsed);
    const present = presentAt(place, spot, parsed.directory);
    if (present.kind !== 'dir') return kernel.unlink(spot.dir, spot.name);
    if (!recursive) return kernel.rmdir(spot.dir, spot.name);
    await removeTree(place, parsed);
  };
}

/**
 * Never over something. For anything but a directory that is atomic (a second name, then the first one goes). For a
 * directory the system has no such step: one that appears at the target in between is replaced only if it is empty.
 */
export function rename(from: unknown, to: unknown): Job<void> {
  const source = parsePath(from);
  const target = parsePath(to);
  return (place) => {
    const { kernel } = place.root;
    if (source.names.length === 0 || target.names.length === 0) throw refusal('NOT_PERMITTED');
    using old = locate(place, source);
    const present = presentAt(place, old, source.directory || target.directory);
    using fresh = locate(place, target);
    if (kernel.renameNew?.(old.dir, old.name, fresh.dir, fresh.name)) return;
    if (kernel.lstat(fresh.dir, fresh.name)) throw refusal('EXISTS');
    if (present.kind === 'dir') return kernel.rename(old.dir, old.name, fresh.dir, fresh.name);
    kernel.link(old.dir, old.name, fresh.dir, fresh.name);
    kernel.unlink(old.dir, old.name);
  };
}

function presentAt(place: Place, { dir, name }: Spot, directory: boolean): Status {
  const present = place.root.kernel.lstat(dir, name);
  if (!present) throw refusal('NOT_FOUND');
  if (directory && present.kind !== 'dir') throw refusal('NOT_A_DIRECTORY');
  return present;
}

/**
 * All at once for whoever looks: what can be refused is found out first, then the directory gets a name that nobody can
 * use, then it is emptied. If that fails after all, what is left comes back. (Emptied in place, a write could land in a half.)
 */
async function removeTree(place: Place, path: Path): Promise<void> {
  const { kernel } = place.root;
  for (let tries = 0; tries < maxRetries; tries++) {
    const surveyed = await survey(place, path);
    // Nothing of ours comes between here and the new name.
    using spot = locate(place, path);
    const present = presentAt(place, spot, true);
    if (present.stamp.split(':', 2).join() !== surveyed) continue;
    const hidden = inPlace ? spot.name : temporaryName(kernel.random);
    if (!inPlace) kernel.rename(spot.dir, spot.name, spot.dir, hidden);
    try {
      return await new Removal(place).removeDirectory(spot.dir, hidden, 1);
    } catch (error) {
      if (!inPlace) putBack(kernel, spot, hidden);
      throw error;
    }
  }
  throw refusal('BUSY');
}

/** Whether all of it may go; answers which directory was looked at. */
async function survey(place: Place, path: Path): Promise<string> {
  using top = openSpot(place, path);
  await new Removal(place).judge(top.fd, 1);
  return place.root.kernel.fstat(top.fd).stamp.split(':', 2).join();
}

function openSpot(place: Place, path: Path): Descriptor {
  using spot = locate(place, path);
  presentAt(place, spot, true);
  return own(place.root.kernel, place.root.kernel.openDirectory(spot.dir, spot.name));
}

function putBack(kernel: Kernel, { dir, name }: Spot, hidden: string): void {
  try {
    if (kernel.renameNew?.(dir, hidden, dir, name)) return;
    if (!kernel.lstat(dir, name)) kernel.rename(dir, hidden, dir, name);
  } catch {
    // It is gone, or its old name was taken: then it is swept like any other leftover.
  }
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
