import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { requires } from '../../../../test/needs.ts';
import { code, scratch } from '../../test/scratch.ts';
import { unifiedDiff } from './diff.ts';
import { endSpare } from './drivers/thread.ts';

test('a passage is replaced only where it stands exactly once, all of them or none', async () => {
  await using s = await scratch();
  await s.cap.write('f', 'one two two three aaa $&');
  const edit = (oldText: string, newText = 'X') =>
    s.cap.edit('f', [
      { oldText: 'one', newText: '1' },
      { oldText, newText },
    ]);
  await expect(edit('four')).rejects.toThrow(/edit 2$/);
  expect(await code(edit('four'))).toBe('NO_MATCH');
  await expect(edit('two')).rejects.toThrow(/edit 2, 2 times$/);
  expect(await code(edit('aa'))).toBe('AMBIGUOUS');
  expect(await code(edit(''))).toBe('invalid');
  expect(await s.cap.readText('f')).toBe('one two two three aaa $&');
  // Text is text: no pattern in what is searched, none in what is put in.
  await edit('$&', '$` $1');
  expect(await s.cap.readText('f')).toBe('1 two two three aaa $` $1');
});

test('an edit sees what the edits before it left', async () => {
  await using s = await scratch();
  await s.cap.write('f', 'a');
  await s.cap.edit('f', [
    { oldText: 'a', newText: 'b' },
    { oldText: 'b', newText: 'c' },
  ]);
  expect(await s.cap.readText('f')).toBe('c');
});

test('a dry run shows what the same edit then does, and does nothing', async () => {
  await using s = await scratch();
  await s.cap.write('d"\n', '1\n2\n3\n');
  const edits = [{ oldText: '2', newText: 'two' }];
  const dry = await s.cap.edit('d"\n', edits, { dryRun: true });
  expect(await s.cap.readText('d"\n')).toBe('1\n2\n3\n');
  // A name cannot pretend to be a line of the diff.
  expect(dry.diff).toBe('--- "d\\"\\n"\n+++ "d\\"\\n"\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n');
  const done = await s.cap.edit('d"\n', edits, { version: dry.version });
  expect(done.diff).toBe(dry.diff);
  expect((await s.cap.stat('d"\n')).version).toBe(done.version);
  expect(await code(s.cap.edit('d"\n', [{ oldText: 'two', newText: '2' }], { version: dry.version }))).toBe('STALE');
});

test('a change by another between the reading and the writing of an edit is not lost', async () => {
  await using s = await scratch();
  await s.cap.write('f', `${'x'.repeat(4_000_000)}end`);
  const edited = s.cap.edit('f', [{ oldText: 'end', newText: 'END' }]);
  fs.appendFileSync(s.at('f'), 'theirs');
  expect(['STALE', 'ok']).toContain(await code(edited));
  expect((await s.cap.readText('f')).endsWith('theirs')).toBe(true);
});

test('an edit that somebody made to take long is made in a thread, and ends with its cap', async () => {
  await using s = await scratch();
  const threads = (): number => fs.readdirSync('/proc/self/task').length;
  await s.cap.write('f', `${'a'.repeat(100_000)}end`);
  await endSpare();
  const before = threads();
  // Beside this one `a` at a time: a comparison from each place to its end.
  const long = `ab${'a'.repeat(1_000)}`;
  expect(await code(s.cap.edit('f', [{ oldText: long, newText: '' }]))).toBe('NO_MATCH');
  expect(threads()).toBeGreaterThan(before);
  const { diff } = await s.cap.edit('f', [{ oldText: `${'a'.repeat(1_000)}end`, newText: 'short' }]);
  expect(diff).toMatch(/^--- f\n\+\+\+ f\n@@ /);
  expect((await s.cap.readText('f')).slice(-6)).toBe('ashort');
  await endSpare();
  expect(threads()).toBe(before);
  await s.cap.write('g', 'a'.repeat(120_000));
  const cap = await s.cap.subdir('.');
  const asked = code(cap.edit('g', [{ oldText: `ab${'a'.repeat(20_000)}`, newText: '' }]));
  await cap.close();
  expect(await asked).toBe('CLOSED');
});

