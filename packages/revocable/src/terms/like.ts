/**
 * Templates of text: `Dinner at {restaurant}` is a text that begins with "Dinner at " and goes on in the same line.
 *
 * A hole is `{name}`: one or more characters of one line, without control and invisible characters. `{name:PATTERN}` is
 * a hole with an RE2 pattern of its own, such as `{day:[0-9]{4}-[0-9]{2}-[0-9]{2}}`. Everything else stands for itself,
 * `{{` and `}}` for a brace. The whole text has to match. RE2 takes time in proportion to the text, whoever wrote the
 * pattern.
 *
 * A template says what data may look like. It is for titles and messages, and not for commands and paths: those are
 * bounded by what they reach (a directory, a row of argv, `beneath`).
 */
import { CapError } from '@hob/vat';
import { RE2JS } from 're2js';

const LONGEST_TEMPLATE = 1_000;
/** In characters. A longer text is no title and no message. */
const LONGEST_TEXT = 100_000;

/** The characters of a hole: no control character, no invisible one, no line or paragraph separator. */
const HOLE = '[^\\p{C}\\p{Zl}\\p{Zp}]+';

const refuse = (what: string): never => {
  throw new CapError('invalid', what);
};

interface Part {
  /** A hole has a pattern, other text does not. */
  readonly isHole: boolean;
  readonly text: string;
}

/** Throws `invalid` for what is no template. */
export function checkTemplate(template: unknown): void {
  if (typeof template !== 'string' || template.length > LONGEST_TEMPLATE)
    return refuse(`like is a text of at most ${LONGEST_TEMPLATE} characters`);
  const parts = partsOf(template);
  if (!parts.some(({ isHole }) => isHole))
    refuse('like has at least one hole, such as {name}: for a fixed text use is');
  // Each pattern alone: a parenthesis that closes another one than its own would reach out of its hole.
  for (const { isHole, text } of parts) if (isHole) compiled(text);
  compiled(sourceOf(parts));
}

const matchers = new WeakMap<object, RE2JS>();

/** Whether a text is as the template of a bound says. `bound` is frozen, and is compiled once. */
export function isLike(bound: { readonly like: string }, value: unknown): boolean {
  if (typeof value !== 'string' || value.length > LONGEST_TEXT || !value.isWellFormed()) return false;
  let matcher = matchers.get(bound);
  if (matcher === undefined) {
    matcher = compiled(sourceOf(partsOf(bound.like)));
    matchers.set(bound, matcher);
  }
  return matcher.matches(value);
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
  return pattern ?? HOLE;
}
