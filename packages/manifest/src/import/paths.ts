/**
 * Patterns of files: the directory that an allow is about, and what a deny leaves out of a directory.
 *
 * Names are compared as text while rules are read. At run time a directory cap is one open directory, and nothing
 * compares paths.
 */
import { globTakes } from './glob.ts';
import type { FilePattern } from './rule.ts';

/** Where the roots of the manifest lie. */
export interface Places {
  /** Roots by name, as the manifest writes them. The first is the directory that the other agent worked in. */
  readonly roots: Readonly<Record<string, string>>;
  /** The absolute path of the directory that relative roots are meant from; without it they are only compared with each other. */
  readonly cwd?: string;
  readonly home?: string;
}

/** An absolute place, or one whose beginning is not known: `from` says which. */
interface Place {
  readonly from: '/' | 'cwd' | 'home';
  readonly names: readonly string[];
}

/** A directory of a root, as `fs` of a manifest writes it. */
export interface RootDirectory {
  readonly root: string;
  readonly names: readonly string[];
}

export const fsText = ({ root, names }: RootDirectory): string => [root, ...names].join('/');

const HIDDEN = /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u;
/** Paths of the machine are no longer. */
const LONGEST = 2000;
const MOST_NAMES = 200;
const isGlob = (name: string): boolean => /[*?[\]{}!\\]/.test(name);

/** Names of a path without `.` and empty ones; undefined if `..` leads out of what is known. */
function plain(names: readonly string[]): readonly string[] | undefined {
  const left: string[] = [];
  for (const name of names) {
    if (name === '' || name === '.') continue;
    if (name !== '..') left.push(name);
    else {
      const last = left.pop();
      if (last === undefined || isGlob(last)) return undefined;
    }
  }
  return left;
}

/** The place of a text like `/srv/x`, `~/x` or `x`. */
function placeOf(text: string, { cwd, home }: Places): Place | undefined {
  const under = (base: string | undefined, from: Place['from'], rest: string): Place | undefined => {
    const names = plain([...(base ?? '').split('/'), ...rest.split('/')]);
    return names && { from: base === undefined ? from : '/', names };
  };
  if (text.startsWith('/')) return under('', '/', text);
  if (text === '~' || text.startsWith('~/')) return under(home, 'home', text.slice(1));
  return under(cwd, 'cwd', text);
}

/** The place that a pattern begins at, and its names with wildcards. */
function placeOfPattern(pattern: FilePattern, places: Places): Place | undefined {
  const [first = '.'] = Object.values(places.roots);
  const base = pattern.from === 'cwd' ? placeOf(first, places) : placeOf(pattern.from === 'home' ? '~' : '/', places);
  const names = base && plain([...base.names, ...pattern.names]);
  return names && { from: (base as Place).from, names };
}

/** Directories that an allow gives whole, or the reason why it gives none. `part`: only what lies in a root is given. */
export type Given =
  | { readonly directories: readonly RootDirectory[]; readonly part?: string }
  | { readonly why: string };

/** The directories of the roots that a pattern is about. No pattern is about all files. */
export function directoriesOf(pattern: FilePattern | undefined, places: Places): Given {
  const roots = Object.entries(places.roots);
  const whole = roots.map(([root]) => ({ root, names: [] }));
  const names = Object.keys(places.roots).join(', ');
  if (pattern === undefined)
    return { directories: whole, part: `it is about every file of the machine: here it holds beneath ${names}` };
  if (pattern.unclear !== undefined) return { why: pattern.unclear };
  const place = placeOfPattern(pattern, places);
  if (place === undefined) return { why: 'its path leads out by ..' };
  const directory = place.names.slice(0, -1);
  if (place.names.at(-1) !== '**' || directory.some(isGlob))
    return { why: 'a directory cap has a whole directory: the pattern picks files in it' };
  if (directory.some((name) => HIDDEN.test(name))) return { why: 'its path has a sign that a reader does not see' };
  if (directory.join('/').length > LONGEST) return { why: `its path is longer than ${LONGEST} characters` };
  const given: RootDirectory[] = [];
  let isPart = false;
  for (const [root, text] of roots) {
    const at = placeOf(text, places);
    if (at === undefined || at.from !== place.from) continue;
    if (isPrefix(at.names, directory)) given.push({ root, names: directory.slice(at.names.length) });
    else if (isPrefix(directory, at.names)) {
      given.push({ root, names: [] });
      isPart = true;
    }
  }
  if (given.length === 0) return { why: 'it lies in no root: add one with --root NAME=DIR' };
  // A root inside another one is the same directory twice.
  const [nearest = given[0] as RootDirectory] = [...given].sort((a, b) => a.names.length - b.names.length);
  if (!isPart) return { directories: [nearest] };
  return { directories: given, part: `it is about more than a root: here it holds beneath ${names}` };
}

