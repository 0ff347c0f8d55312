/**
 * Finds text in files.
 *
 * Promise: a pattern takes time in proportion to the text, whoever wrote the pattern (RE2: no backtracking).
 * It skips binary files (a NUL in the first 8 KiB), large files, `.git`, and what `.gitignore` files name. A
 * line is one hit at most.
 */
import { Buffer } from 'node:buffer';
import { RE2JS } from 're2js';
import type { Hit } from '../base/fs-cap.ts';
import type { Kernel } from '../base/kernel.ts';
import { namedBy } from '../base/names.ts';
import { Batch, maxFile, type Seeker } from './batch.ts';
import { descend, readFound, readSmall, type SearchScope, type SkipReason, type Small, Stop } from './descent.ts';
import { type Glob, parseGlob } from './glob.ts';
import { type IgnoreLevel, IgnoreRules, isIgnored } from './ignore.ts';
import { requiredText } from './required.ts';
import type { StepBudget } from './step-budget.ts';

/** The result of a search. */
export interface Found {
  readonly hits: Hit[];
  truncated: boolean;
  readonly skipped: { readonly path: string; readonly reason: SkipReason }[];
}

/** Plain data that was checked before. */
export interface Query {
  readonly literal: string | undefined;
  readonly pattern: string | undefined;
  /** Pattern of the paths to search, relative to the start. Without a `/` it matches a name at any depth. */
  readonly glob: string | undefined;
  readonly limit: number;
  /** Look whether there is one more than `limit`. */
  readonly report?: boolean;
  readonly maxBytes: number;
  /** The names of the start. Each returned path begins with them. */
  readonly from: readonly string[];
  /** The `.gitignore` files above the start, outermost first: the depth of the directory, and the text. */
  readonly above: readonly (readonly [depth: number, text: string])[];
  /** The start is a file. */
  readonly file: boolean;
}

const maxRules = 256 * 1024;
const binaryWithin = 8 * 1024;
const maxColumns = 2_000;
const maxSkipped = 1_000;

/** `budget` limits matching on the main thread. When it is used up, `TooMuch` is thrown. */
export function search(kernel: Kernel, ground: SearchScope, query: Query, budget?: StepBudget): Found {
  const found: Found = { hits: [], truncated: false, skipped: [] };
  const { hits } = found;
  const skip = (names: readonly string[], reason: SkipReason): void => {
    if (found.skipped.length < maxSkipped) found.skipped.push({ path: names.join('/'), reason });
  };
  const finder = query.pattern === undefined ? literally(query.literal ?? '') : byPattern(query.pattern);
  let bytes = 0;
  const count = (size: number): void => {
    bytes += size;
    if (bytes > query.maxBytes) throw new Stop('FS_LIMIT', `maxSearchBytes ${query.maxBytes}, give a path or a glob`);
  };
  const take = (names: readonly string[], file: Small): void => {
    count(file.bytes.length);
    if (isBinary(file.bytes)) return skip(names, 'binary');
    const content = Buffer.from(file.bytes.buffer, file.bytes.byteOffset, file.bytes.length);
    const path = names.join('/');
    let isHere = false;
    for (const hit of finder(content)) {
      // Nothing of another mount is shown. The mount is checked once for each file with a hit.
      isHere ||= file.mount() === ground.mount;
      if (!isHere) return;
      if (hits.length === query.limit) {
        found.truncated = true;
        throw full;
      }
      hits.push({ path, ...hit });
      if (hits.length === query.limit && !query.report) throw full;
    }
  };
  try {
    if (query.file) takeNamed(kernel, ground.fd, (file) => take(query.from, file));
    else walk(kernel, ground, query, { take, skip, count, left: () => query.maxBytes - bytes }, budget);
  } catch (stopped) {
    if (stopped !== full) throw stopped;
  }
  return found;
}

/** A file that the caller named is searched, or the search says why not. */
function takeNamed(kernel: Kernel, fd: number, take: (found: Small) => void): void {
  if (kernel.fstat(fd).size > maxFile) throw new Stop('FS_LIMIT', `bytes of a file that is searched ${maxFile}`);
  readFound(kernel, fd, maxFile, (found) => {
    if (isBinary(found.bytes)) throw new Stop('UNSUPPORTED', 'a binary file is not searched, read() gives its bytes');
    take(found);
  });
}

function isBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, binaryWithin).includes(0);
}

/** Thrown when the caller's limit is reached. */
const full: unique symbol = Symbol('full');

