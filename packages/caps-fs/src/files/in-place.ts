/**
 * Changes an object where it is: mode, times, size, some of its bytes.
 *
 * Promise: what is changed is the object that was found beneath the directory, by its descriptor. A final link is
 * never followed. A file with two names is refused, because it would change under the other name, too, which may
 * lie outside. Other processes may see a part of such a change.
 */
import { takeBytes, takeCount, takeRecord } from '../base/arguments.ts';
import { refusal } from '../base/errors.ts';
import { own } from '../base/handle.ts';
import { refuseIfFull } from '../root/free-space.ts';
import type { HeldDirectory } from '../root/held-directory.ts';
import type { FsLimits } from '../root/limits.ts';
import { type Path, parsePath } from '../root/path.ts';
import { find, lstat, type OpenEntry } from '../root/resolve.ts';
import { charge } from '../root/terms.ts';
import { writeAll } from './draft.ts';
import { holding, type Operation } from './operation.ts';

export function chmod(path: unknown, mode: unknown): Operation<void> {
  const parsed = parsePath(path);
  const wanted = takeMode(mode);
  return (held) => {
    using found = openOwn(held, parsed);
    // A set-id bit of a file goes, as when it is written. Those of a directory mean something else, and stay.
    const kept = found.status.kind === 'dir' ? found.status.mode & 0o7000 : 0;
    held.root.kernel.chmodHeld(found.fd, kept | wanted(found.status.mode & 0o777));
  };
}

export function setTimes(path: unknown, times: unknown): Operation<void> {
  const parsed = parsePath(path);
  const given = takeRecord(times, 'times', ['mtime', 'atime']);
  const atime = takeTime(given.atime, 'atime');
  const mtime = takeTime(given.mtime, 'mtime');
  return (held) => {
    using found = openOwn(held, parsed);
    held.root.kernel.setTimes(found.fd, mtime ?? found.status.mtime, atime);
  };
}

export function truncate(limits: FsLimits, path: unknown, size: unknown): Operation<void> {
  const parsed = parsePath(path);
  const length = takeCount(size, 'size');
  if (length === undefined) throw refusal('invalid', 'size is missing');
  refuseBeyond(limits, length);
  return (held) =>
    held.root.order.shared(() => {
      using file = openToChange(held, parsed, (present) => Math.max(0, length - present));
      held.root.kernel.truncate(file.fd, length);
    });
}

/** Writes into a file that exists. Bytes between its old end and `offset` read as zeros. */
export function writeAt(limits: FsLimits, path: unknown, offset: unknown, data: unknown): Operation<void> {
  const parsed = parsePath(path);
  const at = takeCount(offset, 'offset');
  if (at === undefined) throw refusal('invalid', 'offset is missing');
  const bytes = takeBytes(data, limits.maxWriteBytes, 'maxWriteBytes');
  refuseBeyond(limits, at + bytes.length);
  return holding(bytes.length, (held) =>
    held.root.order.shared(async () => {
      using file = openToChange(held, parsed, () => bytes.length);
      await writeAll(held.root.kernel, file.fd, bytes, at);
    }),
  );
}

/** The object itself, if the holder may change it where it is. */
function openOwn(held: HeldDirectory, path: Path): OpenEntry {
  if (path.names.length === 0) throw refusal('NOT_PERMITTED', 'the capability’s own directory');
  const found = path.directory ? find(held, path) : lstat(held, path);
  const { kind, links } = found.status;
  if (kind === 'dir' || (kind === 'file' && links === 1)) return found;
  found[Symbol.dispose]();
  throw refusal('NOT_A_FILE');
}

function openToChange(held: HeldDirectory, path: Path, bytesMore: (size: number) => number): OpenEntry {
  const { kernel } = held.root;
  using found = openOwn(held, path);
  if (found.status.kind === 'dir') throw refusal('IS_A_DIRECTORY');
  const bytes = bytesMore(found.status.size);
  refuseIfFull(held, found.fd, bytes);
  charge(held.terms, { bytes });
  return { ...own(kernel, kernel.reopen(found.fd, 'write')), status: found.status };
}

function refuseBeyond({ maxStreamBytes }: FsLimits, size: number): void {
  if (size > maxStreamBytes) throw refusal('FS_LIMIT', `maxStreamBytes ${maxStreamBytes}`);
}

function takeMode(given: unknown): (mode: number) => number {
  // Those who may read the file may then also run it.
  if (given === '+x') return (mode) => mode | ((mode & 0o444) >> 2);
  if (given === '-x') return (mode) => mode & ~0o111;
  if (typeof given !== 'number' || !Number.isInteger(given) || given < 0 || given > 0o777) {
    throw refusal('invalid', 'a mode is a number from 0 to 0o777, "+x" or "-x"');
  }
  return () => given;
}

function takeTime(given: unknown, what: string): number | undefined {
  if (given === undefined) return undefined;
  if (typeof given !== 'number' || !Number.isFinite(given) || Math.abs(given) > 8.64e15) {
    throw refusal('invalid', `${what} is a time in ms`);
  }
  return given;
}
