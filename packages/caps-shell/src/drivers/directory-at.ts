/**
 * Finds the directory at a path in an open directory, for a mount that is to cover exactly that one.
 *
 * Each name is looked up in a descriptor, and no link is followed. A path into another mount of the host has
 * no result: the sandbox would see the directory beneath that mount.
 */
import fs from 'node:fs';
import type { Identity } from '../sandbox-spec.ts';

const O_PATH = 0o10000000;
const { O_DIRECTORY, O_NOFOLLOW } = fs.constants;

/** Returns undefined if there is no such directory, or if it is in another mount. */
export function directoryAt(fd: number, names: readonly string[]): Identity | undefined {
  let dir = fd;
  try {
    for (const name of names) {
      const next = fs.openSync(`/proc/self/fd/${dir}/${name}`, O_PATH | O_DIRECTORY | O_NOFOLLOW);
      if (dir !== fd) fs.closeSync(dir);
      dir = next;
    }
    if (mountOf(dir) !== mountOf(fd)) return undefined;
    const { dev, ino } = fs.fstatSync(dir, { bigint: true });
    return Object.freeze({ dev, ino });
  } catch {
    return undefined;
  } finally {
    if (dir !== fd) fs.closeSync(dir);
  }
}

const mountOf = (fd: number): string | undefined =>
  /^mnt_id:\s*(\d+)$/m.exec(fs.readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1'))?.[1];
