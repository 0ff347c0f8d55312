/**
 * Path patterns: `*`, `?`, `[a-z]` within a name, `**` for any number of names, `{a,b}` for one of several.
 *
 * Promise: a pattern is matched against the names of a walk, and no path is ever made from a pattern.
 * Matching takes steps in proportion to pattern times name, whatever the pattern; decision 205 says why no
 * library does it. Braces expand to at most 64 alternatives. A pattern means what `picomatch` and bash take
 * it for, or it is refused with a text that names what is not supported. A rule of a `.gitignore` file means
 * what git takes it for. It imports only modules that import nothing, so that a search thread starts fast.
 */
import { type Characters, setAt } from './character-set.ts';
import type { StepBudget } from './step-budget.ts';

/** The positions in the pattern that the names so far can have reached. */
export type State = readonly number[];

export interface Glob {
  readonly start: State;
  /** Returns the state after one more name. An empty state means that nothing beneath can match. */
  step(state: State, name: string): State;
  /** Whether the names so far are a match. */
  accepts(state: State): boolean;
  /** Whether anything beneath can match. */
  goesOn(state: State): boolean;
}

type Token = '*' | '?' | Characters | { readonly is: string };
type Segment =
  | '**'
  | {
      readonly tokens: readonly Token[];
      readonly dot: boolean;
      /** The name, if the segment matches exactly one name. */
      readonly is: string | undefined;
    };

const maxAlternatives = 64;
const maxOpen = 16;

/** A malformed pattern. The message is safe to show. */
export class GlobError extends Error {}

interface GlobOptions {
  /** The budget for parsing and matching. */
  readonly budget?: StepBudget | undefined;
  /** Whether `*` and `?` match a name that begins with a dot. */
  readonly dots?: boolean;
}

export function parseGlob(pattern: string, { dots = false, budget }: GlobOptions = {}): Glob {
  budget?.charge(pattern.length);
  if (pattern.startsWith('!')) {
    throw new GlobError('a pattern cannot exclude: write \\! if a name begins with an exclamation mark');
  }
  return matcher(
    expand(pattern).map((one) => segmentsOf(one)),
    dots,
    budget,
  );
}

/**
 * A rule of a `.gitignore` file, without the `!` before it and the `/` at its start and end. Throws
 * `GlobError` if git would match it with nothing.
 */
export function parseGitRule(rule: string, budget?: StepBudget): Glob {
  budget?.charge(rule.length);
  return matcher([segmentsOfRule(rule)], true, budget);
}

function matcher(alternatives: readonly Segment[][], dots: boolean, budget: StepBudget | undefined): Glob {
  const offsets: number[] = [];
  const flat: (Segment | undefined)[] = [];
  for (const segments of alternatives) {
    offsets.push(flat.length);
    // `undefined` marks the position at which an alternative has matched.
    flat.push(...segments, undefined);
  }
  /** `**` may match no name, so the position after it is reached as well. */
  const closed = (places: Iterable<number>): State => {
    const all = new Set<number>();
    for (const first of places) {
      for (let place = first; !all.has(place); place++) {
        all.add(place);
        if (flat[place] !== '**') break;
      }
    }
    return [...all];
  };
  // Most steps lead to one position or to none. Those states are built once.
  const nowhere: State = [];
  const alone = flat.map((_, place) => closed([place]));
  return {
    start: closed(offsets),
    step: (state, name) => {
      budget?.charge(1 + state.length);
      const next: number[] = [];
      const hidden = !dots && name.startsWith('.');
      for (const place of state) {
        const segment = flat[place];
        if (segment === '**') {
          if (!hidden) next.push(place);
        } else if (segment && (!hidden || segment.dot) && matchesSegment(segment, name, budget)) next.push(place + 1);
      }
      const [first] = next;
      if (first === undefined) return nowhere;
      return (next.length === 1 ? alone[first] : undefined) ?? closed(next);
    },
    accepts: (state) => state.some((place) => flat[place] === undefined),
    goesOn: (state) => state.some((place) => flat[place] !== undefined),
  };
}

/** `a{b,c}` -> `ab`, `ac`. A brace without a comma or without its end is an ordinary character. */
function expand(pattern: string): string[] {
  const done: string[] = [];
  const todo = [pattern];
  for (let one = todo.pop(); one !== undefined; one = todo.pop()) {
    const brace = firstBrace(one);
    if (!brace) done.push(one);
    else {
      const { from, to, parts } = brace;
      for (const part of parts.toReversed()) todo.push(one.slice(0, from) + part + one.slice(to + 1));
    }
    if (done.length + todo.length > maxAlternatives) {
      throw new GlobError(`a pattern has at most ${maxAlternatives} alternatives`);
    }
  }
  return done;
}

function firstBrace(text: string): { from: number; to: number; parts: string[] } | undefined {
  let from = -1;
  let depth = 0;
  let start = 0;
  let parts: string[] = [];
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (char === '\\') i++;
    else if (char === '{') {
      if (depth++ === 0) {
        from = i;
        start = i + 1;
        parts = [];
      }
    } else if (char === ',' && depth === 1) {
      parts.push(text.slice(start, i));
      start = i + 1;
    } else if (char === '}' && depth > 0 && --depth === 0) {
      if (parts.length > 0) return { from, to: i, parts: [...parts, text.slice(start, i)] };
      if (text.slice(start, i).includes('..')) {
        throw new GlobError('a pattern has no ranges in braces: write {1,2,3} and not {1..3}');
      }
    }
  }
  return undefined;
}

