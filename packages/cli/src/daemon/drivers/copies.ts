/**
 * Copies of a served state, on their way into a backup.
 *
 * Promise: the daemon writes a copy into the folder of its socket, which is its user's alone, and the command takes it
 * from there into the file that the person named. The file appears when it is whole and on the disk. It is readable for
 * its owner only and never replaces another file. A killed process leaves at most one copy or draft, which the next backup removes.
 *
 * The daemon does not write to the person's path itself: a service may see other files there than the person does.
 */
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  rmSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { draftOf, removeDrafts } from '@hob/vat/store';
import { Mistake } from '../../line/mistake.ts';

const COPY = /^backup-\d+(?:(?:\.[\w-]+)?\.part)?$/;

/** Removes the copies that lie in the folder. */
export function removeCopies(folder: string): void {
  for (const name of readdirSync(folder)) if (COPY.test(name)) rmSync(join(folder, name), { force: true });
}

/** The daemon's side. `write` writes the state into a new file. */
export function copier(folder: string, write: (file: string) => Promise<void>): () => Promise<string> {
  let made = 0;
  // One after the other: a copy removes the one before it, and not the one that is being written.
  let last: Promise<unknown> = Promise.resolve();
  return () => {
    const copy = last.then(async () => {
      made += 1;
      const name = `backup-${made}`;
      removeCopies(folder);
      await write(join(folder, name));
      return name;
    });
    last = copy.catch(() => {});
    return copy;
  };
}

/** Errors: `Mistake`. */
export function checkFree(file: string): void {
  if (existsSync(file)) throw taken();
}

/** The command's side. Errors: `Mistake`. */
export function takeCopy(folder: string, name: string, file: string): void {
  if (!/^backup-\d+$/.test(name))
    throw new Mistake('the host has named no copy: start it again with this version of hob');
  const copy = join(folder, name);
  const draft = draftOf(file);
  try {
    removeDrafts(file);
    copyFileSync(copy, draft, constants.COPYFILE_EXCL);
    syncFile(draft);
    linkSync(draft, file); // unlike a rename, it never replaces another file
    syncFile(dirname(file));
  } catch (error) {
    if (!existsSync(copy)) throw new Mistake('another backup was begun meanwhile: run it again');
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw taken();
    throw new Mistake(
      'the backup cannot be written: check that its folder is there and may be written, and its disk has room',
    );
  } finally {
    rmSync(draft, { force: true });
    rmSync(copy, { force: true });
  }
}

const taken = (): Mistake => new Mistake('a file of that name exists already: give the backup another name');

function syncFile(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
