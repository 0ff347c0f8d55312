/**
 * glob and search: checks their arguments and chooses where they run.
 *
 * A small tree is searched on the main thread, in a few milliseconds (`at-once.ts`). A larger one is searched
 * in a worker thread, so that other holders do not wait. A pattern is checked here, before anything is
 * opened.
 */
import { CapError } from '@hob/vat';
import { takeCount, takeRecord, takeString } from '../base/arguments.ts';
import { refusal } from '../base/errors.ts';
import type { Job } from '../files/content.ts';
import { parsePath } from '../root/path.ts';
import type { Place } from '../root/place.ts';
import { find } from '../root/resolve.ts';
import { globAtOnce, searchAtOnce } from './at-once.ts';
import { type Ground, isPassing, readFound, Stop } from './descent.ts';
import { inThread } from './drivers/thread.ts';
import { GlobError, parseGlob } from './glob.ts';
import { compilePattern, type Hit, isLight } from './scan.ts';

const maxText = 4_096;
const maxPattern = 1_000;
const maxRules = 256 * 1024;

export function glob(pattern: unknown): Job<readonly string[]> {
  const text = takeGlob(pattern);
  return async (place, ended) => {
    const { kernel, limits } = place.root;
    using held = place.directory.hold();
    // It was deleted while we held it. The kernel would still show it, as an empty directory.
    if (kernel.fstat(held.fd).links === 0) throw refusal('NOT_FOUND');
    const ground = groundOf(place, held.fd);
    const small = globAtOnce(kernel, ground, text, limits.maxList);
    if (small) return small;
    const until = { ended, ms: limits.maxSearchMs, limit: 'maxSearchMs' };
    return await inThread<string[]>({ task: 'glob', ground, pattern: text, limit: limits.maxList }, until);
  };
}

export function search(query: unknown, given: unknown): Job<readonly Hit[]> {
  const options = takeRecord(given, 'options');
  const what = takeQuery(query);
  const path = parsePath(options['path'] === undefined ? '.' : options['path']);
  const names = options['glob'] === undefined ? undefined : takeGlob(options['glob']);
  const limit = takeCount(options['limit'], 'limit', 1);
  return async (place, ended) => {
    const { kernel, limits } = place.root;
    if (limit !== undefined && limit > limits.maxHits) throw refusal('FS_LIMIT', `maxHits ${limits.maxHits}`);
    using start = find(place, path);
    if (start.status.kind === 'other') throw refusal('NOT_A_FILE');
    const file = start.status.kind === 'file';
    const above = file ? [] : rulesAbove(place, path.names);
    const task = {
      task: 'search' as const,
      ground: groundOf(place, start.fd),
      query: {
        ...what,
        glob: names,
        limit: limit ?? limits.maxHits,
        maxBytes: limits.maxSearchBytes,
        from: path.names,
        above,
        file,
      },
    };
    const small = searchAtOnce(kernel, task.ground, task.query);
    if (small) return small;
    return await inThread<Hit[]>(task, { ended, ms: limits.maxSearchMs, limit: 'maxSearchMs' });
  };
}

function groundOf(place: Place, fd: number): Ground {
  const { mount, limits, kernel } = place.root;
  const { maxEntries, maxDepth } = limits;
  return { fd, mount, backend: kernel.backend, excepted: place.terms.excepted, maxEntries, maxDepth };
}

/**
 * Reads the `.gitignore` files between the cap's directory and the start, with the same walk as every other
 * read.
 */
function rulesAbove(place: Place, names: readonly string[]): (readonly [number, string])[] {
  const above: (readonly [number, string])[] = [];
  for (let depth = 0; depth < names.length; depth++) {
    try {
      using found = find(place, { names: [...names.slice(0, depth), '.gitignore'], directory: false });
      readFound(place.root.kernel, found.fd, maxRules, ({ bytes }) => {
        above.push([depth, new TextDecoder().decode(bytes)]);
      });
    } catch (error) {
      // A missing or unreadable file has no rules. If the disk fails, stop: the search would show ignored
      // files.
      if (!(error instanceof CapError) && !isPassing(error)) throw error;
    }
  }
  return above;
}

function takeGlob(given: unknown): string {
  const pattern = takeString(given, 'a pattern');
  if (pattern === '' || pattern.length > maxText || pattern.includes('\0')) throw refusal('PATH_INVALID');
  if (pattern.startsWith('/')) throw refusal('PATH_ABSOLUTE');
  if (pattern.split('/').includes('..')) throw refusal('PATH_ESCAPES');
  try {
    parseGlob(pattern);
  } catch (error) {
    throw error instanceof GlobError ? refusal('invalid', error.message) : error;
  }
  return pattern;
}

function takeQuery(given: unknown): { readonly literal: string | undefined; readonly pattern: string | undefined } {
  if (typeof given === 'string') {
    const literal = takeString(given, 'text to search');
    if (literal === '' || literal.length > maxText)
      throw refusal('invalid', `text to search has 1 to ${maxText} characters`);
    return { literal, pattern: undefined };
  }
  const pattern = takeString(takeRecord(given, 'a query')['pattern'], 'a pattern');
  if (pattern === '' || pattern.length > maxPattern)
    throw refusal('invalid', `a pattern has 1 to ${maxPattern} characters`);
  if (isLight(pattern)) {
    try {
      compilePattern(pattern);
    } catch (error) {
      throw error instanceof Stop ? refusal(error.code, error.detail) : error;
    }
  }
  return { literal: undefined, pattern };
}
