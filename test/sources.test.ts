/** The reader of sources is not fooled. */
import { expect, test } from 'vitest';
import { blank, filesIn, importsComputed, importsOf, isTypeScript, read } from './sources.ts';

test('comments and the inside of strings, templates and regular expressions become blanks of the same length', () => {
  const samples: [string, string][] = [
    ['a // fetch', 'a         '],
    ['a /* fetch */ b', 'a             b'],
    ["'it\\'s' + x", "'     ' + x"],
    ['`a ${fetch(`${x}`)} b`', '`  ${fetch(`${x}`)}  `'],
    ['x = /[/"]fetch/g; y', 'x = /         /g; y'],
    ["a / b / c; 'x'", "a / b / c; ' '"],
    ['return /fetch/', 'return /     /'],
    ['(a) / fetch / 2', '(a) / fetch / 2'],
    ['"// no comment" + fetch', '"             " + fetch'],
    ['`${{ a: 1 }}` + fetch', '`${{ a: 1 }}` + fetch'],
  ];
  for (const [source, expected] of samples) expect(blank(source), source).toBe(expected);
});

test('every way to import is found, and no other', () => {
  const specifiers = (text: string) =>
    importsOf(text).map(({ specifier, typeOnly }) => (typeOnly ? `type ${specifier}` : specifier));
  expect(specifiers("import { a,\n b as c } from 'x'")).toEqual(['x']);
  expect(specifiers('import d, * as e from "x"; import \'y\'')).toEqual(['x', 'y']);
  expect(specifiers("export * from './a.ts'; export { b } from './b.ts'")).toEqual(['./a.ts', './b.ts']);
  expect(specifiers("const m = await import('m'); require('n')")).toEqual(['m', 'n']);
  expect(specifiers("import type { T } from 't'; export type { U } from 'u'")).toEqual(['type t', 'type u']);
  // Not erased: what is left is `import {} from 'x'`, which runs it.
  expect(specifiers("import { type T } from 'x'; import type from 'y'")).toEqual(['x', 'y']);
  expect(specifiers("// import 'a'\nconst s = \"import 'b'\"; a.import('c')")).toEqual([]);
  expect(importsComputed('import(name)')).toBe(true);
  expect(importsComputed("import('name'); importMap(name)")).toBe(false);
});

test('every source of ours is read to its end: no quote or brace is left open', () => {
  for (const file of filesIn().filter(isTypeScript)) {
    const code = blank(read(file).text);
    const count = (char: string) => code.split(char).length - 1;
    expect([count('{') - count('}'), count('(') - count(')'), count("'") % 2, count('`') % 2], file).toEqual([
      0, 0, 0, 0,
    ]);
  }
});
