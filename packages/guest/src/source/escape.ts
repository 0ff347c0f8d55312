/**
 * Rewrites what SES would refuse by its text alone: `import(`, `<!--`, `-->` and `eval(` in strings, templates, regular
 * expressions, comments, and where they are other names or operators.
 *
 * Promise: the program's values stay as they were, byte for byte: of strings, templates (their raw text too) and regular
 * expressions (their `source` too). Only the text of a function (`String(f)`) shows that it was rewritten.
 * SES looks at text so that it need not parse; where the source has been parsed, and real imports refused, the
 * text alone does no harm, but no option of SES lets it through unchanged (`evade…` rewrites the strings of the program).
 */
import type { TaggedTemplateExpression, Token } from 'acorn';
import type { Edit } from './edits.ts';
import type { Parsed } from './parse.ts';
import { lastNotAbove, lineEnds, refusal } from './position.ts';
import { walk } from './walk.ts';

/** As SES looks for them, save that it lets some of them be after a dot. The first character is what gets rewritten. */
const REFUSED = /\bimport(?=\s*(?:\(|\/[/*]))|\beval(?=\s*\()|<!--|-->/g;

export interface Escaped {
  readonly edits: readonly Edit[];
  /** What the rewritten program takes from around it: a name, and an expression for it. */
  readonly hoisted: readonly (readonly [name: string, expression: string])[];
}

export function escaped(parsed: Parsed): Escaped {
  const { source, tokens, comments } = parsed;
  const edits: Edit[] = [];
  const hoisted: [string, string][] = [];
  let prefix: string | undefined;
  const hoist = (expression: string): string => {
    prefix ??= fresh(source);
    const name = `${prefix}${hoisted.length}`;
    hoisted.push([name, expression]);
    return name;
  };

  for (const { start, value } of comments) {
    // The engine takes the name of the program, and that of a file to read, from such a comment.
    const names = /^[#@]\s*source(?:Mapping)?URL/.test(value);
    if (source.startsWith('#!', start)) edits.push({ from: start, to: start + 2, text: '//' });
    else if (names) edits.push({ from: start + 2, to: start + 3, text: ' ' });
  }

  const commentStarts = comments.map((comment) => comment.start);
  const tokenStarts = tokens.map((token) => token.start);
  let known: Shapes | undefined;
  const rewritten = new Set<object>();
  for (const { index: at } of source.matchAll(REFUSED)) {
    const comment = comments[lastNotAbove(commentStarts, at)];
    if (comment !== undefined && at >= comment.start && at < comment.end) {
      edits.push({ from: at, to: at + 1, text: ' ' });
      continue;
    }
    const token = tokens[lastNotAbove(tokenStarts, at)] as Token;
    const { label } = token.type;
    if (label !== 'regexp' && label !== 'template' && label !== 'invalidTemplate') {
      edits.push(escapedIn(parsed, token, at));
      continue;
    }
    known ??= shapes(parsed);
    const tag = known.tagged.get(token.start);
    const all = label === 'regexp' ? token : tag;
    if (all === undefined) edits.push(escapedIn(parsed, token, at));
    else if (!rewritten.has(all)) {
      rewritten.add(all);
      const brackets = known.called.has(all.start);
      if (tag === undefined) edits.push(asObject(parsed, token, hoist, brackets));
      else edits.push(...asCall(parsed, tag, hoist, brackets));
    }
  }
  return { edits, hoisted };
}

/** One place in a token whose value an escape keeps: a string, an untagged template, a name; or in an operator. */
function escapedIn({ source, lines }: Parsed, token: Token, at: number): Edit {
  const char = source[at] as string;
  const code = char.charCodeAt(0).toString(16).padStart(2, '0');
  switch (token.type.label) {
    case 'string':
    case 'template':
      // `\i` is an i: the escape takes the backslash with it.
      return { from: isEscaped(source, at) ? at - 1 : at, to: at + 1, text: `\\x${code}` };
    case 'name':
    case 'privateId':
    case 'import':
      return { from: at, to: at + 1, text: `\\u00${code}` };
    default:
      // `a<!--b` is `a < !--b`, and `a-->b` is `a-- > b`.
      if (char === '<') return { from: at + 1, to: at + 1, text: ' ' };
      if (char === '-') return { from: at + 2, to: at + 2, text: ' ' };
      throw refusal(lines.at(at), `\`${source.slice(at, at + 6)}\` cannot stand here. Write it otherwise`);
  }
}

function isEscaped(source: string, at: number): boolean {
  let backslashes = 0;
  while (source[at - 1 - backslashes] === '\\') backslashes += 1;
  return backslashes % 2 === 1;
}

interface Shapes {
  /** Tagged templates by where their pieces of text begin. */
  readonly tagged: ReadonlyMap<number, TaggedTemplateExpression>;
  /** Where one of those, or a regular expression, begins that is part of what `new` calls: a call there needs brackets. */
  readonly called: ReadonlySet<number>;
}

function shapes({ tree }: Parsed): Shapes {
  const tagged = new Map<number, TaggedTemplateExpression>();
  const called = new Set<number>();
  walk(tree, (node, above) => {
    const isTagged = node.type === 'TaggedTemplateExpression';
    if (isTagged) for (const { start } of node.quasi.quasis) tagged.set(start, node);
    if (!isTagged && !(node.type === 'Literal' && node.regex)) return;
    const path = [...above, node];
    if (above.some((outer, index) => outer.type === 'NewExpression' && outer.callee === path[index + 1]))
      called.add(node.start);
  });
  return { tagged, called };
}

type Hoist = (expression: string) => string;

/**
 * A tagged template as the call that it is. Its tag sees the raw text, which no escape could keep; so the object that holds
 * both texts is made outside, once, as the engine would.
 */
function asCall({ source }: Parsed, tag: TaggedTemplateExpression, hoist: Hoist, brackets: boolean): Edit[] {
  const { quasis, expressions } = tag.quasi;
  const cooked = quasis.map(({ value }) => (value.cooked == null ? 'undefined' : quoted(value.cooked)));
  const raw = quasis.map(({ value }) => quoted(value.raw));
  const name = hoist(
    `Object.freeze(Object.defineProperty([${cooked.join(',')}],'raw',{value:Object.freeze([${raw.join(',')}])}))`,
  );
  const edits: Edit[] = brackets ? [{ from: tag.start, to: tag.start, text: '(' }] : [];
  for (const [index, quasi] of quasis.entries()) {
    const last = index === expressions.length;
    // From the backtick, or the `}` before it, to after the `${` that follows, or the backtick.
    const from = index === 0 ? tag.quasi.start : quasi.start - 1;
    const to = last ? tag.quasi.end : quasi.end + 2;
    // Brackets keep `${a, b}` one argument.
    const begin = index === 0 ? `(${name}` : ')';
    const end = last ? `)${brackets ? ')' : ''}` : ',(';
    edits.push({ from, to, text: begin + lineEnds(source.slice(from, to)) + end });
  }
  return edits;
}

/** A regular expression made from a string: an escape in the pattern itself would show in its `source`. */
function asObject({ source }: Parsed, { start, end }: Token, hoist: Hoist, brackets: boolean): Edit {
  const literal = source.slice(start, end);
  const close = literal.lastIndexOf('/');
  const made = `${hoist('RegExp')}(${quoted(literal.slice(1, close))},${quoted(literal.slice(close + 1))})`;
  // `return/x/` needs the space.
  return { from: start, to: end, text: brackets ? ` (${made})` : ` ${made}` };
}

/** A string literal in which SES finds nothing. */
const quoted = (text: string): string =>
  JSON.stringify(text).replace(REFUSED, (match) => `\\x${match.charCodeAt(0).toString(16)}${match.slice(1)}`);

/** The begin of names that the source does not use. */
export function fresh(source: string): string {
  let name = 'hob$';
  while (source.includes(name)) name += '$';
  return name;
}
