/**
 * Patterns of `except`: names that do not exist for the holder of a directory. They are those of gitignore.
 *
 * | pattern | hides |
 * | --- | --- |
 * | `.env*` | every name that matches, at any depth |
 * | `/build`, `docs/*.pdf` | from the directory of the cap on, because of the `/` |
 * | `.git/**` | all beneath `.git` |
 * | `cache/` | directories of that name |
 * | `!.env.example` | takes an earlier pattern back, but not beneath a hidden directory |
 *
 * A name is also compared as directories without case do, because some open `.env` for `.ENV`. That hides more, never less.
 */

interface Pattern {
  readonly takesBack: boolean;
  /** One list of signs for each name of a path; `**` stands for any number of names. */
  readonly names: readonly (readonly Sign[] | '**')[];
}
type Sign = { readonly is: 'rest' } | { readonly is: 'one'; readonly has: (sign: string) => boolean };

/** Why a text is no pattern; undefined if it is one. */
export function wrongPattern(text: string): string | undefined {
  const body = text.replace(/^!/, '').replace(/^\//, '').replace(/\/$/, '');
  if (/^#/.test(text)) return 'it is a comment';
  if (body === '') return 'it names nothing';
  if (/[\0\n\r]/.test(text)) return 'it has a line break or NUL';
  if (text !== text.trim()) return 'it begins or ends with a space';
  if (body.split('/').some((name) => name === '' || name === '.' || name === '..'))
    return 'it has an empty name, . or ..';
  if (/\\$/.test(body)) return 'it ends with a backslash';
  return body.split('/').some((name) => signsOf(name) === undefined) ? 'a [ is not closed' : undefined;
}

/**
 * Returns a test for paths beneath the directory, with `/` between names. A final name counts as a directory too. Each
 * pattern is compared with all directories of a path at once, so the work is at most the length of the patterns times
 * the length of the path.
 */
export function hidden(texts: readonly string[]): (path: string) => boolean {
  const exact = texts.map((text) => patternOf(text));
  const folded = texts.map((text) => patternOf(fold(text)));
  return (path) => {
    const names = path.split('/').filter((name) => name !== '' && name !== '.');
    const written = names.map(signsOfName);
    const lower = names.map((name) => signsOfName(fold(name)));
    // A pattern that takes back counts only as it is written, so case never shows a name.
    return hidesAny(exact, written) || hidesAny(folded, lower, exact, written);
  };
}

type Name = readonly string[];
const signsOfName = (name: string): Name => [...name];

/**
 * The same text for all names that a directory without case may take for one: it also takes the long s of old prints
 * for an s, and overlooks signs that do not show, such as a soft hyphen.
 */
const fold = (text: string): string =>
  text
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .normalize('NFC')
    .toUpperCase()
    .toLowerCase()
    .normalize('NFC');

/** Whether the patterns hide the path, or one of the directories that it lies in. */
function hidesAny(
  patterns: readonly Pattern[],
  names: readonly Name[],
  exact: readonly Pattern[] = patterns,
  written: readonly Name[] = names,
): boolean {
  let hides = names.map(() => false);
  for (const [n, pattern] of patterns.entries()) {
    if (!pattern.takesBack) {
      const matches = matchesUpTo(pattern.names, names);
      hides = hides.map((was, at) => was || matches[at] === true);
    } else if (hides.includes(true)) {
      const back = matchesUpTo((exact[n] ?? pattern).names, written);
      hides = hides.map((was, at) => was && back[at] !== true);
    }
  }
  return hides.includes(true);
}

function patternOf(text: string): Pattern {
  const takesBack = text.startsWith('!');
  const given = takesBack ? text.slice(1) : text;
  const body = given.replace(/^\//, '').replace(/\/$/, '');
  const parts = body.split('/');
  const names = parts
    .filter((name, n) => name !== '**' || parts[n - 1] !== '**')
    .map((name) => (name === '**' ? '**' : (signsOf(name) ?? [])));
  const anchored = given.startsWith('/') || body.includes('/');
  // A final `/` names directories only. A name that may be a directory is hidden too.
  return { takesBack, names: anchored ? names : ['**', ...names] };
}

/** For each name of a path: whether the pattern matches the path up to it. */
function matchesUpTo(pattern: Pattern['names'], names: readonly Name[]): readonly boolean[] {
  /** Whether the pattern so far matches the first `n` names. */
  let ends = names.map(() => false);
  let start = true;
  for (const [at, part] of pattern.entries()) {
    const last = at === pattern.length - 1;
    let open = start;
    ends = names.map((name, n) => {
      const before = n === 0 ? start : ends[n - 1] === true;
      if (part !== '**') return before && matchesName(part, name);
      // At the end it takes at least one name: what lies beneath.
      open ||= before;
      return open || (!last && ends[n] === true);
    });
    start &&= part === '**' && !last;
  }
  return ends;
}

/** The signs of one name; undefined if a `[` is not closed. */
function signsOf(name: string): readonly Sign[] | undefined {
  const signs: Sign[] = [];
  const all = [...name];
  for (let n = 0; n < all.length; n += 1) {
    const sign = all[n] as string;
    if (sign === '*') signs.push({ is: 'rest' });
    else if (sign === '?') signs.push({ is: 'one', has: () => true });
    else if (sign === '[') {
      const end = all.indexOf(']', n + (/[!^]/.test(all[n + 1] ?? '') ? 3 : 2));
      if (end < 0) return undefined;
      signs.push(setOf(all.slice(n + 1, end)));
      n = end;
    } else {
      const literal = sign === '\\' ? (all[++n] ?? '') : sign;
      signs.push({ is: 'one', has: (one) => one === literal });
    }
  }
  return signs;
}

function setOf(inner: readonly string[]): Sign {
  const not = inner[0] === '!' || inner[0] === '^';
  const list = not ? inner.slice(1) : inner;
  const ranges: (readonly [string, string])[] = [];
  for (let n = 0; n < list.length; n += 1) {
    const from = list[n] as string;
    if (list[n + 1] === '-' && list[n + 2] !== undefined) ranges.push([from, list[(n += 2)] as string]);
    else ranges.push([from, from]);
  }
  return { is: 'one', has: (one) => ranges.some(([from, to]) => from <= one && one <= to) !== not };
}

/** Matches with one position to go back to: the work is at most signs times characters. */
function matchesName(signs: readonly Sign[], given: Name): boolean {
  let [at, from, back] = [0, 0, -1];
  let n = 0;
  while (n < given.length) {
    const sign = signs[at];
    if (sign?.is === 'rest') [back, from, at] = [at, n, at + 1];
    else if (sign !== undefined && sign.is === 'one' && sign.has(given[n] as string)) [at, n] = [at + 1, n + 1];
    else if (back >= 0) [at, from, n] = [back + 1, from + 1, from + 1];
    else return false;
  }
  return signs.slice(at).every((sign) => sign.is === 'rest');
}
