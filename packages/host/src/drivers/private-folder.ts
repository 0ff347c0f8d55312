/** Folders that only their owner may open. */
import { lstatSync } from 'node:fs';
import { CapError } from '@hob/vat';

/** Errors: `invalid`, if it is not a folder of this user with mode 0700. A link is none. */
export function checkPrivateFolder(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  const mine = found?.isDirectory() === true && (process.getuid === undefined || found.uid === process.getuid()); // biome-ignore format: one line
  if (!mine || (found.mode & 0o077) !== 0)
    throw new CapError(
      'invalid',
      'the folder of a granter’s socket must belong to you, and nobody else may open it: chmod 700',
    );
}
