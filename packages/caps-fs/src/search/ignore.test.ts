import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { volume } from '../../../../test/depth.ts';
import { requires } from '../../../../test/needs.ts';
import { scratch } from '../../test/scratch.ts';
import { IgnoreRules } from './ignore.ts';
import { StepBudget, TooMuch } from './step-budget.ts';

const saidBy = (text: string) => {
  const rules = new IgnoreRules(text);
  return (name: string, directory = false) => rules.ignores(name.split('/'), directory);
};

test('rules of .gitignore: the last one decides, ! takes back, / binds', () => {
  const said = saidBy(
    '\ufeff# comment\n*.log\n!keep.log\n/only-here\nbuild/\ndocs/*.txt\n\\#odd\nspace\\ \n\n[\n**/deep/x\r\n!\n/\n',
  );
  expect([said('a.log'), said('d/a.log'), said('d/keep.log')]).toEqual([true, true, false]);
  expect([said('only-here'), said('d/only-here')]).toEqual([true, undefined]);
  expect([said('build', true), said('d/build', true), said('build')]).toEqual([true, true, undefined]);
  expect([said('docs/a.txt'), said('docs/d/a.txt'), said('d/docs/a.txt')]).toEqual([true, undefined, undefined]);
  expect([said('#odd'), said('comment'), said('a/b/deep/x'), said('.hidden.log')]).toEqual([
    true,
    undefined,
    true,
    true,
  ]);
  expect([said('space '), said('space'), said('[')]).toEqual([true, undefined, undefined]);
});

test('what a rule ignores inside a directory can be taken back, one by one', async () => {
  const said = saidBy('/out/**\n!/out/keep\n');
  expect([said('out', true), said('out/x'), said('out/d/x'), said('out/keep')]).toEqual([undefined, true, true, false]);
  await using s = await scratch({ maxSearchMs: 60_000 });
  await s.cap.mkdir('out');
  for (const name of ['out/x', 'out/keep', 'seen']) await s.cap.write(name, 'needle');
  await s.cap.write('.gitignore', '/out/**\n!/out/keep\n');
  expect((await s.cap.search('needle')).map((hit) => hit.path)).toEqual(['out/keep', 'seen']);
});

requires('git')('search leaves out exactly the files that git leaves out', async () => {
  const piece = fc.constantFrom(
    ...['a', 'b', '7', '*', '*', '**', '?', '/', '/', '/**', '**/', '[ab]', '[!a]', '[[:digit:]]', '[a-c]', '[c-a]'],
    ...['[^b]*', '[b-', '[[:x:]]', '[[:]', '[\\]]', '[]', '\\', '\\*', '\\ ', '!', '#', ' ', '\t', '\r', '.', '{a,b}'],
  );
  const line = fc
    .tuple(fc.constantFrom('', '', '', '!'), fc.array(piece, { minLength: 1, maxLength: 4 }))
    .map(([not, pieces]) => not + pieces.join(''))
    // Git takes `x**/y` for `x/**/y` if x is plain text, against its own manual.
    .filter((text) => !/[^/!]\*\*/.test(text));
  const rules = fc.array(line, { minLength: 1, maxLength: 3 }).map((lines) => lines.join('\n'));
  const name = fc.constantFrom('a', 'b', 'ab', '.a', 'a b', 'a ', '[b', 'A', '7', '!a', '#a', '{a,b}', '\\', '-', ']');
  const tree = fc.record({
    top: rules,
    below: fc.option(rules),
    files: fc.array(fc.array(name, { minLength: 1, maxLength: 3 }), { minLength: 4, maxLength: 6 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(tree, { minLength: 1, maxLength: 25 }), async (trees) => {
      await using s = await scratch({ maxSearchMs: 60_000 });
      for (const [index, { top, below, files }] of trees.entries()) {
        const all = files.map((names) => [names.join('/'), 'needle'] as const);
        // The second file of rules makes `a` a directory.
        const special = [['.gitignore', top], ...(below === null ? [] : [['a/.gitignore', below]])] as const;
        for (const [file, text] of [...special, ...all]) put(s.at(`${index}/${file}`), text);
      }
      const found = await s.cap.search('needle');
      expect(found.map((hit) => hit.path).sort()).toEqual(shownByGit(s.at('.')).sort());
    }),
    { numRuns: volume(10, 40) },
  );
});

function put(file: string, text: string): void {
  try {
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, text);
  } catch {
    // Another file is in the way of this one: then it is not there.
  }
}

/** The files with text that git does not ignore. The rules of the machine and of its user have no say. */
function shownByGit(root: string): string[] {
  const git = (...args: string[]) =>
    execFileSync('git', args, {
      cwd: root,
      env: { PATH: process.env['PATH'], HOME: root, GIT_CONFIG_NOSYSTEM: '1' },
      encoding: 'utf8',
    });
  git('init', '--quiet');
  const shown = git('ls-files', '--others', '--exclude-standard', '-z').split('\0');
  return shown.filter((file) => file !== '' && path.basename(file) !== '.gitignore');
}

test('rules that an attacker wrote take steps in proportion to their length', () => {
  const deep = Array.from({ length: 64 }, () => 'a'.repeat(255));
  const long = ['a'.repeat(255)];
  for (const [line, names] of [
    [`${'*a'.repeat(400)}b`, long],
    [`${'**/*a/'.repeat(150)}b`, deep],
    [`a/${'**/a*/'.repeat(150)}b`, deep],
    [`${'*[!b-y]'.repeat(100)}b`, long],
    [`${'[[:alpha:]]*'.repeat(80)}b`, long],
    ['[['.repeat(500), long],
    ['[[:'.repeat(300), long],
    [`${'\\['.repeat(400)}*`, long],
  ] as const) {
    const text = `${line}\n`.repeat(20);
    const steps = 4 * text.length * names.join('/').length;
    expect(() => new IgnoreRules(text, new StepBudget(steps)).ignores(names, false), line).not.toThrow();
    // The steps are counted: with far fewer it is stopped.
    expect(() => new IgnoreRules(text, new StepBudget(text.length)).ignores(names, false), line).toThrow(TooMuch);
  }
});

test('a line of 250,000 spaces holds nobody up', async () => {
  await using s = await scratch({ maxSearchMs: 60_000 });
  for (const d of ['p', 'q', 'r']) {
    await s.cap.mkdir(d);
    await s.cap.write(`${d}/.gitignore`, `x${' '.repeat(250_000)}x\n`);
    await s.cap.write(`${d}/f`, 'needle');
    expect((await s.cap.search('needle', { path: d })).length).toBe(1);
  }
});
