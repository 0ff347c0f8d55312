/** A reader can hold one file and one function in mind: product code stays within these sizes. */
import { expect, test } from 'vitest';
import { parseAst } from 'vitest/node';
import { filesIn, isPythonProduct, isTest, isTypeScript, packages, read, type Source } from './sources.ts';

const MOST_LINES = 400;
const MOST_LINES_OF_A_FUNCTION = 80;

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
}

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value;

/** The functions of a program that have a body, also those within others. */
function* functionsIn(node: Node): Generator<Node> {
  if (/Function/.test(node.type) && 'body' in node && isNode(node.body)) yield node;
  for (const value of Object.values(node))
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) yield* functionsIn(child);
}

const lines = (text: string): number => text.split('\n').length;

/** The functions of a C file as we write them: their last brace begins a line. */
function* functionsInC(text: string): Generator<Node> {
  for (const { index, 0: body } of text.matchAll(/^[A-Za-z][^;={}]*\([^;{}]*\) \{\n[\s\S]*?^\}/gm))
    yield { type: 'Function', start: index, end: index + body.length };
}

/** The functions of a Python file: each goes on to its last line that stands further in than its `def`. */
function* functionsInPython(text: string): Generator<Node> {
  for (const { index, 0: head, groups } of text.matchAll(/^(?<indent> *)(?:async )?def [\s\S]*?:(?: *#.*)?\n/gm)) {
    const further = new RegExp(`(?:(?:${groups?.['indent'] ?? ''} +\\S.*)?\\n)*`, 'y');
    further.lastIndex = index + head.length;
    const body = further.exec(`${text}\n`)?.[0] ?? '';
    yield { type: 'Function', start: index, end: index + head.length + body.trimEnd().length };
  }
}

/** The parts of a file that are over a limit. */
function tooLong({ file, text }: Source): string[] {
  const found: string[] = [];
  const all = lines(text.trimEnd());
  if (all > MOST_LINES) found.push(`${file} has ${all} lines`);
  for (const { start, end } of functionsOf(file, text)) {
    const long = lines(text.slice(start, end));
    if (long > MOST_LINES_OF_A_FUNCTION)
      found.push(`${file}:${lines(text.slice(0, start))} begins a function of ${long} lines`);
  }
  return found;
}

function functionsOf(file: string, text: string): Generator<Node> {
  if (isC(file)) return functionsInC(text);
  if (file.endsWith('.py')) return functionsInPython(text);
  return functionsIn(parseAst(text, { lang: file.endsWith('x') ? 'tsx' : 'ts' }) as unknown as Node);
}

const isC = (file: string): boolean => /\.[ch]$/.test(file);

/** The C parts are product, too: they stand beside `src`. */
const productsInC = packages.flatMap((name) =>
  filesIn(`packages/${name}`).filter((file) => isC(file) && /^packages\/[^/]+\/(?:native|sandbox)\//.test(file)),
);

const productsInPython = filesIn('packages').filter(isPythonProduct);

const products = packages
  .flatMap((name) => filesIn(`packages/${name}/src`))
  .filter((file) => isTypeScript(file) && !isTest(file));

test(`no product file has more than ${MOST_LINES} lines, and no function more than ${MOST_LINES_OF_A_FUNCTION}`, () => {
  expect(products.length).toBeGreaterThan(100);
  expect(productsInC.length).toBeGreaterThan(15);
  expect(productsInPython.length).toBeGreaterThan(50);
  expect([...products, ...productsInC, ...productsInPython].flatMap((file) => tooLong(read(file)))).toEqual([]);
});

test('a long file and every kind of long function are found, and no short one', () => {
  const body = `{${'\n'.repeat(MOST_LINES_OF_A_FUNCTION)}}`;
  const found = (text: string): string[] => tooLong({ file: 'a.ts', text });
  for (const head of [
    'function f(): void ',
    'export const f = <T>(x: T): T => ',
    'class C { static #f() ',
    'const o = { f() ',
  ])
    expect(found(`\n${head}${body}${/[{]/.test(head) ? '}' : ''}`), head).toEqual([
      `a.ts:2 begins a function of ${MOST_LINES_OF_A_FUNCTION + 1} lines`,
    ]);
  expect(found(`function f(): void { return () => ${body} }`).length).toBe(2);
  expect(found('x;\n'.repeat(MOST_LINES))).toEqual([]);
  expect(found('x;\n'.repeat(MOST_LINES + 1))).toEqual([`a.ts has ${MOST_LINES + 1} lines`]);
  const inC = `static int f(int a,\n             int b) {${'\n'.repeat(MOST_LINES_OF_A_FUNCTION)}}\n`;
  expect(tooLong({ file: 'a.c', text: `struct s {\n  int a;\n};\n${inC}` })).toEqual([
    `a.c:4 begins a function of ${MOST_LINES_OF_A_FUNCTION + 2} lines`,
  ]);
  const inPython = `class A:\n    async def f(\n        self,\n    ) -> int:\n${'        a = 1\n\n'.repeat(40)}        return a\n\n    b = 1\n`;
  expect(tooLong({ file: 'a.py', text: `\n${inPython}` })).toEqual(['a.py:3 begins a function of 84 lines']);
  expect(tooLong({ file: 'a.py', text: inPython.replaceAll('a = 1\n\n', 'a = 1\n') })).toEqual([]);
  expect(found(`interface I ${body}\nfunction f(): void ${body.slice(0, -2)}}`)).toEqual([]);
});
