/** Rows of others, and what is no difference between two runs of one command. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ROOT } from '../test/sources.ts';
import { judge, type Observed, type Played } from './classes.ts';
import { masked } from './masked.ts';
import { foreignRows } from './rows/foreign.ts';

test('rows are a list in JSON, or a record in each line, with defaults that claim nothing', () => {
  const row = { id: 'mine/0', family: 'mine', kind: 'generated', steps: ['ls'], needs: [] };
  expect(foreignRows('[{"command": "ls", "family": "mine"}]')).toEqual([row]);
  expect(foreignRows('{"command":"ls","family":"mine"}\n\n{"id":"b","steps":["cd /","ls"],"kind":"reads","needs":["ls"]}\n')).toEqual([
    row,
    { id: 'b', family: 'foreign', kind: 'reads', steps: ['cd /', 'ls'], needs: ['ls'] },
  ]); // biome-ignore format: a table
});

const wrong: readonly (readonly [text: string, says: RegExp])[] = [
  ['', /^there is no row in it$/],
  ['[]', /^there is no row in it$/],
  ['[{"command": "ls"}', /^the list is no JSON: write/],
  ['{"command": "ls"}\nls', /^line 2 is no JSON/],
  ['["ls"]', /^row 1: a row is a record/],
  ['[{"command": "ls", "cmd": "ls"}]', /^row 1: a row has no "cmd": it has id, family/],
  ['[{"command": ""}]', /^row 1: steps is a command/],
  ['[{"steps": []}]', /^row 1: steps is a command/],
  ['[{"command": "ls", "kind": "evil"}]', /^row 1: kind is one of destructive, reads/],
  ['[{"command": "ls", "needs": "ls"}]', /^row 1: needs is a list/],
  ['[{"command": "ls", "id": 5}]', /^row 1: id and family are texts$/],
  ['{"id": "a", "command": "ls"}\n{"id": "a", "command": "ls"}', /^two rows are called "a"/],
];

test.each(wrong)('%j is no file of rows, and the message says why', (text, says) => {
  expect(() => foreignRows(text)).toThrow(says);
});

test('a wrong option, and a file that is not there or has no rows, are told in a line, without a stack', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hob-rows-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const bad = join(folder, 'bad.json');
  writeFileSync(bad, '{"command": 5}');
  const program = ['--import', join(ROOT, 'scripts', 'resolve.mjs'), join(ROOT, 'test-bisim', 'run.ts')];
  for (const [args, says] of [
    [['--rows', join(folder, 'none.json')], /none\.json: there is no such file/],
    [['--rows', bad], /bad\.json: line 1: steps is a command/],
    [['--play', join(folder, 'none.sh')], /none\.sh: there is no such file/],
    [['--part', '3/3'], /K\/N, such as 0\/4/],
    [['--every', '0'], /a whole number from 1/],
    [['--seed', 'x'], /a whole number from 0/],
    [['--row', bad], /unknown option '--row'/],
  ] as const) {
    const env = { PATH: process.env['PATH'], HOME: folder };
    const ended = await new Promise<{ readonly code: unknown; readonly err: string }>((done) =>
      execFile(process.execPath, [...program, ...args], { env, cwd: folder }, (error, _out, err) => done({ code: error?.code, err })),
    ); // biome-ignore format: one call
    expect([args, ended.code, ended.err]).toEqual([args, 2, expect.stringMatching(says)]);
    expect(ended.err).not.toMatch(/\n\s+at |node:internal/);
  }
});

const seen = (output: string, inside: readonly string[] = []): Observed => ({ effects: [], inside, status: 0, output });
const judged = (
  command: string,
  one: string,
  other: string,
  trees: readonly [string[], string[]] = [[], []],
): string => {
  const played: Played = {
    row: { id: 'a/0', family: 'a', kind: 'generated', steps: [command], needs: [] },
    plain: seen(one, trees[0]),
    hermes: { ...seen(one, trees[0]), verdict: 'ran' },
    cap: { ...seen(other, trees[1]), without: 'no-such-object' },
  };
  return judge(played).class;
};

test('times, numbers of processes and names of temporary files are no difference; other text is', () => {
  for (const [command, one, other] of [
    ['date', 'Fri Nov 27 13:24:55 UTC 2026', 'Fri Nov 27 13:24:56 UTC 2026'],
    ['date -Is', '2026-11-27T13:24:55+00:00', '2026-11-27T13:25:01+00:00'],
    ['ls -l', '-rw-r--r-- 1 u u 3 Nov 27 13:24 a', '-rw-r--r-- 1 u u 3 Nov 27 13:25 a'],
    ['date +%s', '1795785895', '1795785896'],
    ['time true', 'real\t0m0.003s', 'real\t0m0.011s'],
    ['echo $$', '4711', '98'],
    ['sleep 1 &', '[1] 4711', '[1] 4713'],
    ['mktemp', '/tmp/tmp.aB3dE6gH9j', '/tmp/tmp.Xb2dE6gH9k'],
    ['python3 -c x', "'/tmp/tmpab12cd_3'", "'/tmp/tmpzz12cd_3'"],
  ] as const)
    expect([command, judged(command, one, other)]).toEqual([command, 'equal']);
  for (const [command, one, other] of [
    ['wc -l a', '10 a', '11 a'],
    ['cat a', 'ten', 'eleven'],
    ['date', 'Fri Nov 27 13:24:55 UTC 2026', 'no date'],
    ['echo $$', '4711', 'x'],
    ['cat a', '/tmp/tmp.aB3dE6gH9j', '/tmp/other'],
  ] as const)
    expect([command, judged(command, one, other)]).toEqual([command, 'unexplained']);
  expect(judged('mktemp -p .', '', '', [['made tmp.aB3dE6gH9j'], ['made tmp.Xb2dE6gH9k']])).toBe('equal');
  expect(judged('mktemp -p .', '', '', [['made tmp.aB3dE6gH9j'], ['made other']])).toBe('unexplained');
  expect(masked('3 files, 17 lines', ['wc'])).toBe('3 files, 17 lines');
});
