/**
 * Reads the secret of a session for `hob mcp`.
 *
 * Promise: it comes from a file that nobody else may read, or from a descriptor, never from the command line. The file
 * stays: an agent host starts its servers again. Who made it removes it, as `hob start` does when its agent ends.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { CapError } from '@hob/vat/peer';

const LONGEST = 4096;

/** Errors: `invalid`. */
export function secretInFile(file: string): string {
  let descriptor: number;
  try {
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    throw new CapError('invalid', 'the file of the secret cannot be read: hob start makes it, and removes it when its agent ends'); // biome-ignore format: one line
  }
  const { mode, uid } = fstatSync(descriptor);
  const isOurs = process.getuid === undefined || uid === process.getuid();
  if ((mode & constants.S_IFMT) !== constants.S_IFREG || !isOurs || (mode & 0o077) !== 0) {
    closeSync(descriptor);
    throw new CapError('invalid', 'the file of the secret must belong to you, and nobody else may read it: chmod 600');
  }
  return secretFrom(descriptor);
}

/** The secret in an open descriptor, which is closed. Errors: `invalid`. */
export function secretFrom(descriptor: number): string {
  // One of Node's own is none of these, and closing it would end the process.
  const kinds = [constants.S_IFREG, constants.S_IFIFO, constants.S_IFSOCK];
  if (!kinds.includes(kindOf(descriptor))) throw noDescriptor();
  try {
    const text = readFileSync(descriptor, 'utf8').trim();
    if (text === '' || text.length > LONGEST || !/^[\w-]+$/.test(text))
      throw new CapError('invalid', 'there is no secret in it: give the file or the descriptor that holds it');
    return text;
  } catch (error) {
    throw error instanceof CapError ? error : noDescriptor();
  } finally {
    closeSync(descriptor);
  }
}

function kindOf(descriptor: number): number {
  try {
    return fstatSync(descriptor).mode & constants.S_IFMT;
  } catch {
    return 0;
  }
}

const noDescriptor = (): CapError => new CapError('invalid', 'there is no such descriptor to read a secret from');
