/**
 * Rewrites text that SES would refuse without parsing it: `import(`, `<!--`, `-->` and `eval(` in strings,
 * templates, regular expressions and comments, and as other names or operators.
 *
 * Promise: the values of the program stay the same, byte for byte: strings, templates (also their raw text)
 * and regular expressions (also their `source`). Only the text of a function (`String(f)`) shows the
 * rewriting. SES looks at the text so that it need not parse it. Here the source was parsed and real imports
 * were refused, so the text alone does no harm. No option of SES lets it through unchanged (its `evade…`
 * options change the strings of the program).
 */
import type { TaggedTemplateExpression, Token } from 'acorn';
import type { Edit } from './edits.ts';
import type { Parsed } from './parse.ts';
import { lastNotAbove, lineEnds, refusal } from './position.ts';
import { walk } from './walk.ts';

/**
 * The patterns of SES, which allows some of them after a dot. The first character of a match is rewritten.
 */
const REFUSED = /\bimport(?=\s*(?:\(|\/[/*]))|\beval(?=\s*\()|<!--|-->/g;

interface Escaped {
  readonly edits: readonly Edit[];
  /** Names that the rewritten program expects around it, each with the expression for its value. */
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
    // The engine would take the name of the program, or the name of a file to read, from such a comment.
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

/**
 * Rewrites one position in a token that keeps its value: a string, an untagged template, a name or an
 * operator.
 */
function escapedIn({ source, lines }: Parsed, token: Token, at: number): Edit {
  const char = source[at] as string;
  const code = char.charCodeAt(0).toString(16).padStart(2, '0');
  switch (token.type.label) {
    case 'string':
    case 'template':
      // `\i` is an i, so the escape also replaces the backslash.
      return { from: isEscaped(source, at) ? at - 1 : at, to: at + 1, text: `\\x${code}` };
    case 'name':
    case 'privateId':
    case 'import':
      return { from: at, to: at + 1, text: `\\u00${code}` };
    default:
      // `a<!--b` is `a < !--b`, and `a-->b` is `a-- > b`.
      if (char === '<') return { from: at + 1, to: at + 1, text: ' ' };
      if (char === '-') return { from: at + 2, to: at + 2, text: ' ' };
      throw refusal(lines.at(at), `\`${source.slice(at, at + 6)}\` is not allowed here. Write it another way`);
  }
}

function isEscaped(source: string, at: number): boolean {
  let backslashes = 0;
  while (source[at - 1 - backslashes] === '\\') backslashes += 1;
  return backslashes % 2 === 1;
}

interface Shapes {
  /** Tagged templates, by the offsets of their pieces of text. */
  readonly tagged: ReadonlyMap<number, TaggedTemplateExpression>;
  /**
   * Offsets of tagged templates and regular expressions in the callee of `new`. A call there needs brackets.
   */
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
 * Rewrites a tagged template as a call. The tag sees the raw text, which an escape would change. So the
 * object with both texts is made once outside of the program, as the engine would make it.
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
    // From the opening backtick or the `}` before the text to the `${` after it or the closing backtick.
    const from = index === 0 ? tag.quasi.start : quasi.start - 1;
    const to = last ? tag.quasi.end : quasi.end + 2;
    // Brackets keep `${a, b}` one argument.
    const begin = index === 0 ? `(${name}` : ')';
    const end = last ? `)${brackets ? ')' : ''}` : ',(';
    edits.push({ from, to, text: begin + lineEnds(source.slice(from, to)) + end });
  }
  return edits;
}

/**
 * Rewrites a regular expression as `RegExp(string)`. An escape in the pattern itself would show in its
 * `source`.
 */
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

/** Returns a prefix for names that the source does not use. */
export function fresh(source: string): string {
  let name = 'hob$';
  while (source.includes(name)) name += '$';
  return name;
}
