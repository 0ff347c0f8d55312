/**
 * Templates of text: `Dinner at {restaurant}` is a text that begins with "Dinner at " and goes on in the same line.
 *
 * A hole is `{name}`: one or more characters of one line, without control and invisible characters. `{name:PATTERN}` is
 * a hole with an RE2 pattern of its own, such as `{day:[0-9]{4}-[0-9]{2}-[0-9]{2}}`. Everything else stands for itself,
 * `{{` and `}}` for a brace. The whole text has to match. RE2 takes time in proportion to the text and to the size of the
 * pattern, whoever wrote it, and both are bounded.
 *
 * A template says what data may look like. It is for titles and messages, and not for commands and paths: those are
 * bounded by what they reach (a directory, a row of argv, `beneath`).
 */
import { CapError } from '@hob/vat/errors';
import { RE2JS } from 're2js';

const LONGEST_TEMPLATE = 1_000;
/** In characters. A longer text is no title and no message. */
const LONGEST_TEXT = 100_000;
/** Of one template, with a copy for each repetition. Compiling it took 10 ms. */
const LARGEST_TEMPLATE = 2_000;
/** Of all templates of a grant together. An agent may ask for any grant, and the host compiles what it asks for. */
export const largestTemplates = 10_000;
/** Size of the template times length of the text. Comparing took 60 ns for each of these at worst. */
const MOST_STEPS = 20_000_000;

/**
 * The characters of a hole: no control character, no invisible one, no line or paragraph separator. RE2 has no name for
 * fillers, joiners and variation selectors, which are letters and marks that a screen does not show.
 */
const UNSEEN =
  '\\x{34F}\\x{115F}\\x{1160}\\x{17B4}\\x{17B5}\\x{180B}-\\x{180F}\\x{2800}\\x{3164}\\x{FE00}-\\x{FE0F}\\x{FFA0}\\x{E0100}-\\x{E01EF}';
const HOLE = `[^\\p{C}\\p{Zl}\\p{Zp}${UNSEEN}]+`;
const HOLE_SIZE = 20;

const refuse = (what: string): never => {
  throw new CapError('invalid', what);
};

interface Part {
  /** A hole has a pattern, other text does not. */
  readonly isHole: boolean;
  readonly text: string;
}

/** Throws `invalid` for what is no template, and for one that is larger than `room.left`, which it takes from. */
export function checkTemplate(template: unknown, room: { left: number }): void {
  if (typeof template !== 'string' || template.length > LONGEST_TEMPLATE)
    return refuse(`like is a text of at most ${LONGEST_TEMPLATE} characters`);
  const parts = partsOf(template);
  if (!parts.some(({ isHole }) => isHole))
    refuse('like has at least one hole, such as {name}: for a fixed text use is');
  const size = sizeOf(parts);
  if (size > LARGEST_TEMPLATE)
    refuse('like is too large: repeat less in {name:PATTERN}, and write a repeated group out');
  room.left -= size;
  if (room.left < 0) refuse('the templates of a grant are too large together: use fewer, or repeat less in them');
  // Each pattern alone: a parenthesis that closes another one than its own would reach out of its hole.
  for (const { isHole, text } of parts) if (isHole) compiled(text);
  compiled(sourceOf(parts));
}

interface Matcher {
  readonly re2: RE2JS;
  readonly size: number;
}
const matchers = new WeakMap<object, Matcher>();

/** Whether a text is as the template of a bound says. `bound` is frozen, and is compiled once. */
export function isLike(bound: { readonly like: string }, value: unknown): boolean {
  if (typeof value !== 'string' || value.length > LONGEST_TEXT || !value.isWellFormed()) return false;
  let matcher = matchers.get(bound);
  if (matcher === undefined) {
    const parts = partsOf(bound.like);
    matcher = { re2: compiled(sourceOf(parts)), size: sizeOf(parts) };
    matchers.set(bound, matcher);
  }
  return value.length * matcher.size <= MOST_STEPS && matcher.re2.matches(value);
}

function compiled(source: string): RE2JS {
  try {
    return RE2JS.compile(source);
  } catch {
    return refuse('the pattern of a hole is no RE2 expression: write {name}, or {name:[0-9]+}');
  }
}

const sourceOf = (parts: readonly Part[]): string =>
  parts.map(({ isHole, text }) => (isHole ? `(?:${text})` : RE2JS.quote(text))).join('');

/** Roughly the steps of RE2 for each character of a text. Nothing is compiled to learn it. */
const sizeOf = (parts: readonly Part[]): number =>
  parts.reduce((size, { isHole, text }) => size + (text === HOLE ? HOLE_SIZE : isHole ? patternSize(text) : text.length), 0); // biome-ignore format: one line

/** RE2 copies what is repeated, as in `x{5}`. A repeated group may have repetitions in it, and these multiply. */
function patternSize(pattern: string): number {
  // A character by its number, \x{2013}, is no repetition, and \) closes no group.
  const plain = pattern.replaceAll(/\\(?:x\{[\dA-Fa-f]+\}|.)/gs, '.');
  const counts = [...plain.matchAll(/\{(\d+),?(\d*)\}/g)].map(([, least, most]) =>
    Math.max(Number(least), Number(most), 1),
  );
  return plain.includes('){')
    ? counts.reduce((size, count) => size * count, plain.length)
    : counts.reduce((size, count) => size + count, plain.length);
}

function partsOf(template: string): readonly Part[] {
  const parts: Part[] = [];
  let plain = '';
  for (let at = 0; at < template.length; at += 1) {
    const char = template[at] as string;
    if ((char === '{' || char === '}') && template[at + 1] === char) at += 1;
    else if (char === '}') refuse('like has a } without {: write }} for a brace');
    else if (char === '{') {
      const end = endOfHole(template, at);
      parts.push({ isHole: false, text: plain }, { isHole: true, text: holeOf(template.slice(at + 1, end)) });
      [plain, at] = ['', end];
      continue;
    }
    plain += char;
  }
  return [...parts, { isHole: false, text: plain }];
}

/** A pattern may have braces of its own, in pairs: `{year:[0-9]{4}}`. */
function endOfHole(template: string, from: number): number {
  let depth = 0;
  for (let at = from; at < template.length; at += 1) {
    if (template[at] === '{') depth += 1;
    if (template[at] === '}' && (depth -= 1) === 0) return at;
  }
  return refuse('like has a { without }: write {{ for a brace');
}

function holeOf(inside: string): string {
  const [, name, pattern] = /^([A-Za-z_][A-Za-z0-9_]{0,63})(?::(.+))?$/s.exec(inside) ?? [];
  if (name === undefined) return refuse('a hole is {name} or {name:PATTERN}, and its name has letters, digits and _');
  // \Q lasts until \E, which may be in another hole.
  if (pattern !== undefined && !/^(?:[^\\]|\\[^Q])*$/s.test(pattern))
    return refuse(
      'the pattern of a hole has \\Q, or ends with \\: write \\ before each character that stands for itself',
    );
  return pattern ?? HOLE;
}