requires('patch')('patch makes the one text into the other with the diff', () => {
  const line = fc.constantFrom('a\n', 'b\n', 'c\n', '\n', 'end');
  const dir = fs.mkdtempSync('/tmp/caps-fs-diff-');
  fc.assert(
    fc.property(fc.array(line, { maxLength: 40 }), fc.array(line, { maxLength: 40 }), (before, after) => {
      const [a, b] = [before.join(''), after.join('')];
      const diff = unifiedDiff(a, b, 'f');
      expect(applied(a, diff)).toBe(b);
    }),
    { numRuns: 500 },
  );
  // And once with the real thing.
  const a = Array.from({ length: 60 }, (_, i) => `${i}\n`).join('');
  const b = a.replace('7\n', 'seven\n').replace('30\n', '').replace('59\n', '59\nno end');
  fs.writeFileSync(`${dir}/f`, a);
  execFileSync('patch', ['-s', `${dir}/f`], { input: unifiedDiff(a, b, 'f') });
  expect(fs.readFileSync(`${dir}/f`, 'utf8')).toBe(b);
  fs.rmSync(dir, { recursive: true });
});

test('no pair of texts makes a diff that takes long: what would is replaced whole', () => {
  const lines = (count: number, of: (line: number) => string) =>
    Array.from({ length: count }, (_, i) => `${of(i)}\n`).join('');
  const hunks = (diff: string) => diff.match(/^@@ /gm)?.length;
  // A table of all pairs would have 400 million places.
  const [a, b] = [lines(20_000, (i) => `a${i}`), lines(20_000, (i) => `b${i}`)];
  const apart = unifiedDiff(a, b, 'f');
  expect([hunks(apart), applied(a, apart)]).toEqual([1, b]);
  // An attacker's texts: equal lines, so that every diagonal is as long as the texts.
  const [blank, more] = [`x\n${'\n'.repeat(60_000)}`, `${'\n'.repeat(60_300)}y\n`];
  const same = unifiedDiff(blank, more, 'f');
  expect([hunks(same), applied(blank, same)]).toEqual([1, more]);
  // 300 changes far from each other: too many in 60,000 lines, few in 600.
  const changed = (every: number) => (i: number) => (i % every === 0 ? `new ${i}` : `${i}`);
  for (const [count, every, expected] of [
    [60_000, 200, 1],
    [6_000, 20, 300],
  ] as const) {
    const [old, fresh] = [lines(count, String), lines(count, changed(every))];
    const diff = unifiedDiff(old, fresh, 'f');
    expect([count, hunks(diff), applied(old, diff) === fresh]).toEqual([count, expected, true]);
  }
  // A long common part costs no edits: the few that are far down are shown one by one.
  const [long, longer] = [lines(80_000, String), lines(80_000, (i) => (i > 79_900 ? changed(20)(i) : `${i}`))];
  expect(hunks(unifiedDiff(long, longer, 'f'))).toBe(4);
});

/** Applies a diff as `patch` does, without its fuzz. */
function applied(before: string, diff: string): string {
  const lines = before.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const out: string[] = [];
  let at = 0;
  for (const row of diff.match(/[^\n]*\n|[^\n]+$/g) ?? []) {
    const hunk = /^@@ -(\d+)(?:,(\d+))? /.exec(row);
    if (row.startsWith('--- f') || row.startsWith('+++ f')) continue;
    if (hunk) {
      const start = Number(hunk[1]) - (hunk[2] === '0' ? 0 : 1);
      while (at < start) out.push(lines[at++] ?? '');
    } else if (row.startsWith('\\')) out.push((out.pop() ?? '').replace(/\n$/, ''));
    else if (row.startsWith('+')) out.push(row.slice(1));
    else if (row.startsWith('-')) {
      at++;
      // A mark that there is no line end belongs to this line, which is not in the result.
      out.push('');
    } else out.push(lines[at++] ?? '');
  }
  return out.join('') + lines.slice(at).join('');
}
