/** The reader of sources is not fooled. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { requires } from './needs.ts';
import { blank, filesIn, filesOfCheckout, importsComputed, importsOf, isTypeScript, read } from './sources.ts';

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

requires('git')('a file that git ignores is none of ours; one that is new is, and one that is deleted is not', () => {
  const root = mkdtempSync(join(tmpdir(), 'hob-checkout-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const folder of ['a', 'a/dist', 'notes']) mkdirSync(join(root, folder));
  const names = ['.gitignore', 'a/known', 'a/new', 'a/deleted', 'a/dist/made', 'notes/mine', 'x.log'];
  for (const name of names) writeFileSync(join(root, name), name === '.gitignore' ? 'notes/\n*.log\n' : '');
  symlinkSync('known', join(root, 'a/link'));
  // Without git, or in somebody else's checkout, nothing says what is ours.
  const all = names.filter((name) => name !== 'a/dist/made');
  expect(filesOfCheckout(root)).toEqual([...all].sort());
  execFileSync('git', ['-C', root, 'init', '-q']);
  execFileSync('git', ['-C', root, 'add', 'a/known', 'a/deleted', '.gitignore']);
  rmSync(join(root, 'a/deleted'));
  expect(filesOfCheckout(root)).toEqual(['.gitignore', 'a/known', 'a/new']);
  expect(filesOfCheckout(join(root, 'notes'))).toEqual(['mine']);
});
