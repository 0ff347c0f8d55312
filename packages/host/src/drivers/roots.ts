/**
 * Which directories may be granted: none that is, contains or lies inside what the host lives on.
 *
 * Promise: compared by device and inode, up the tree of each side, so neither a link nor another spelling nor a bind mount gets
 * around it. An agent that could write the host's store, keys or code would hold everything.
 */
import { existsSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { CapError } from '@hob/vat';

const identity = (path: string): string => {
  const { dev, ino } = statSync(path, { bigint: true });
  return `${dev}:${ino}`;
};

function upwards(path: string): readonly string[] {
  const seen: string[] = [];
  let at = realpathSync(path);
  for (;;) {
    seen.push(identity(at));
    const parent = dirname(at);
    if (parent === at) return seen;
    at = parent;
  }
}

/** Throws `E_ROOT_CONTAINS_HOST_STATE`, or `invalid` where there is no such directory. `own` are the host's directories. */
export function checkRoot(root: string, own: readonly string[]): void {
  let above: readonly string[];
  try {
    if (!statSync(root).isDirectory()) throw new Error('not a directory');
    above = upwards(root);
  } catch {
    throw new CapError(
      'invalid',
      'the root to grant is not a directory that the host can open: give an existing one with --root',
    );
  }
  for (const directory of own) {
    if (!existsSync(directory)) continue;
    const theirs = upwards(directory);
    if (above.includes(theirs[0] as string) || theirs.includes(above[0] as string))
      throw new CapError(
        'E_ROOT_CONTAINS_HOST_STATE',
        'that directory is, contains or lies inside the state or the code of the host: grant another, or move the state with --state',
      );
  }
}
