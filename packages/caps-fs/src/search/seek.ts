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
import type { Hit, SearchReport, Tree } from '../base/fs-cap.ts';
import type { Operation } from '../files/operation.ts';
import type { HeldDirectory } from '../root/held-directory.ts';
import { parsePath } from '../root/path.ts';
import { find } from '../root/resolve.ts';
import { globAtOnce, searchAtOnce, treeAtOnce } from './at-once.ts';
import { isPassing, readFound, type SearchScope, Stop } from './descent.ts';
import { onMainThread } from './drivers/main-thread.ts';
import { inThread, type Until } from './drivers/thread.ts';
import { GlobError, parseGlob } from './glob.ts';
import { compilePattern, type Found, isLight } from './scan.ts';

const maxText = 4_096;
const maxPattern = 1_000;
const maxRules = 256 * 1024;

export function glob(pattern: unknown): Operation<readonly string[]> {
  const text = takeGlob(pattern);
  return async (held, ended, leave) => {
    const { kernel, limits } = held.root;
    const begin = () => {
      const start = held.directory.hold();
      // It was deleted while we held it. The kernel would still show it, as an empty directory.
      if (kernel.fstat(start.fd).links > 0) return { ...start, ground: groundOf(held, start.fd) };
      start[Symbol.dispose]();
      throw refusal('NOT_FOUND');
    };
    const small = await onMainThread(held.holder, () => {
      using begun = begin();
      return globAtOnce(kernel, begun.ground, text, limits.maxList);
    });
    if (small) return small;
    leave();
    const inTurn = () => {
      const { ground, [Symbol.dispose]: close } = begin();
      return { task: { task: 'glob' as const, ground, pattern: text, limit: limits.maxList }, [Symbol.dispose]: close };
    };
    return await inThread<string[]>(inTurn, untilOf(held, ended));
  };
}

function untilOf({ root, holder }: HeldDirectory, ended: AbortSignal): Until {
  return { holder, ended, ms: root.limits.maxSearchMs, limit: 'maxSearchMs' };
}

export function search(query: unknown, given: unknown): Operation<readonly Hit[]> {
  const run = seek(query, given, false);
  return async (held, ended, leave) => (await run(held, ended, leave)).hits;
}

export function searchReport(query: unknown, given: unknown): Operation<SearchReport> {
  return seek(query, given, true);
}

function seek(query: unknown, given: unknown, report: boolean): Operation<Found> {
  const options = takeRecord(given, 'options', ['path', 'glob', 'limit']);
  const what = takeQuery(query);
  const path = parsePath(options.path === undefined ? '.' : options.path);
  const names = options.glob === undefined ? undefined : takeGlob(options.glob);
  const limit = takeCount(options.limit, 'limit', 1);
  return async (held, ended, leave) => {
    const { kernel, limits } = held.root;
    if (limit !== undefined && limit > limits.maxHits) throw refusal('FS_LIMIT', `maxHits ${limits.maxHits}`);
    const begin = () => {
      const start = find(held, path);
      try {
        if (start.status.kind === 'other') throw refusal('NOT_A_FILE');
        const file = start.status.kind === 'file';
        const above = file ? [] : rulesAbove(held, path.names);
        const { maxHits, maxSearchBytes: maxBytes } = limits;
        const query = {
          ...what,
          report,
          glob: names,
          limit: limit ?? maxHits,
          maxBytes,
          from: path.names,
          above,
          file,
        };
        const task = { task: 'search' as const, ground: groundOf(held, start.fd), query };
        return { task, [Symbol.dispose]: start[Symbol.dispose] };
      } catch (error) {
        start[Symbol.dispose]();
        throw error;
      }
    };
    const small = await onMainThread(held.holder, () => {
      using begun = begin();
      return searchAtOnce(kernel, begun.task.ground, begun.task.query);
    });
    if (small) return small;
    leave();
    return await inThread<Found>(begin, untilOf(held, ended));
  };
}

export function tree(path: unknown, given: unknown): Operation<Tree> {
  const parsed = parsePath(path === undefined ? '.' : path);
  const options = takeRecord(given, 'options', ['depth', 'limit']);
  const depth = takeCount(options.depth, 'depth', 1);
  const limit = takeCount(options.limit, 'limit', 1);
  return async (held, ended, leave) => {
    const { kernel, limits } = held.root;
    if (limit !== undefined && limit > limits.maxList) throw refusal('FS_LIMIT', `maxList ${limits.maxList}`);
    const query = { from: parsed.names, depth: depth ?? limits.maxDepth, limit: limit ?? limits.maxList };
    const begin = () => {
      const start = find(held, { ...parsed, directory: true });
      return {
        task: { task: 'tree' as const, ground: groundOf(held, start.fd), query },
        [Symbol.dispose]: start[Symbol.dispose],
      };
    };
    const small = await onMainThread(held.holder, () => {
      using begun = begin();
      return treeAtOnce(kernel, begun.task.ground, query);
    });
    if (small) return small;
    leave();
    return await inThread<Tree>(begin, untilOf(held, ended));
  };
}

function groundOf(held: HeldDirectory, fd: number): SearchScope {
  const { mount, limits, kernel } = held.root;
  const { maxEntries, maxDepth } = limits;
  return { fd, mount, backend: kernel.backend, excepted: held.terms.excepted, maxEntries, maxDepth };
}

/**
 * Reads the `.gitignore` files between the cap's directory and the start, with the same walk as every other
 * read.
 */
function rulesAbove(held: HeldDirectory, names: readonly string[]): (readonly [number, string])[] {
  const above: (readonly [number, string])[] = [];
  for (let depth = 0; depth < names.length; depth++) {
    try {
      using found = find(held, { names: [...names.slice(0, depth), '.gitignore'], directory: false });
      readFound(held.root.kernel, found.fd, maxRules, ({ bytes }) => {
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
  if (pattern === '') throw refusal('PATH_INVALID', 'the pattern is empty');
  if (pattern.length > maxText) throw refusal('PATH_INVALID', `the pattern has more than ${maxText} characters`);
  if (pattern.includes('\0')) throw refusal('PATH_INVALID', 'the pattern has a NUL');
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
  const pattern = takeString(takeRecord(given, 'a query', ['pattern']).pattern, 'a pattern');
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
