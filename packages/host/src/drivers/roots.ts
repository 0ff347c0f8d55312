/**
 * Checks that a directory may be granted: it must not be, contain or lie inside a directory that the host
 * lives on.
 *
 * Promise: directories are compared by device and inode, up the tree of each side. So no link, other spelling or bind
 * mount gets around the check. The kernel's mount table finds a part that is mounted a second time. A directory is
 * also refused if it has a link on the way to a file of the host. An agent that could write the host's store, keys or
 * code would hold everything.
 */
import { accessSync, constants, readFileSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { CapError } from '@hob/vat';

/** A directory that may not exist yet: the deepest part that exists, and the missing names below it. */
interface ResolvedPath {
  readonly found: string;
  readonly missing: readonly string[];
}

function resolvePath(path: string): ResolvedPath {
  const missing: string[] = [];
  for (let at = path; ; at = dirname(at)) {
    try {
      return { found: realpathSync(at), missing };
    } catch (error) {
      // `.` and `/` are always there. A name below a file is missing, too: who makes it says so. Anything
      // else is for the caller.
      const isMissing = ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');
      if (!isMissing || dirname(at) === at) throw error;
      missing.unshift(basename(at));
    }
  }
}

/** More links than the kernel follows. */
const MOST_LINKS = 64;

/**
 * The directories that hold the links on the way of a path. Whoever may write one of them decides where the path leads the
 * next time that it is used.
 */
function linkPlaces(path: string): readonly string[] {
  const places: string[] = [];
  const rest = resolve(path).split(sep);
  let at: string = sep;
  while (places.length < MOST_LINKS) {
    const name = rest.shift();
    if (name === undefined) break;
    const next = join(at, name);
    const target = targetOf(next);
    if (target === undefined) {
      at = next;
      continue;
    }
    places.push(at);
    rest.unshift(...target.split(sep));
    if (target.startsWith(sep)) at = sep;
  }
  return places;
}

/** Undefined if it is no link. */
function targetOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch (error) {
    if (['EINVAL', 'ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
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
  /** The path on the device that is mounted. */
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
function onDevice(
  { found, missing }: ResolvedPath,
  table: readonly Mount[],
): { device: string; path: string } | undefined {
  let best: Mount | undefined;
  // If several are mounted at one point, the last one covers the others.
  for (const mount of table)
    if (isBelow(found, mount.at) && (best === undefined || mount.at.length >= best.at.length)) best = mount;
  if (best === undefined) return undefined;
  return { device: best.device, path: join(best.root, relative(best.at, found), ...missing) };
}

function overlap(root: ResolvedPath, own: ResolvedPath, table: readonly Mount[]): boolean {
  const [above, theirs] = [upwards(root.found), upwards(own.found)];
  if (theirs.includes(above[0] as string)) return true;
  if (own.missing.length === 0 && above.includes(theirs[0] as string)) return true;
  const [a, b] = [onDevice(root, table), onDevice(own, table)];
  return a !== undefined && a.device === b?.device && (isBelow(a.path, b.path) || isBelow(b.path, a.path));
}

/** Whether a link in the root leads to `own`. */
const leads = (root: ResolvedPath, own: string): boolean =>
  linkPlaces(own).some((at) => upwards(at).includes(identity(root.found)));

function rootFault(code: string | undefined): string {
  if (code === 'ENOENT') return 'is not there: give an existing directory';
  if (code === 'ENOTDIR') return 'is a file, or lies below one: give a directory';
  if (code === 'EACCES' || code === 'EPERM')
    return 'may not be read by the user that the host runs as: let that user read it, or give another';
  return `is not a directory that the host can open (${code}): give another`;
}

/**
 * Returns the real path of the root. Throws `E_ROOT_CONTAINS_HOST_STATE`, or `invalid` if there is no such
 * directory. `own` are the host's directories, some of which may not exist yet.
 */
export function checkRoot(root: string, own: readonly string[]): string {
  let place: ResolvedPath;
  try {
    if (!statSync(root).isDirectory()) throw Object.assign(new Error('not a directory'), { code: 'ENOTDIR' });
    accessSync(root, constants.R_OK | constants.X_OK);
    place = resolvePath(root);
  } catch (error) {
    throw new CapError('invalid', `the root to grant ${rootFault((error as NodeJS.ErrnoException).code)} with --root`);
  }
  const table = mounts();
  for (const directory of own)
    if (overlap(place, resolvePath(directory), table) || leads(place, directory))
      throw new CapError(
        'E_ROOT_CONTAINS_HOST_STATE',
        'that directory is, contains or lies inside the state or the code of the host, or has a link on the way to them: grant another, or move the state with --state',
      );
  return place.found;
}