function segmentsOf(pattern: string): Segment[] {
  const segments: Segment[] = [];
  for (const part of pattern.split('/')) {
    if (part === '' || part === '.') continue;
    if (part === '..') throw new GlobError('a pattern cannot contain ".."');
    // Several `**` in a row mean the same as one and would cost more.
    if (part !== '**') segments.push(segmentOf(part));
    else if (segments.at(-1) !== '**') segments.push('**');
  }
  if (segments.length === 0) throw new GlobError('a pattern cannot be empty');
  return segments;
}

/** Differs from `segmentsOf` where git does: an empty name matches nothing, `a/**` is not `a` itself. */
function segmentsOfRule(rule: string): Segment[] {
  const segments: Segment[] = [];
  for (const part of partsOf([...rule])) {
    if (part === '') throw new GlobError('a name is empty');
    if (!/^\*\*+$/.test(part)) segments.push(segmentOf(part, 'git'));
    else if (segments.at(-1) !== '**') segments.push('**');
  }
  if (segments.at(-1) === '**') segments.push(segmentOf('*', 'git'));
  return segments;
}

/** Splits a rule at each `/`, also after a backslash, but not in brackets. */
function partsOf(chars: readonly string[]): string[] {
  const parts: string[] = [];
  let part = '';
  for (let i = 0; i < chars.length; i++) {
    const char = chars[i] ?? '';
    const set = char === '[' ? setAt(chars, i) : undefined;
    if (char === '/' || (char === '\\' && chars[i + 1] === '/')) {
      if (char !== '/') i++;
      parts.push(part);
      part = '';
    } else if (char === '\\') part += char + (chars[++i] ?? '');
    else if (char !== '[') part += char;
    else if (typeof set === 'object') {
      part += chars.slice(i, set.end + 1).join('');
      i = set.end;
    } else throw new GlobError('a bracket has no end, or a class that is unknown');
  }
  return [...parts, part];
}

function segmentOf(part: string, syntax: 'glob' | 'git' = 'glob'): Segment {
  const chars = [...part];
  const tokens: Token[] = [];
  let open = 0;
  for (let i = 0; i < chars.length; i++) {
    const char = chars[i] ?? '';
    if (syntax === 'glob' && chars[i + 1] === '(' && '@?+*!'.includes(char)) {
      throw new GlobError('a pattern has no lists in parentheses: write {a,b}, or \\( for a parenthesis in a name');
    }
    if (char === '\\') {
      const literal = chars[++i];
      if (literal === undefined && syntax === 'git') throw new GlobError('a backslash has nothing after it');
      tokens.push({ is: literal ?? '\\' });
    } else if (char === '?') tokens.push('?');
    else if (char === '*') {
      if (tokens.at(-1) !== '*') tokens.push('*');
    } else {
      const set = char === '[' ? setAt(chars, i) : undefined;
      if (set === 'unknown class') throw new GlobError('a class in brackets is one of POSIX, like [[:digit:]]');
      // Without its end it is a character like any other. To find that out costs a look at all that follows.
      if (char === '[' && set === undefined && ++open > maxOpen) {
        throw new GlobError(`a pattern has at most ${maxOpen} brackets without their end`);
      }
      tokens.push(set ? set.characters : { is: char });
      if (set) i = set.end;
    }
  }
  const names = tokens.map((token) => (typeof token === 'object' && 'is' in token ? token.is : undefined));
  const is = names.includes(undefined) ? undefined : names.join('');
  return { tokens, dot: part.startsWith('.') || part.startsWith('\\.'), is };
}

function matchesSegment({ tokens, is }: Exclude<Segment, '**'>, name: string, budget: StepBudget | undefined): boolean {
  return is === undefined ? matchesTokens(tokens, name, budget) : is === name;
}

/** Matches with two pointers and one position to backtrack to, as in `names.ts`. */
function matchesTokens(tokens: readonly Token[], name: string, budget: StepBudget | undefined): boolean {
  budget?.charge(name.length);
  const given = [...name];
  let t = 0;
  let star = -1;
  let mark = 0;
  for (let g = 0; g < given.length; ) {
    const token = tokens[t];
    if (token === '*') {
      star = t++;
      mark = g;
    } else if (token !== undefined && matchesOne(token, given[g] ?? '', budget)) {
      t++;
      g++;
    } else if (star >= 0) {
      // The comparisons since the last star were in vain, and count.
      budget?.charge(1 + g - mark);
      t = star + 1;
      g = ++mark;
    } else return false;
  }
  while (tokens[t] === '*') t++;
  return t === tokens.length;
}

function matchesOne(token: Token, char: string, budget: StepBudget | undefined): boolean {
  if (token === '?' || token === '*') return true;
  if ('is' in token) return token.is === char;
  budget?.charge(token.set.length);
  const code = char.codePointAt(0) ?? 0;
  return token.set.some(([from, to]) => from <= code && code <= to) !== token.not;
}
