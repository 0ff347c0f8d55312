/**
 * The model's source as a syntax tree, or a refusal that says where and what to write instead.
 *
 * Promise: what comes out of here is one whole program of plain JavaScript: it cannot close a bracket that it did not
 * open, and it holds no dynamic import, no `import.meta` and no direct `eval`. A program may `await` and `return` at its top
 * level; a module may import and export there.
 */
import { CapError } from '@hob/vat';
import { parse as acorn, type Comment, type Program, type Token } from 'acorn';
import { Lines, refusal } from './position.ts';
import { type Tree, walk } from './walk.ts';

/** A program has a value (`return`), a module has exports. */
export type Kind = 'program' | 'module';

export interface Parsed {
  readonly source: string;
  readonly lines: Lines;
  readonly tree: Program;
  readonly tokens: readonly Token[];
  readonly comments: readonly Comment[];
}

/** Characters of one source. More is no program that a model writes in one go, and reading it would take its time. */
export const LONGEST: number = 256 * 1024;

/** Reads plain JavaScript; answers, does not throw, the refusal of one that may be right with types in it. */
export function parse(source: string, kind: Kind): Parsed | CapError {
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

/** Whether `<` and `>` in it may have been meant as type arguments, which plain JavaScript reads as comparisons. */
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

/** Throws for what is JavaScript and cannot be had here. */
export function refuse({ tree, lines }: Parsed, kind: Kind): void {
  walk(tree, (node, above) => {
    const what = refused(node, kind) ?? (kind === 'module' ? waits(node, above) : undefined);
    if (what !== undefined) throw refusal(lines.at(node.start), what);
  });
}

function refused(node: Tree, kind: Kind): string | undefined {
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

/** A module is evaluated at once: what it waits for would come after it was loaded. */
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

/** What `acorn` says, as a refusal. Thrown where the remedy is known: no types could make such a source right. */
function syntaxError(error: unknown, lines: Lines, kind: Kind): CapError {
  const { pos, message } = error as { readonly pos?: number; readonly message?: string };
  if (!(error instanceof SyntaxError) || pos === undefined) {
    // A source that is too deep for the parser's stack.
    if (error instanceof RangeError) throw refusal({ line: 1, column: 1 }, 'nested too deeply. Write it flatter');
    throw error;
  }
  const plain = (message ?? '').replace(/ \(\d+:\d+\)$/, '');
  const remedy = REMEDIES.find(([said]) => said.test(plain))?.[1](kind);
  if (remedy !== undefined) throw refusal(lines.at(pos), remedy);
  return refusal(lines.at(pos), `${plain}. Mend it there`);
}

const REMEDIES: readonly (readonly [said: RegExp, remedy: (kind: Kind) => string])[] = [
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
