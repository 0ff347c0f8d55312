/**
 * Shows what exists: list, entries, stat. Results contain names of directory entries, sorted by code point,
 * and never a path of the host.
 */
import { takeCount, takeFlag, takeRecord, takeString } from '../base/arguments.ts';
import { failedWith, refusal } from '../base/errors.ts';
import type { Stat } from '../base/fs-cap.ts';
import { own } from '../base/handle.ts';
import type { Status } from '../base/kernel.ts';
import { byCodePoint, hasTemporary, isTemporary } from '../base/names.ts';
import { type HeldDirectory, inodeOf, type Root, versionOf } from '../root/held-directory.ts';
import { parsePath } from '../root/path.ts';
import { find, lstat, type OpenEntry, statDirectly } from '../root/resolve.ts';
import { isExcepted } from '../root/terms.ts';
import type { Operation } from './operation.ts';
import { sweep } from './sweep.ts';

type DirectoryEntry = Stat & { readonly name: string };

const defaultPage = 1_000;
const maxPage = 10_000;
const entriesPerYield = 128;
// Names compared with all patterns of `except` before the walk yields.
const comparedPerYield = 64;

export function list(path: unknown): Operation<readonly string[]> {
  const parsed = parsePath(path);
  return async (held) => {
    using found = find(held, { ...parsed, directory: true });
    return await listedNames(held, found);
  };
}

/** Pages continue after a name, so that in a changing directory no remaining entry is repeated or skipped. */
export function entries(path: unknown, page: unknown): Operation<readonly DirectoryEntry[]> {
  const parsed = parsePath(path);
  const given = takeRecord(page, 'a page', ['after', 'limit']);
  const after = given.after === undefined ? undefined : takeString(given.after, 'after');
  const limit = takeCount(given.limit, 'limit', 1) ?? defaultPage;
  if (limit > maxPage) throw refusal('FS_LIMIT', `a page has at most ${maxPage} entries`);
  return async (held) => {
    using found = find(held, { ...parsed, directory: true });
    const names = await pagedNames(held, found);
    const first = after === undefined ? 0 : names.findIndex((name) => byCodePoint(name, after) > 0);
    const answer: DirectoryEntry[] = [];
    for (let i = first; i >= 0 && i < names.length && answer.length < limit; i++) {
      const entry = entryOf(held, found.fd, names[i] ?? '');
      if (entry) answer.push(entry);
      if (i % entriesPerYield === 0) await held.root.kernel.yieldToEventLoop();
      // The last page: nobody needs the names any more.
      if (i === names.length - 1) held.root.listings.drop(inodeOf(found.status));
    }
    return answer;
  };
}

/**
 * Shows the link itself if the last name is a link. With `follow`, or if the path ends in `/`, shows what it
 * leads to.
 */
export function stat(path: unknown, options: unknown): Operation<Stat> {
  const parsed = parsePath(path);
  const given = takeRecord(options, 'options', ['follow', 'mode']);
  const follow = takeFlag(given.follow, 'follow');
  const withMode = takeFlag(given.mode, 'mode');
  const shown = (root: Root, status: Status): Stat => {
    const said = publicStat(root, status);
    return withMode ? { ...said, mode: status.mode & 0o777 } : said;
  };
  return (held) => {
    if (parsed.directory || follow) {
      using found = find(held, parsed);
      return shown(held.root, found.status);
    }
    const direct = statDirectly(held, parsed);
    if (direct) return shown(held.root, direct);
    using found = lstat(held, parsed);
    return shown(held.root, found.status);
  };
}

/** Returns at most `maxList` names. Names that are hidden from the holder do not count. */
async function listedNames(held: HeldDirectory, found: OpenEntry): Promise<readonly string[]> {
  const { maxList, maxEntries } = held.root.limits;
  const some = await allNames(held, found, maxList + 1);
  const shown = await shownOf(held, some);
  if (some.length <= maxList) return shown;
  // Many names, and some of them are hidden: how many are left shows only when all are read.
  const rest = shown.length > maxList ? shown : await shownOf(held, await allNames(held, found, maxEntries + 1));
  if (rest.length > maxList) throw refusal('FS_LIMIT', `maxList ${maxList}, entries() gives pages`);
  return rest;
}

/** The names that `entries` pages through: those of the last page, if the directory has not changed since. */
async function pagedNames(held: HeldDirectory, found: OpenEntry): Promise<readonly string[]> {
  const { kernel, limits, listings } = held.root;
  const inode = inodeOf(found.status);
  const known = listings.namesOf(inode, found.status);
  if (known) return await shownOf(held, known);
  const now = kernel.now();
  const names = await allNames(held, found, limits.maxEntries + 1);
  if (names.length > limits.maxEntries) throw refusal('FS_LIMIT', `maxEntries ${limits.maxEntries}`);
  // Small directories are read again in less time than it takes to find out that they have not changed.
  if (names.length > defaultPage) listings.keep(inode, found.status, now, names);
  return await shownOf(held, names);
}

async function allNames(held: HeldDirectory, found: OpenEntry, max: number): Promise<readonly string[]> {
  const all = await held.root.kernel.names(found.fd, max);
  if (hasTemporary(all)) await sweep(held, found.fd, all);
  return all;
}

async function shownOf(held: HeldDirectory, all: readonly string[]): Promise<readonly string[]> {
  const { kernel } = held.root;
  if (held.terms.excepted.length === 0) return hasTemporary(all) ? all.filter((name) => !isTemporary(name)) : all;
  const shown: string[] = [];
  for (const [i, name] of all.entries()) {
    if (!isTemporary(name) && !isExcepted(held.terms, name)) shown.push(name);
    if (i % comparedPerYield === comparedPerYield - 1) await kernel.yieldToEventLoop();
  }
  return shown;
}

/**
 * Opens the entry with O_PATH and checks its mount, because lstat alone would show what is mounted on the
 * name.
 */
function entryOf(held: HeldDirectory, dir: number, name: string): DirectoryEntry | undefined {
  const { kernel, mount } = held.root;
  try {
    const direct = kernel.shortcuts?.look(dir, name);
    if (direct) return direct.mount === mount ? { name, ...publicStat(held.root, direct.status) } : elsewhere(name);
    using entry = own(kernel, kernel.openAny(dir, name));
    if (kernel.mountOf(entry.fd) !== mount) return elsewhere(name);
    return { name, ...publicStat(held.root, kernel.fstat(entry.fd)) };
  } catch (error) {
    if (failedWith(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** Another file system is mounted on the name. */
function elsewhere(name: string): DirectoryEntry {
  return { name, kind: 'other', size: 0, mtime: 0, version: '' };
}

function publicStat(root: Root, status: Status): Stat {
  return { kind: status.kind, size: status.size, mtime: status.mtime, version: versionOf(root, status) };
}
