/**
 * Path patterns: `*`, `?`, `[a-z]` within a name, `**` for any number of names, `{a,b}` for one of several.
 *
 * Promise: a pattern is matched against the names of a walk, and no path is ever made from a pattern.
 * Matching takes steps in proportion to pattern times name, whatever the pattern (picomatch did not finish
 * `'*a'.repeat(20)` in 100 s). Braces expand to at most 64 alternatives. It imports only modules that import
 * nothing, so that a search thread starts fast.
 */
import type { Work } from './work.ts';

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

type Token =
  | '*'
  | '?'
  | { readonly set: readonly (readonly [from: number, to: number])[]; readonly not: boolean }
  | { readonly is: string };
type Segment =
  | '**'
  | {
      readonly tokens: readonly Token[];
      readonly dot: boolean;
      /** The name, if the segment matches exactly one name. */
      readonly is: string | undefined;
    };

const maxAlternatives = 64;

/** A malformed pattern. The message is safe to show. */
export class GlobError extends Error {}

export interface GlobOptions {
  /** The budget for parsing and matching. */
  readonly work?: Work | undefined;
  /** Whether `*` and `?` match a name that begins with a dot. */
  readonly dots?: boolean;
}

export function parseGlob(pattern: string, { dots = false, work }: GlobOptions = {}): Glob {
  work?.charge(pattern.length);
  const alternatives = expand(pattern).map((one) => segmentsOf(one));
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
      work?.charge(1 + state.length);
      const next: number[] = [];
      const hidden = !dots && name.startsWith('.');
      for (const place of state) {
        const segment = flat[place];
        if (segment === '**') {
          if (!hidden) next.push(place);
        } else if (segment && (!hidden || segment.dot) && matchesSegment(segment, name, work)) next.push(place + 1);
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
    } else if (char === '}' && depth > 0 && --depth === 0 && parts.length > 0) {
      return { from, to: i, parts: [...parts, text.slice(start, i)] };
    }
  }
  return undefined;
}

function segmentsOf(pattern: string): Segment[] {
  const segments: Segment[] = [];
  for (const part of pattern.split('/')) {
    if (part === '' || part === '.') continue;
    if (part === '..') throw new GlobError('a pattern goes down only');
    // Several `**` in a row mean the same as one and would cost more.
    if (part !== '**') segments.push(segmentOf(part));
    else if (segments.at(-1) !== '**') segments.push('**');
  }
  if (segments.length === 0) throw new GlobError('a pattern names something');
  return segments;
}

function segmentOf(part: string): Segment {
  const chars = [...part];
  const tokens: Token[] = [];
  for (let i = 0; i < chars.length; i++) {
    const char = chars[i] ?? '';
    if (char === '\\' && i + 1 < chars.length) tokens.push({ is: chars[++i] ?? '' });
    else if (char === '?') tokens.push('?');
    else if (char === '*') {
      if (tokens.at(-1) !== '*') tokens.push('*');
    } else {
      const set = char === '[' ? setAt(chars, i) : undefined;
      tokens.push(set ? set.token : { is: char });
      if (set) i = set.end;
    }
  }
  const names = tokens.map((token) => (typeof token === 'object' && 'is' in token ? token.is : undefined));
  const is = names.includes(undefined) ? undefined : names.join('');
  return { tokens, dot: part.startsWith('.') || part.startsWith('\\.'), is };
}

function matchesSegment({ tokens, is }: Exclude<Segment, '**'>, name: string, work: Work | undefined): boolean {
  return is === undefined ? matchesTokens(tokens, name, work) : is === name;
}

function setAt(chars: readonly string[], open: number): { readonly token: Token; readonly end: number } | undefined {
  let i = open + 1;
  const not = chars[i] === '!' || chars[i] === '^';
  if (not) i++;
  const set: [number, number][] = [];
  for (let first = true; i < chars.length; i++, first = false) {
    if (chars[i] === ']' && !first) return { token: { set, not }, end: i };
    if (chars[i] === '\\' && i + 1 < chars.length) i++;
    const from = chars[i]?.codePointAt(0) ?? 0;
    let to = from;
    if (chars[i + 1] === '-' && chars[i + 2] !== undefined && chars[i + 2] !== ']') {
      to = chars[i + 2]?.codePointAt(0) ?? 0;
      i += 2;
    }
    set.push([from, to]);
  }
  return undefined;
}

/** Matches with two pointers and one position to backtrack to, as in `names.ts`. */
function matchesTokens(tokens: readonly Token[], name: string, work: Work | undefined): boolean {
  work?.charge(name.length);
  const given = [...name];
  let t = 0;
  let star = -1;
  let mark = 0;
  for (let g = 0; g < given.length; ) {
    const token = tokens[t];
    if (token === '*') {
      star = t++;
      mark = g;
    } else if (token !== undefined && matchesOne(token, given[g] ?? '', work)) {
      t++;
      g++;
    } else if (star >= 0) {
      // The comparisons since the last star were in vain, and count.
      work?.charge(1 + g - mark);
      t = star + 1;
      g = ++mark;
    } else return false;
  }
  while (tokens[t] === '*') t++;
  return t === tokens.length;
}

function matchesOne(token: Token, char: string, work: Work | undefined): boolean {
  if (token === '?' || token === '*') return true;
  if ('is' in token) return token.is === char;
  work?.charge(token.set.length);
  const code = char.codePointAt(0) ?? 0;
  return token.set.some(([from, to]) => from <= code && code <= to) !== token.not;
}
