/**
 * What lies in a held directory at a path: for a mount that is to cover exactly that.
 *
 * Promise: each name is looked up in a descriptor, and no link is followed. Nothing is concluded about another mount of the host: the
 * sandbox does not see it, but what lies beneath it.
 */
import fs from 'node:fs';
import type { Identity } from '../world.ts';

const O_PATH = 0o10000000;
const { O_DIRECTORY, O_NOFOLLOW } = fs.constants;

/** `undefined`: there is no such directory, or it is in another mount. */
export function lyingAt(fd: number, names: readonly string[]): Identity | undefined {
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
