/** `hob init` as a process, also in a real terminal. */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { requires } from '../../../../../test/needs.ts';
import { type HobHome, hobHome, Running } from '../../../test/hob.ts';
import { writeNewFile } from '../../drivers/new-file.ts';

const FIRST = 'home/.config/hob/hob.yaml';
const project = (hob: HobHome): string => join(hob.folder, 'config/project');

test('with --yes init writes a manifest that check takes without a warning, and only its user may read it', async () => {
  const hob = hobHome();
  const made = await hob.json<Record<string, unknown>>('init', '--yes', '--root', project(hob));
  const file = join(hob.folder, FIRST);
  expect(made).toEqual({
    manifest: file,
    schema: join(hob.folder, 'home/.config/hob/hob.schema.json'),
    root: project(hob),
    may: 'ask',
    commands: [],
  });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(await hob.run('check', file, '--strict')).toEqual({ code: 0, out: 'no mistakes\n', err: '' });
  const text = readFileSync(file, 'utf8');
  expect(text).toMatch(/^# yaml-language-server: \$schema=\.\/hob\.schema\.json\n/);
  expect(text).toMatch(/\n {2}deadline: 8h\n[\s\S]*\n {2}mode: cautious\n/);
  const calls = join(hob.folder, 'calls.jsonl');
  const lines = ['a.txt', 'src/.env.local', 'keys/server.pem', '.git/config'].flatMap((path) => [
    { cap: 'files', method: 'readText', path },
    { cap: 'edit', method: 'write', path },
  ]);
  writeFileSync(calls, lines.map((one) => JSON.stringify(one)).join('\n'));
  const decided = (await hob.json<{ calls: { decision: string }[] }>('check', file, '--calls', calls)).calls;
  expect(decided.map(({ decision }) => decision)).toEqual(['runs', 'asks', ...Array<string>(6).fill('absent')]);
});

test('each answer gives what it says and no more: rights, commands, and what asks', async () => {
  const hob = hobHome();
  const made = async (may: string): Promise<unknown> => {
    const file = join(hob.folder, `${may}.yaml`);
    const commands = ['git', 'npm run lint', 'ls', 'make text 1'].flatMap((line) => ['--command', line]);
    const { commands: names } = await hob.json<{ commands: string[] }>('init', file, '--root', project(hob), '--may', may, ...commands); // biome-ignore format: one line
    expect(names).toEqual(['git', 'npm-run-lint', 'ls', 'make-text-1']);
    expect((await hob.run('check', file, '--strict')).out).toBe('no mistakes\n');
    const calls = ['git log -5', 'git push', 'npm run lint', 'npm run lint --fix', 'ls', 'ls -l', 'make text 1', 'make a 1'].map((command) => ({ command })); // biome-ignore format: one line
    const asked = [...calls, { cap: 'files', method: 'write' }, { cap: 'files', method: 'remove' }];
    writeFileSync(join(hob.folder, 'calls'), asked.map((one) => JSON.stringify(one)).join('\n'));
    const { calls: decided } = await hob.json<{ calls: { decision: string }[] }>('check', file, '--calls', join(hob.folder, 'calls')); // biome-ignore format: one line
    return decided.map(({ decision }) => decision).join(' ');
  };
  const of = (lint: string, write: string, remove: string): string =>
    `runs absent ${lint} absent runs absent ${lint} absent ${write} ${remove}`;
  expect(await made('read')).toBe(of('runs', 'absent', 'absent'));
  expect(readFileSync(join(hob.folder, 'read.yaml'), 'utf8')).toMatch(/npm-run-lint: .*reads: true/);
  expect(await made('ask')).toBe(of('asks', 'absent', 'absent'));
  expect(await made('write')).toBe(of('runs', 'runs', 'asks'));
}, 200_000);

test('nothing is overwritten, not even through a link that leads nowhere, and nothing is written beside it', async () => {
  const hob = hobHome();
  const file = join(hob.folder, 'mine.yaml');
  writeFileSync(file, 'mine');
  symlinkSync(join(hob.folder, 'nowhere'), join(hob.folder, 'link.yaml'));
  for (const name of ['mine.yaml', 'link.yaml']) {
    const { code, err } = await hob.run('init', join(hob.folder, name), '--yes', '--root', project(hob));
    expect([code, err]).toEqual([1, expect.stringMatching(/is there already, and stays as it is: name another file/)]);
    expect(() => writeNewFile(join(hob.folder, name), 'x')).toThrow(/is there already/);
  }
  expect(readFileSync(file, 'utf8')).toBe('mine');
  expect(existsSync(join(hob.folder, 'nowhere'))).toBe(false);
  expect(existsSync(join(hob.folder, 'hob.schema.json'))).toBe(false);
  writeFileSync(join(hob.folder, 'hob.schema.json'), '{}');
  const { code, err } = await hob.run('init', join(hob.folder, 'new.yaml'), '--yes', '--root', project(hob));
  expect([code, err]).toEqual([0, expect.stringMatching(/of another version, and stays as it is/)]);
  expect(readFileSync(join(hob.folder, 'hob.schema.json'), 'utf8')).toBe('{}');
});

test('a folder that holds the manifest or the state is refused, and so are commands that run any code', async () => {
  const hob = hobHome();
  mkdirSync(join(hob.folder, 'app'));
  const fails = async (...args: readonly string[]): Promise<string> => {
    const { code, out, err } = await hob.run('init', ...args);
    expect([code, out], args.join(' ')).toEqual([err.includes('write read, ask or write') ? 2 : 1, '']);
    expect(err).not.toMatch(/^\s+at /m);
    return err;
  };
  const holds = /is, contains or lies inside the manifest, the state or the code of hob/;
  expect(await fails('app/hob.yaml', '--yes', '--root', 'app')).toMatch(holds);
  expect(await fails('--yes', '--root', join(hob.folder, 'home'))).toMatch(holds);
  expect(await fails('x.yaml', '--yes', '--root', dirname(hob.words.at(-1) as string))).toMatch(holds);
  expect(await fails('x.yaml', '--yes', '--root', 'app\n/no')).toMatch(/there is no folder/);
  expect(await fails('x.yaml', '--yes', '--root', 'app', '--may', 'all')).toMatch(/write read, ask or write/);
  for (const line of ['bash -c x', 'env x', 'npx x', 'a; b', 'a $(b)', 'node x.js', 'git -C d log', 'X=1 a'])
    expect(await fails('x.yaml', '--yes', '--root', 'app', `--command=${line}`), line).toMatch(
      /cannot be allowed here/,
    );
  expect(readdirSync(join(hob.folder, 'app'))).toEqual([]);
  expect(existsSync(join(hob.folder, 'x.yaml'))).toBe(false);
}, 200_000);

test('without a terminal it asks nothing: it says which options answer', async () => {
  const hob = hobHome();
  const { code, err } = await hob.run('init');
  expect([code, err]).toEqual([
    2,
    'hob: there is no terminal to ask at: say --yes, or all of --root, --may and --command\n',
  ]);
  expect(existsSync(join(hob.folder, FIRST))).toBe(false);
});

requires('linux', 'pty')(
  'in a terminal it asks three questions, asks again after a wrong answer, and Ctrl-C writes nothing',
  async () => {
    const hob = hobHome();
    const typed = (...args: readonly string[]): Running => {
      const line = [...hob.words, ...args].map((word) => `'${word}'`).join(' ');
      return new Running('script', ['-qec', line, '/dev/null'], { ...hob.env, TERM: 'xterm' }, hob.folder);
    };
    const given = typed('init');
    await given.shows(/Which folder does the agent work in\? \[\.\]/);
    given.child.stdin!.write('nowhere\n');
    await given.shows(/there is no folder .*nowhere[\s\S]*Which folder/);
    given.child.stdin!.write(`${project(hob)}\n`);
    await given.shows(/What may it do there\?.*\[ask\]/);
    given.child.stdin!.write('read\n');
    await given.shows(/Which commands may it run\?/);
    given.child.stdin!.write('git, npm test\n');
    expect(await given.ended).toBe(0);
    const text = readFileSync(join(hob.folder, FIRST), 'utf8');
    expect(text).toContain('can: [read, list, search]');
    expect(text).toContain('argv: [[test]], reads: true }');
    const left = typed('init', 'other.yaml');
    await left.shows(/Which folder/);
    left.child.stdin!.write('\u0003');
    expect(await left.ended).toBe(1);
    expect(left.out).toContain('nothing was written');
    expect(existsSync(join(hob.folder, 'other.yaml'))).toBe(false);
  },
  200_000,
);