const isPrefix = (short: readonly string[], long: readonly string[]): boolean =>
  short.every((name, n) => long[n] === name);

/** The rest of a directory after a deny: nothing, all of it, or all but these patterns. */
export type Left = 'nothing' | { readonly except: readonly string[] } | { readonly unknown: string };

/** Returns the rest of a directory without the files of a pattern. It may leave out more than the pattern, never less. */
export function leftOf(directory: RootDirectory, pattern: FilePattern | undefined, places: Places): Left {
  if (pattern === undefined) return 'nothing';
  const denied = placeOfPattern(pattern, places);
  const at = placeOf(places.roots[directory.root] ?? '.', places);
  if (denied === undefined || at === undefined) return { unknown: 'its path leads out by ..' };
  if (denied.from !== at.from) return { unknown: 'it is not known where it lies' };
  if (denied.names.some((name) => /[{}!\\]/.test(name) || HIDDEN.test(name) || (name.includes('**') && name !== '**')))
    return { unknown: 'its pattern cannot be written in except' };
  const inside = [...at.names, ...directory.names];
  if (denied.names.length > MOST_NAMES) return { unknown: `its pattern has more than ${MOST_NAMES} names` };
  const rests = new Map<string, readonly string[]>();
  for (const rest of residues(denied.names, inside)) {
    // Nothing left: the pattern takes the directory itself, or one above it.
    if (rest.length === 0 || rest.every((name) => name === '**')) return 'nothing';
    rests.set(rest.join('/'), rest);
  }
  // A pattern for any depth also counts at the top.
  const least = [...rests.entries()].filter(([text]) => !rests.has(`**/${text}`));
  return { except: least.map(([, rest]) => exceptText(rest)) };
}

/** Returns the rest of a pattern after the names of a directory: it may begin in several ways, since `**` is any number. */
function residues(pattern: readonly string[], names: readonly string[]): readonly (readonly string[])[] {
  let states = closure(pattern, [0]);
  for (const name of names) {
    const next: number[] = [];
    for (const at of states) {
      // The pattern took a directory above: all beneath it is taken.
      if (at === pattern.length) return [[]];
      if (pattern[at] === '**') next.push(at);
      else if (mayTake(pattern[at] as string, name)) next.push(at + 1);
    }
    states = closure(pattern, next);
  }
  return [...states].map((at) => pattern.slice(at));
}

function closure(pattern: readonly string[], starts: readonly number[]): ReadonlySet<number> {
  const all = new Set(starts);
  for (const at of all) if (pattern[at] === '**' && at + 1 < pattern.length) all.add(at + 1);
  return all;
}

/** Whether a glob of one name may take it. A class like `[a-z]` may be anything, and `?` any text. */
const mayTake = (glob: string, name: string): boolean =>
  glob.includes('[') || globTakes(glob.replaceAll('?', '*'), name);

/** A pattern of gitignore: one name at any depth, or names from the directory on. */
function exceptText(names: readonly string[]): string {
  const rest = names[0] === '**' ? names.slice(1) : names;
  if (rest.length === 1 && names[0] === '**') return withoutComment(rest[0] as string);
  return names[0] === '**' ? names.join('/') : `/${names.join('/')}`;
}

/** `#` begins a comment. */
const withoutComment = (name: string): string => (name.startsWith('#') ? `\\${name}` : name);
