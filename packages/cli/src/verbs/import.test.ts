/** `hob import`: what it prints, its exit codes, and no stack trace for any file. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inherited } from '../../../../test/mutants/environment.ts';
import type { Ran } from '../../test/hob.ts';
import { Lines } from '../../test/lines.ts';

const folder = mkdtempSync(join(tmpdir(), 'hob-import-'));
mkdirSync(join(folder, 'work'));

let lines: Lines;
beforeAll(() => {
  lines = new Lines({ PATH: process.env['PATH'] ?? '', HOME: folder, ...inherited() }, folder);
});
afterAll(async () => {
  await lines.end();
  rmSync(folder, { recursive: true });
});
const hob = (...args: readonly string[]): Promise<Ran> => lines.run('import', ...args);
const file = (name: string, text: string | Buffer): string => {
  writeFileSync(join(folder, name), text);
  return name;
};

test('rules that are translated whole end with 0, and the manifest is all of the standard output', async () => {
  const rules = file(
    'whole.json',
    '{"permissions": {"allow": ["Bash(npm test)", "Read(./docs/**)"], "deny": ["Bash(curl *)"]}}',
  );
  const { code, out, err } = await hob('claude', rules, '--root', 'project=work');
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toBe(`version: 1
roots:
  project: ${join(folder, 'work')}
session:
  caps:
    docs:
      fs: project/docs
      can: [read, list, search]
    npm:
      command: npm
      argv:
        - [test]
      cwd: project
`);
});

test('a rule that cannot be translated is named with file and line, and the command ends with 3', async () => {
  const rules = file('part.json', '{"permissions": {"allow": [\n"Bash(npm test)",\n"Bash(git:*)"]}}');
  const { code, out, err } = await hob('claude', rules);
  expect(code).toBe(3);
  expect(out).toMatch(/^version: 1\n/);
  expect(err).toBe(
    'part.json:3: Bash(git:*): it allows every command of the program: list those that are needed, each by its verb\n',
  );
  const json = await hob('claude', rules, '--json');
  expect(json.code).toBe(3);
  expect(JSON.parse(json.out)).toMatchObject({
    manifest: { version: 1, session: { caps: { npm: { argv: [['test']] } } } },
    untranslated: [{ rule: 'Bash(git:*)', line: 3, file: 'part.json', why: expect.any(String) }],
    translated: [{ rule: 'Bash(npm test)', line: 2, to: 'session.caps.npm' }],
  });
});

test('paths of rules are meant from the first root, and ~ is the home of the person', async () => {
  const rules = file(
    'paths.json',
    '{"permissions": {"allow": ["Read(~/work/notes/**)"], "deny": ["Edit(~/.ssh/**)"]}}',
  );
  const { code, out } = await hob('claude', rules, '--root', 'project=work');
  expect(code).toBe(0);
  expect(out).toMatch(/fs: project\/notes\n/);
});

test.each([
  [['claude', 'nosuch.json'], 1, /^nosuch\.json:1:1: there is no such file; look at its name\n$/],
  [['claude', '.'], 1, /^\.:1:1: this is no file; name a file of rules\n$/],
  [['claude', file('bad.json', '{\n"permissions": }')], 1, /^bad\.json:2:\d+: this is not JSON .*\n$/],
  [['hermes', file('bin.yaml', Buffer.from([0xff, 0xfe, 0x00]))], 1, /^bin\.yaml:1:1: this is no text in UTF-8; /],
  [['codex', file('code.rules', 'def f():\n  pass')], 1, /^code\.rules:1:1: this is more than a list of rules; /],
  [['gemini', file('bad.toml', '[[rule]]\ntoolName =')], 1, /^bad\.toml:2:\d+: this is not TOML /],
  [['claude', file('big.json', ' '.repeat(300_000))], 1, /^big\.json:1:1: the file is larger than 256 KiB; /],
  [['cursor', 'bad.json'], 2, /there are no rules of "cursor": name hermes, claude, codex, gemini/],
  [['claude', 'bad.json', '--root', 'nonsense'], 2, /is no root: write --root project=DIR/],
  [['claude', 'bad.json', '--root', 'p=nosuch'], 1, /root p: there is no folder "nosuch"/],
  [['claude'], 2, /missing required argument 'file'/],
] as const)('hob import %j ends with %d and says what helps', async (args, code, said) => {
  const ended = await hob(...args);
  expect(ended.code).toBe(code);
  expect(ended.out).toBe('');
  expect(ended.err).toMatch(said);
  expect(ended.err).not.toMatch(/^\s+at /m);
});
