/**
 * Shows what exists: list, entries, stat. Results contain names of directory entries, sorted by code point,
 * and never a path of the host.
 */
import { takeCount, takeRecord, takeString } from '../base/arguments.ts';
import { failedWith, refusal } from '../base/errors.ts';
import type { Stat } from '../base/fs-cap.ts';
import { own } from '../base/handle.ts';
import type { Kernel, Status } from '../base/kernel.ts';
import { byCodePoint, isTemporary } from '../base/names.ts';
import { parsePath } from '../root/path.ts';
import { type Place, versionOf } from '../root/place.ts';
import { find, lstat, type OpenEntry, statDirectly } from '../root/resolve.ts';
import { isExcepted } from '../root/terms.ts';
import type { Job } from './content.ts';
import { sweep } from './sweep.ts';

export type Entry = Stat & { readonly name: string };

const defaultPage = 1_000;
const maxPage = 10_000;
const entriesPerYield = 128;
// Names compared with all patterns of `except` before the walk yields.
const comparedPerYield = 64;

export function list(path: unknown): Job<readonly string[]> {
  const parsed = parsePath(path);
  return async (place) => {
    using found = find(place, { ...parsed, directory: true });
    return await namesIn(place, found, 'maxList');
  };
}

/** Pages continue after a name, so that in a changing directory no remaining entry is repeated or skipped. */
export function entries(path: unknown, page: unknown): Job<readonly Entry[]> {
  const parsed = parsePath(path);
  const given = takeRecord(page, 'a page');
  const after = given['after'] === undefined ? undefined : takeString(given['after'], 'after');
  const limit = takeCount(given['limit'], 'limit', 1) ?? defaultPage;
  if (limit > maxPage) throw refusal('FS_LIMIT', `entries of one page ${maxPage}`);
  return async (place) => {
    using found = find(place, { ...parsed, directory: true });
    const names = await namesIn(place, found, 'maxEntries');
    const first = after === undefined ? 0 : names.findIndex((name) => byCodePoint(name, after) > 0);
    const answer: Entry[] = [];
    for (let i = first; i >= 0 && i < names.length && answer.length < limit; i++) {
      const entry = entryOf(place, found.fd, names[i] ?? '');
      if (entry) answer.push(entry);
      if (i % entriesPerYield === 0) await place.root.kernel.yieldToEventLoop();
    }
    return answer;
  };
}

/**
 * Shows the link itself if the last name is a link. If the path ends in `/`, shows the directory it leads to.
 */
export function stat(path: unknown): Job<Stat> {
  const parsed = parsePath(path);
  return (place) => {
    const { kernel } = place.root;
    if (parsed.directory) {
      using found = find(place, parsed);
      return publicStat(kernel, found.status);
    }
    const direct = statDirectly(place, parsed);
    if (direct) return publicStat(kernel, direct);
    using found = lstat(place, parsed);
    return publicStat(kernel, found.status);
  };
}

async function namesIn(place: Place, found: OpenEntry, limit: 'maxList' | 'maxEntries'): Promise<string[]> {
  const { kernel, limits } = place.root;
  const max = limits[limit];
  const all = await kernel.names(found.fd, max + 1);
  const unfinished = all.some(isTemporary);
  if (unfinished) await sweep(place, found.fd, all);
  if (all.length > max) throw refusal('FS_LIMIT', `${limit} ${max}, entries() gives pages`);
  if (!unfinished && place.terms.excepted.length === 0) return all;
  const shown: string[] = [];
  for (const [i, name] of all.entries()) {
    if (!isTemporary(name) && !isExcepted(place.terms, name)) shown.push(name);
    if (place.terms.excepted.length > 0 && i % comparedPerYield === comparedPerYield - 1)
      await kernel.yieldToEventLoop();
  }
  return shown;
}

/**
 * Opens the entry with O_PATH and checks its mount, because lstat alone would show what is mounted on the
 * name.
 */
function entryOf(place: Place, dir: number, name: string): Entry | undefined {
  const { kernel, mount } = place.root;
  try {
    using entry = own(kernel, kernel.openAny(dir, name));
    if (kernel.mountOf(entry.fd) !== mount) return { name, kind: 'other', size: 0, mtime: 0, version: '' };
    return { name, ...publicStat(kernel, kernel.fstat(entry.fd)) };
  } catch (error) {
    if (failedWith(error, 'ENOENT')) return undefined;
    throw error;
  }
}

function publicStat(kernel: Kernel, status: Status): Stat {
  return { kind: status.kind, size: status.size, mtime: status.mtime, version: versionOf(kernel, status) };
}
