/**
 * Parses the model's source, or refuses it with the position and what to write instead.
 *
 * Promise: the result is one complete program of plain JavaScript. It cannot close a bracket that it did not
 * open. After `refuse` it has no dynamic import, no `import.meta` and no direct `eval`. A program may `await`
 * and `return` at its top level. A module may import and export there.
 */
import { CapError } from '@hob/vat';
import { parse as acorn, type Comment, type Program, type Token } from 'acorn';
import { Lines, refusal } from './position.ts';
import { type Tree, walk } from './walk.ts';

/** A program has a value (`return`), a module has exports. */
export type SourceKind = 'program' | 'module';

export interface Parsed {
  readonly source: string;
  readonly lines: Lines;
  readonly tree: Program;
  readonly tokens: readonly Token[];
  readonly comments: readonly Comment[];
}

/**
 * The most characters of one source. A model does not write a longer program, and reading it would take long.
 */
export const LONGEST: number = 256 * 1024;

/**
 * Parses plain JavaScript. Returns the error, and does not throw it, if the source may be valid TypeScript.
 */
export function parse(source: string, kind: SourceKind): Parsed | CapError {
  if (source.length > LONGEST)
    throw new CapError('limit', `a source of ${source.length} characters; ${LONGEST} are read. Put data into a file`);
  const lines = new Lines(source);
  const tokens: Token[] = [];
  const comments: Comment[] = [];
  let tree: Program;
  try {
    tree = acorn(source, {
      ecmaVersion: 'latest',
      // The strict grammar, in which `<!--` is no comment.
      sourceType: 'module',
      allowReturnOutsideFunction: kind === 'program',
      allowHashBang: true,
      onToken: tokens,
      onComment: comments,
    });
  } catch (error) {
    return syntaxError(error, lines, kind);
  }
  return { source, lines, tree, tokens, comments };
}

/** Whether a `<` and a `>` that JavaScript reads as comparisons may be meant as type arguments. */
export function mayMeanTypes({ tree, source }: Parsed): boolean {
  let may = false;
  walk(tree, (node) => {
    if (node.type !== 'BinaryExpression' || node.operator !== '>' || node.left.type !== 'BinaryExpression') return;
    if (node.left.operator === '<' && source[node.right.start - 1] === '(') may = true;
    if (node.left.operator === '<' && source[node.right.start] === '(') may = true;
  });
  return may;
}

const DIRECT_EVAL = '`eval` called as such sees what is around it, which nothing here may: write a function instead';
export const OTHER_MODULE: string = 'nothing can be loaded from here. Use what you hold, by its name';

/** Throws for valid JavaScript that is not allowed here. */
export function refuse({ tree, lines }: Parsed, kind: SourceKind): void {
  walk(tree, (node, above) => {
    const what = refused(node, kind) ?? (kind === 'module' ? waits(node, above) : undefined);
    if (what !== undefined) throw refusal(lines.at(node.start), what);
  });
}

function refused(node: Tree, kind: SourceKind): string | undefined {
  switch (node.type) {
    case 'ImportExpression':
      return `a dynamic import: ${OTHER_MODULE}`;
    case 'MetaProperty':
      return node.meta.name === 'import' ? '`import.meta`: this comes from no file. Leave it out' : undefined;
    case 'CallExpression':
      return isEval(node.callee) ? DIRECT_EVAL : undefined;
    case 'TaggedTemplateExpression':
      return isEval(node.tag) ? DIRECT_EVAL : undefined;
    case 'ImportDeclaration':
      return kind === 'program' ? `an import of "${node.source.value}": ${OTHER_MODULE}` : undefined;
    case 'ExportNamedDeclaration':
      if (kind === 'program') return NO_EXPORT;
      return node.source == null ? undefined : `an export from elsewhere: ${OTHER_MODULE}`;
    case 'ExportDefaultDeclaration':
      return kind === 'program' ? NO_EXPORT : undefined;
    case 'ExportAllDeclaration':
      return kind === 'program' ? NO_EXPORT : `an export from elsewhere: ${OTHER_MODULE}`;
    default:
      return undefined;
  }
}

const NO_EXPORT = 'an export: nobody imports a program. Its value is what it returns: `return …`';

const isEval = (callee: Tree): boolean => callee.type === 'Identifier' && callee.name === 'eval';

/**
 * Refuses an `await` outside functions: a module is evaluated at once, and the answer would come too late.
 */
function waits(node: Tree, above: readonly Tree[]): string | undefined {
  const waiting = node.type === 'AwaitExpression' || (node.type === 'ForOfStatement' && node.await);
  if (!waiting || above.some((outer) => FUNCTIONS.has(outer.type))) return undefined;
  return 'an `await` outside functions: a module of actors is evaluated at once. Ask in an actor, with `E`';
}

const FUNCTIONS: ReadonlySet<string> = new Set([
  'FunctionDeclaration',
  'FunctionExpression',
  'ArrowFunctionExpression',
]);

/**
 * Turns an error of `acorn` into a refusal. Throws it if the remedy is known, because types cannot fix such a
 * source.
 */
function syntaxError(error: unknown, lines: Lines, kind: SourceKind): CapError {
  const { pos, message } = error as { readonly pos?: number; readonly message?: string };
  if (!(error instanceof SyntaxError) || pos === undefined) {
    // The source is nested too deeply for the parser's stack.
    if (error instanceof RangeError) throw refusal({ line: 1, column: 1 }, 'nested too deeply. Write it flatter');
    throw error;
  }
  const plain = (message ?? '').replace(/ \(\d+:\d+\)$/, '');
  const remedy = REMEDIES.find(([pattern]) => pattern.test(plain))?.[1](kind);
  if (remedy !== undefined) throw refusal(lines.at(pos), remedy);
  return refusal(lines.at(pos), `${plain}. Mend it there`);
}

const REMEDIES: readonly (readonly [pattern: RegExp, remedy: (kind: SourceKind) => string])[] = [
  [/^'with' in strict mode/, () => 'a `with` statement: write the object before each name, `object.name`'],
  [/^Not enough stack space/, () => 'nested too deeply. Write it flatter'],
  [
    /^'return' outside of function/,
    () => 'a `return` outside functions: a module of actors has exports, `export const Name = define(…)`',
  ],
  [
    /^(?:Cannot use keyword 'await'|.*\bawait\b.*async function)/,
    () => 'an `await` in a function that is not `async`: write `async` before it',
  ],
  [
    /^'import' and 'export' may only appear at the top level/,
    (kind) =>
      kind === 'program'
        ? `an import or export: ${OTHER_MODULE}`
        : 'an import or export inside something: put it at the top level',
  ],
  [
    /^Unterminated string constant/,
    () => 'a string that does not end on its line: close it, or write it between backticks',
  ],
  [/^Unterminated template/, () => 'a template that does not end: close it with a backtick'],
];
