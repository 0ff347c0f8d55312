/** The command lines `hob check`, `hob explain` and `hob completion`. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jsonSchema } from '@hob/manifest';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inherited } from '../../../../../test/mutants/environment.ts';
import { type Ran, resolveHook } from '../../../test/hob.ts';
import { Lines } from '../../../test/lines.ts';
import { verbs } from '../../verbs.ts';
import { scriptFor } from './completion.ts';

const main = new URL('../../main.ts', import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), 'hob-check-'));
for (const name of ['work/src', 'work/inner', 'etc']) mkdirSync(join(folder, name), { recursive: true });

const env = { PATH: process.env['PATH'] ?? '', HOME: folder, ...inherited() };
let lines: Lines;
beforeAll(() => {
  lines = new Lines(env, folder);
});
afterAll(async () => {
  await lines.end();
  rmSync(folder, { recursive: true });
});
const hob = (...args: readonly string[]): Promise<Ran> => lines.run(...args);
const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return name;
};
const GOOD = `version: 1
roots: { project: ./work }
session:
  caps:
    src: { fs: project/src, can: [read, list] }
    git: { command: git, cwd: project, argv: [[log, flags(git.read)]], not_match: [git push] }
  ask: { push: { command: git, cwd: project, argv: [[push, origin, ref]] } }
`;

const TOOLS = (where: string): string =>
  `version: 1\nroots: { project: ./work }\nservers: { calendar: { command: [node, server.js] } }\nsession:\n  caps:\n    meet:\n      mcp: calendar\n      tools: [create]\n      where: ${where}\n`;

test('check finds bounds that a host would refuse, one line for each, before a session meets them', async () => {
  for (const [where, at, line] of [
    ['{ title: { like: "Dinner at {place:[}" } }', 23, 'title: the pattern of a hole is no RE2 expression; write {name}, or {name:[0-9]+}'], // biome-ignore format: one line
    ['{ title: { like: "Dinner at {{place}}" } }', 23, 'title: like has at least one hole, such as {name}; for a fixed text use is'], // biome-ignore format: one line
    ['{ title: { optional: { like: "{place} }" } } }', 23, 'title: like has a } without {; write }} for a brace'],
    [`{ day: ${'{ optional: '.repeat(12)}x${' }'.repeat(12)} }`, 21, 'day: bounds lie more than 8 deep in each other; write them flatter'], // biome-ignore format: one line
  ] as const) {
    const { code, out, err } = await hob('check', file('tools.yaml', TOOLS(where)));
    expect([code, err]).toEqual([1, '']);
    expect(out).toBe(`tools.yaml:9:${at}: session.caps.meet.where.${line}\n`);
  }
  expect((await hob('check', file('tools.yaml', TOOLS('{ title: { like: "Dinner at {place}" } }')))).code).toBe(0);
});

test('check ends with 0 for a manifest that compiles, and says what it decides about each call', async () => {
  const calls = file(
    'calls.jsonl',
    '{"cap": "src", "method": "readText", "path": "a"}\n\n{"command": "git push origin main"}\n{"cap": "src", "method": "write"}\n{"cap": "git", "argv": ["log", "-5"]}\n',
  );
  const good = file('good.yaml', GOOD);
  expect(await hob('check', good)).toEqual({ code: 0, out: 'no mistakes\n', err: '' });
  const { code, out } = await hob('check', good, '--calls', calls, '--json');
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({
    mistakes: [],
    calls: [
      { line: 1, decision: 'runs' },
      { line: 3, decision: 'asks' },
      { line: 4, decision: 'absent' },
      { line: 5, decision: 'runs' },
    ],
  });
  expect((await hob('check', good, '--calls', calls)).out).toContain('asks\t{"command":"git push origin main"}\n');
  const bad = await hob('check', good, '--calls', file('bad.jsonl', '{"cap": "src"}\n{"cup": 1}\n'));
  expect(bad.code).toBe(1);
  expect(bad.err).toMatch(/^hob: bad\.jsonl:2: this is no call: write for example/);
});

test('check ends with 1 for a mistake, and with 3 for a warning only with --strict', async () => {
  const wrong = await hob('check', file('wrong.yaml', GOOD.replace('can: [read', 'can: [reed')));
  expect([wrong.code, wrong.err]).toEqual([1, '']);
  expect(wrong.out).toMatch(/^wrong\.yaml:5:\d+: session\.caps\.src\.can\[0\]: .*; write read/);
  const org = `org=${file('etc/org.yaml', 'version: 1\nchannels: { a: { webhook: { b: B_HOOK } } }\nsession: { caps: { src: { message: "a:b" } } }')}`;
  const good = file('good.yaml', GOOD.replace(', not_match: [git push]', ''));
  expect((await hob('check', good, '--layer', org)).code).toBe(0);
  const strict = await hob('check', good, '--layer', org, '--strict');
  expect(strict.code).toBe(3);
  expect(strict.out).toMatch(/good\.yaml:6:5: warning: session\.caps\.git: no layer above has git/);
  expect((await hob('check', good, '--layer', 'nobody=x')).code).toBe(2);
  const none = await hob('check', 'none.yaml');
  expect([none.code, none.out]).toEqual([1, 'none.yaml:1:1: there is no such file; look at its name\n']);
});

test('check --schema prints the JSON Schema that editors complete from, and checks nothing', async () => {
  // This runs in a process of its own, which must write all of its long output before it ends.
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', resolveHook, main, 'check', '--schema'], { env, cwd: folder }); // biome-ignore format: one line
  expect([status, String(stderr)]).toEqual([0, '']);
  expect(JSON.parse(String(stdout))).toEqual(jsonSchema());
  expect(JSON.parse((await hob('check', '--schema', '--json')).out)).toEqual(jsonSchema());
});

test('check without a file looks at the layers that hob serve reads', async () => {
  const none = await hob('check');
  expect([none.code, none.err]).toEqual([
    1,
    expect.stringMatching(/there is no manifest .*hob\.yaml: make one with hob init/),
  ]);
  mkdirSync(join(folder, '.config/hob'), { recursive: true });
  file('.config/hob/hob.yaml', GOOD.replace('./work', '../../work'));
  expect(await hob('check')).toEqual({ code: 0, out: 'no mistakes\n', err: '' });
  // The file of the working directory is a layer under it.
  const lower = file('hob.yaml', 'version: 1\nsession: { caps: { more: { fs: project, can: [read] } } }');
  expect((await hob('check')).out).toMatch(/hob\.yaml:2:20: warning: session\.caps\.more: no layer above has more/);
  expect((await hob('check', '--strict')).code).toBe(3);
  expect((await hob('check', lower, '--layer', 'flags=good.yaml')).out).not.toMatch(/no layer above has more/);
  rmSync(join(folder, lower));
  rmSync(join(folder, '.config'), { recursive: true });
});

test('check refuses a manifest inside one of its roots, also through a link, and a root that is not there', async () => {
  const inside = await hob('check', file('work/inner/hob.yaml', GOOD.replace('./work', '../../work')));
  expect(inside.code).toBe(1);
  expect(inside.out).toContain('this root holds the manifest itself');
  const gone = await hob('check', file('gone.yaml', GOOD.replace('./work', './nowhere')));
  expect(gone.out).toMatch(/^gone\.yaml:2:\d+: roots\.project: there is no folder ".\/nowhere"; make it/);
});

test('no broken manifest gets a stack trace', async () => {
  for (const text of ['', '3', 'version: 1\nroots: [a', '%YAML 1.1\n---\na: 1', `a: ${'['.repeat(9999)}`, '\0']) {
    const { code, out, err } = await hob('check', file('broken.yaml', text));
    expect([code, err]).toEqual([1, '']);
    expect(out).toMatch(/^broken\.yaml:\d+:\d+: /);
  }
});

test('explain says what each cap does, when it asks, what it is as strong as, and what is never possible', async () => {
  const good = file('good.yaml', GOOD);
  const { code, out } = await hob('explain', good);
  expect(code).toBe(0);
  expect(out).toContain('git may run git log <flags of git.read>, in project.\n  When: without a question.\n');
  expect(out).toContain('exactly as strong as the sandbox');
  expect(out).toMatch(/It can never:\n(?: {2}.*\n)* {2}reach a network address\n/);
  expect(JSON.parse((await hob('explain', good, '--json')).out)).toMatchObject({
    mode: 'cautious',
    never: expect.any(Array),
  });
  const wrong = await hob('explain', file('wrong.yaml', 'version: 2'));
  expect([wrong.code, wrong.out]).toEqual([1, '']);
  expect(wrong.err).toMatch(/^wrong\.yaml:1:10: version/);
});

/** Runs the completion of bash on a line whose last word is at the cursor. */
function completed(...words: readonly string[]): readonly string[] {
  const script = `${scriptFor('bash', verbs)}
COMP_WORDS=(hob ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}; _hob; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return String(spawnSync('bash', ['-c', script], { cwd: folder }).stdout)
    .split('\n')
    .filter((one) => one !== '');
}

test('completion offers verbs, words of groups, and the options of a verb, and files where neither fits', async () => {
  expect(completed('che')).toEqual(['check']);
  expect(completed('ledger', 've')).toEqual(['verify']);
  expect(completed('check', '--str')).toEqual(['--strict']);
  expect(completed('check', 'wor')).toEqual(['work']);
  for (const { name } of verbs) expect(completed(...name.split(' '))).toContain(name.split(' ').at(-1));
  for (const shell of ['bash', 'zsh', 'fish']) expect((await hob('completion', shell)).out).toContain('hob');
  for (const { name } of verbs)
    for (const shell of ['zsh', 'fish'] as const) expect(scriptFor(shell, verbs)).toContain(name.split(' ').at(-1));
  expect((await hob('completion', 'tcsh')).code).toBe(2);
});
