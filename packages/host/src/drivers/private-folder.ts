/** Folders that only their owner may open, such as that of a granter's socket. */
import { chmodSync, lstatSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { CapError } from '@hob/vat';
import { makeFolder } from './state-dir.ts';

/** Errors: `invalid`, if it is not a folder of this user with mode 0700. A link is none. */
export function checkPrivateFolder(path: string): void {
  if ((checkOwner(path) & 0o077) !== 0) throw notPrivate();
}

/** Returns the mode of the folder. */
function checkOwner(path: string): number {
  const found = lstatSync(path, { throwIfNoEntry: false });
  const mine = found?.isDirectory() === true && (process.getuid === undefined || found.uid === process.getuid());
  if (!mine) throw notPrivate();
  return found.mode;
}

const notPrivate = (): CapError =>
  new CapError(
    'invalid',
    'the folder of a granter’s socket must belong to you, and nobody else may open it: chmod 700',
  );

/**
 * Where the granter of a state is served, and where the command `hob` looks for it: in the state, in a folder that is
 * its user's alone. Errors: `invalid`.
 */
export function granterSocket(stateDir: string): { readonly folder: string; readonly path: string } {
  const folder = join(stateDir, 'granter');
  const path = join(folder, 'socket');
  // The kernel takes 107 bytes, and a colon ends the path in an address.
  if (Buffer.byteLength(path) > 107 || path.includes(':'))
    throw new CapError(
      'invalid',
      'the path of the state is too long for a socket, or has a colon: name another with --state',
    );
  return { folder, path };
}

/** Makes the folder if it is missing, and closes it to everybody else. Errors: `invalid` (it is another user's, or a link). */
export function openPrivateFolder(path: string): void {
  makeFolder(path);
  checkOwner(path);
  chmodSync(path, 0o700);
}

/** The path of a socket in a private folder: the one that is named, or that of the state. Errors: `invalid`. */
export function privateSocket(stateDir: string, named: string | undefined): string {
  if (named === undefined) {
    const { folder, path } = granterSocket(resolve(stateDir));
    openPrivateFolder(folder);
    return path;
  }
  checkPrivateFolder(dirname(named));
  return named;
}
