/**
 * Files that only their owner may read.
 *
 * Promise: a file that others may read, that belongs to somebody else, or that is a link, is refused. A file is written
 * whole or not at all, and is on the disk when the function returns.
 */
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { Mistake } from '../line/mistake.ts';

const MOST_BYTES = 65_536;

/** Returns undefined if there is no such file. Errors: `Mistake`. `what` says what it holds. */
export function readPrivate(path: string, what: string): string | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw new Mistake(`${what} cannot be read (${code}): it is a file of yours, and no link`);
  }
  try {
    const { mode, uid, size } = fstatSync(descriptor);
    const isFile = (mode & constants.S_IFMT) === constants.S_IFREG;
    if (!isFile || size > MOST_BYTES || (process.getuid !== undefined && uid !== process.getuid()))
      throw new Mistake(`${what} must be a file of yours with at most 64 KiB`);
    if ((mode & 0o077) !== 0) throw new Mistake(`others may read ${what}: chmod 600, and make a new one if they may have read it`); // biome-ignore format: one line
    return readFileSync(descriptor, 'utf8');
  } finally {
    closeSync(descriptor);
  }
}

/** Reads all of a descriptor that the caller has opened, such as `3`. Errors: `Mistake`. */
export function readDescriptor(number: string, what: string): string {
  const descriptor = /^\d{1,6}$/.test(number) ? Number(number) : -1;
  try {
    if (descriptor < 3) throw new Error('no descriptor of the caller');
    fstatSync(descriptor);
    return readFileSync(descriptor, 'utf8');
  } catch {
    throw new Mistake(`${what}: fd:N names a descriptor, 3 or more, that the caller has opened and that holds the key`, 2); // biome-ignore format: one line
  }
}

/** Writes a new file. Returns false if there is one of that name. Errors: `Mistake`. */
export function writeNewPrivate(path: string, text: string, what: string): boolean {
  return placed(path, text, what, (draft) => {
    linkSync(draft, path);
    rmSync(draft);
  });
}

/** Writes a file, in place of one that may be there. Errors: `Mistake`. */
export function replacePrivate(path: string, text: string, what: string): void {
  placed(path, text, what, (draft) => renameSync(draft, path));
}

export const removePrivate = (path: string): void => rmSync(path, { force: true });

function placed(path: string, text: string, what: string, place: (draft: string) => void): boolean {
  const draft = `${path}.${process.pid}.new`;
  try {
    rmSync(draft, { force: true });
    const descriptor = openSync(draft, 'wx', 0o600);
    try {
      writeSync(descriptor, text);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    place(draft);
    syncFolder(dirname(path));
    return true;
  } catch (error) {
    rmSync(draft, { force: true });
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return false;
    throw new Mistake(`${what} cannot be written (${code}): name a place that you may write`);
  }
}

function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
