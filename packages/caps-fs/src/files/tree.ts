/**
 * Changes names: mkdir and rename. Each step works on a held directory and one name, never on a path.
 */
import { takeFlag, takeRecord } from '../base/arguments.ts';
import { failedWith, refusal } from '../base/errors.ts';
import type { Kernel, Status } from '../base/kernel.ts';
import { refuseIfFull } from '../root/free-space.ts';
import { type HeldDirectory, inodeOf } from '../root/held-directory.ts';
import { parsePath } from '../root/path.ts';
import { find, locate, openDirectory, type ParentAndName } from '../root/resolve.ts';
import { charge, permit } from '../root/terms.ts';
import type { Operation } from './operation.ts';

export function mkdir(path: unknown, options: unknown): Operation<void> {
  const parsed = parsePath(path);
  const recursive = takeFlag(takeRecord(options, 'options', ['recursive']).recursive, 'recursive');
  return (held) => {
    const { kernel } = held.root;
    if (!recursive) {
      if (parsed.names.length === 0) throw refusal('EXISTS');
      using target = locate(held, parsed);
      if (kernel.lstat(target.dir, target.name)) throw refusal('EXISTS');
      makeOne(held, target.dir, target.name);
      return;
    }
    makeDirectories(held, parsed.names);
  };
}

/** Makes the directories that are missing. */
export function makeDirectories(held: HeldDirectory, names: readonly string[]): void {
  const path = { names, directory: true };
  // The cap's own directory exists, unless it was deleted meanwhile. `find` then throws.
  if (names.length === 0) return find(held, path)[Symbol.dispose]();
  openDirectory(held, path, (dir, name) => {
    try {
      makeOne(held, dir, name);
    } catch (error) {
      // Somebody else created it first. That is fine if it is a directory, and the walk checks that.
      if (!failedWith(error, 'EEXIST')) throw error;
    }
  })[Symbol.dispose]();
}

function makeOne(held: HeldDirectory, dir: number, name: string): void {
  refuseIfFull(held, dir, 0);
  charge(held.terms, { files: 1 });
  held.root.kernel.mkdir(dir, name);
}

/**
 * Renames and never replaces anything. If the backend has no such system call, a file gets its second name
 * and then loses its first. For a directory there is no such way: one that appears at the target in between
 * is replaced if it is empty.
 */
export function rename(from: unknown, to: unknown, options: unknown): Operation<void> {
  const source = parsePath(from);
  const target = parsePath(to);
  const replace = takeFlag(takeRecord(options, 'options', ['replace']).replace, 'replace');
  return (held) => {
    const { kernel, order } = held.root;
    if (source.names.length === 0 || target.names.length === 0)
      throw refusal('NOT_PERMITTED', 'the capability’s own directory');
    // Replacing removes what was there, so it needs that right.
    if (replace) permit(held.terms, 'remove');
    return order.exclusive(() => {
      using old = locate(held, source);
      const present = presentAt(held, old, source.directory || target.directory);
      using fresh = locate(held, target);
      if (replace) return renameOver(kernel, present, old, fresh);
      if (kernel.renameNew?.(old.dir, old.name, fresh.dir, fresh.name)) return;
      if (kernel.lstat(fresh.dir, fresh.name)) throw refusal('EXISTS');
      if (present.kind === 'dir') return kernel.rename(old.dir, old.name, fresh.dir, fresh.name);
      moveFile(kernel, present, old, fresh);
    });
  };
}

/**
 * Renames in one step and replaces what is at the target: what is not a directory, or an empty directory by
 * another directory.
 */
function renameOver(kernel: Kernel, present: Status, old: ParentAndName, fresh: ParentAndName): void {
  const there = kernel.lstat(fresh.dir, fresh.name);
  if (there && inodeOf(there) === inodeOf(present)) {
    const isSame = old.name === fresh.name && inodeOf(kernel.fstat(old.dir)) === inodeOf(kernel.fstat(fresh.dir));
    // If both names mean one file, rename(2) would leave both.
    if (!isSame && present.kind !== 'dir' && there.links > 1) kernel.unlink(old.dir, old.name);
    return;
  }
  kernel.rename(old.dir, old.name, fresh.dir, fresh.name);
}

/** Moves what is not a directory, with system calls that replace nothing. */
function moveFile(kernel: Kernel, present: Status, old: ParentAndName, fresh: ParentAndName): void {
  // Where we may not remove the file's names, a second one would stay.
  const mayUndo = [old, fresh].every(({ dir }) => mayRemove(kernel, kernel.fstat(dir), present));
  if (!mayUndo) return moveOverPlaceholder(kernel, old, fresh);
  try {
    kernel.link(old.dir, old.name, fresh.dir, fresh.name);
  } catch (error) {
    // The system refuses a second name to another user's file (fs.protected_hardlinks), or the file has too many
    // names, or the file system has no hard links. A rename may still be permitted.
    if (!failedWith(error, 'EPERM', 'EMLINK', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS')) throw error;
    return moveOverPlaceholder(kernel, old, fresh);
  }
  try {
    kernel.unlink(old.dir, old.name);
  } catch (error) {
    // The directory of the old name may not be changed. The file keeps that name only.
    kernel.unlink(fresh.dir, fresh.name);
    throw error;
  }
}

/** In a sticky directory only the owner of the file or of the directory may remove a name. */
export function mayRemove(kernel: Kernel, { mode, owner }: Status, file: Status): boolean {
  return (mode & 0o1000) === 0 || [0, owner, file.owner].includes(kernel.user);
}

/**
 * Takes the new name with a link that leads to itself, and renames over that. Taking the name is one step that
 * replaces nothing. A process that opens the name meanwhile gets an error, so no data can be written to it and lost.
 */
function moveOverPlaceholder(kernel: Kernel, old: ParentAndName, fresh: ParentAndName): void {
  kernel.symlink(fresh.name, fresh.dir, fresh.name);
  try {
    // Another process may have replaced our link. Then the name is taken.
    if (!isPlaceholder(kernel, fresh)) throw refusal('EXISTS');
    kernel.rename(old.dir, old.name, fresh.dir, fresh.name);
  } catch (error) {
    if (isPlaceholder(kernel, fresh)) kernel.unlink(fresh.dir, fresh.name);
    throw error;
  }
}

function isPlaceholder(kernel: Kernel, { dir, name }: ParentAndName): boolean {
  try {
    return new TextDecoder().decode(kernel.readLink(dir, name)) === name;
  } catch (error) {
    if (failedWith(error, 'EINVAL', 'ENOENT')) return false;
    throw error;
  }
}

export function presentAt(held: HeldDirectory, { dir, name }: ParentAndName, directory: boolean): Status {
  const present = held.root.kernel.lstat(dir, name);
  if (!present) throw refusal('NOT_FOUND');
  if (directory && present.kind !== 'dir') throw refusal('NOT_A_DIRECTORY');
  return present;
}
