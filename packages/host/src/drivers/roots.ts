/**
 * Which directories may be granted: none that is, contains or lies inside what the host lives on.
 *
 * Promise: compared by device and inode, up the tree of each side, so neither a link nor another spelling nor a bind mount gets
 * around it; where a part of what the host lives on is mounted elsewhere a second time, the kernel's table of mounts tells.
 * An agent that could write the host's store, keys or code would hold everything.
 */
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { CapError } from '@hob/vat';

/** A directory that is there, or would be: the deepest part that is, and the names that are still to be made below it. */
interface Place {
  readonly found: string;
  readonly missing: readonly string[];
}

function placeOf(path: string): Place {
  const missing: string[] = [];
  for (let at = path; ; at = dirname(at)) {
    try {
      return { found: realpathSync(at), missing };
    } catch (error) {
      // `.` and `/` are always there. A name below a file is missing, too: who makes it says so. Anything else is for the caller.
      const isMissing = ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');
      if (!isMissing || dirname(at) === at) throw error;
      missing.unshift(basename(at));
    }
  }
}

const identity = (path: string): string => {
  const { dev, ino } = statSync(path, { bigint: true });
  return `${dev}:${ino}`;
};

/** The directory itself first. */
function upwards(path: string): readonly string[] {
  const seen: string[] = [];
  for (let at = path; ; at = dirname(at)) {
    seen.push(identity(at));
    if (dirname(at) === at) return seen;
  }
}

interface Mount {
  readonly device: string;
  /** What of the device's tree is mounted. */
  readonly root: string;
  readonly at: string;
}

/** Empty where the kernel has no such table. */
function mounts(): readonly Mount[] {
  let table: string;
  try {
    table = readFileSync('/proc/self/mountinfo', 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  const plain = (text = ''): string =>
    text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
  return table
    .split('\n')
    .map((line) => line.split(' '))
    .filter((fields) => fields.length > 4)
    .map(([, , device = '', root, at]) => ({ device, root: plain(root), at: plain(at) }));
}

const isBelow = (inner: string, outer: string): boolean =>
  inner === outer || inner.startsWith(outer.endsWith('/') ? outer : `${outer}/`);

/** Where it is on its device, whatever it is mounted on. */
function onDevice({ found, missing }: Place, table: readonly Mount[]): { device: string; path: string } | undefined {
  let best: Mount | undefined;
  // Of several on one point the last is what is seen.
  for (const mount of table)
    if (isBelow(found, mount.at) && (best === undefined || mount.at.length >= best.at.length)) best = mount;
  if (best === undefined) return undefined;
  return { device: best.device, path: join(best.root, relative(best.at, found), ...missing) };
}

function overlap(root: Place, own: Place, table: readonly Mount[]): boolean {
  const [above, theirs] = [upwards(root.found), upwards(own.found)];
  if (theirs.includes(above[0] as string)) return true;
  if (own.missing.length === 0 && above.includes(theirs[0] as string)) return true;
  const [a, b] = [onDevice(root, table), onDevice(own, table)];
  return a !== undefined && a.device === b?.device && (isBelow(a.path, b.path) || isBelow(b.path, a.path));
}

/**
 * Returns the real path of the root, without links. Throws `E_ROOT_CONTAINS_HOST_STATE`, or `invalid` where there is no such
 * directory. `own` are the host's directories, also such as are still to be made.
 */
export function checkRoot(root: string, own: readonly string[]): string {
  let place: Place;
  try {
    if (!statSync(root).isDirectory()) throw new Error('not a directory');
    place = placeOf(root);
  } catch {
    throw new CapError(
      'invalid',
      'the root to grant is not a directory that the host can open: give an existing one with --root',
    );
  }
  const table = mounts();
  for (const directory of own)
    if (overlap(place, placeOf(directory), table))
      throw new CapError(
        'E_ROOT_CONTAINS_HOST_STATE',
        'that directory is, contains or lies inside the state or the code of the host: grant another, or move the state with --state',
      );
  return place.found;
}