function walk(kernel: Kernel, ground: SearchScope, query: Query, seeker: Seeker, budget: StepBudget | undefined): void {
  const required = query.literal ?? requiredText(query.pattern ?? '');
  const batch = new Batch(kernel, required === undefined ? undefined : Buffer.from(required), seeker);
  const levels: (IgnoreLevel | undefined)[] = query.above.map(([depth, text]) => ({
    rules: new IgnoreRules(text, budget),
    depth,
  }));
  const wanted =
    query.glob === undefined
      ? undefined
      : parseGlob(query.glob.includes('/') ? query.glob : `**/${query.glob}`, { dots: true, budget });
  const states: (readonly number[])[] = [];
  descend(
    kernel,
    ground,
    {
      open: (dir, names) => {
        const rules = rulesIn(kernel, ground, dir, budget);
        levels.push(rules && { rules, depth: names.length });
        states.push(
          names.length === query.from.length ? (wanted?.start ?? []) : stepped(wanted, states.at(-1), names.at(-1)),
        );
      },
      entry: ({ dir, names, kind }) => {
        const name = names.at(-1) ?? '';
        if (name === '.git' || (kind !== 'dir' && kind !== 'file')) return false;
        if (
          isIgnored(
            levels.filter((level) => level !== undefined),
            names,
            kind === 'dir',
          )
        )
          return false;
        const state = stepped(wanted, states.at(-1), name);
        if (kind === 'dir') {
          const enters = !wanted || wanted.goesOn(state);
          // Hits come in the order of the names, so the files before this directory are searched first.
          if (enters) batch.search();
          return enters;
        }
        if (!wanted || wanted.accepts(state)) batch.add(dir, names);
        return false;
      },
      skip: (names) => seeker.skip(names, 'unreadable'),
      close: () => {
        batch.search();
        levels.pop();
        states.pop();
      },
    },
    query.from,
  );
}

function stepped(glob: Glob | undefined, state: readonly number[] = [], name = ''): readonly number[] {
  return glob ? glob.step(state, name) : [];
}

/** Read with the same checks as any other file, because a `.gitignore` may be a FIFO, a link or a mount. */
function rulesIn(
  kernel: Kernel,
  ground: SearchScope,
  dir: number,
  budget: StepBudget | undefined,
): IgnoreRules | undefined {
  if (namedBy(ground.excepted, '.gitignore')) return undefined;
  return readSmall(kernel, dir, '.gitignore', maxRules, (found) =>
    found.mount() === ground.mount ? new IgnoreRules(Buffer.from(found.bytes).toString(), budget) : undefined,
  );
}

type Finder = (content: Buffer) => Iterable<Omit<Hit, 'path'>>;

function literally(text: string): Finder {
  const needle = Buffer.from(text);
  return function* (content) {
    let line = 1;
    let counted = 0;
    for (let at = content.indexOf(needle); at >= 0; ) {
      for (let end = content.indexOf(10, counted); end >= 0 && end < at; end = content.indexOf(10, counted)) {
        line += 1;
        counted = end + 1;
      }
      const ended = content.indexOf(10, at);
      const end = ended < 0 ? content.length : ended;
      yield { line, column: columnOf(content, counted, at), text: shown(content, counted, end) };
      if (ended < 0) return;
      at = content.indexOf(needle, end + 1);
    }
  };
}

/**
 * Whether a pattern may be compiled on the main thread. Compiling is not linear, because counted repetitions
 * are expanded (a pattern of 980 characters took 2 s and made 140,000 states).
 */
export function isLight(pattern: string): boolean {
  return pattern.length <= 200 && !/\{/.test(pattern);
}

/** Throws if the pattern is malformed. The library's own message would repeat the pattern. */
export function compilePattern(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern, RE2JS.MULTILINE);
  } catch {
    throw new Stop('invalid', 'the pattern is not valid RE2, which has no backreferences and no look-around');
  }
}

function byPattern(pattern: string): Finder {
  const compiled = compilePattern(pattern);
  const required = requiredText(pattern);
  return function* (content) {
    if (required !== undefined && !content.includes(required)) return;
    // Most files have no match, and the automaton that only tests is the fastest.
    if (!compiled.test(content)) return;
    const text = content.toString();
    const matcher = compiled.matcher(text);
    let line = 1;
    let counted = 0;
    for (let from = 0; from <= text.length && matcher.find(from); ) {
      const at = matcher.start();
      for (let end = text.indexOf('\n', counted); end >= 0 && end < at; end = text.indexOf('\n', counted)) {
        line += 1;
        counted = end + 1;
      }
      const ended = text.indexOf('\n', at);
      const end = ended < 0 ? text.length : ended;
      // An empty match after the last line end is not on any line.
      if (counted < text.length) yield { line, column: at - counted + 1, text: cut(text.slice(counted, end)) };
      if (ended < 0) return;
      from = end + 1;
    }
  };
}

function columnOf(content: Buffer, start: number, at: number): number {
  return content.toString('utf8', start, at).length + 1;
}

function shown(content: Buffer, start: number, end: number): string {
  // A column has at most four bytes, so `cut` would cut off everything that is left out here.
  return cut(content.toString('utf8', start, Math.min(end, start + 4 * maxColumns)));
}

function cut(line: string): string {
  const text = line.length > maxColumns ? line.slice(0, maxColumns) : line;
  // The cut may have split a character.
  return (text.endsWith('\r') ? text.slice(0, -1) : text).toWellFormed();
}
