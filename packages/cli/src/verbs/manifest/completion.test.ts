/** The completion scripts, in the shells that this machine has. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, type TestContext, test } from 'vitest';
import { verbs } from '../../verbs.ts';
import { scriptFor } from './completion.ts';

const has = (shell: string): boolean => spawnSync(shell, ['-c', 'exit 0']).status === 0;
const needsShell = (shell: string, { skip }: TestContext): void => {
  if (!has(shell)) skip(`needs the shell ${shell}`);
};

/** The words that bash offers at the end of the line. */
function offeredByBash(cwd: string, ...words: readonly string[]): readonly string[] {
  const script = `${scriptFor('bash', verbs)}
COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 ))
_hob
printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', script, 'bash', 'hob', ...words], {
    encoding: 'utf8',
    cwd,
  });
  expect(stderr).toBe('');
  return stdout.split('\n').filter((word) => word !== '');
}

test('bash completes verbs, sub-verbs, options and files', (context) => {
  needsShell('bash', context);
  const cwd = mkdtempSync(join(tmpdir(), 'hob-complete-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  writeFileSync(join(cwd, 'copy.db'), '');
  const first = new Set(verbs.map(({ name }) => name.split(' ')[0]!));
  expect(new Set(offeredByBash(cwd, ''))).toEqual(new Set([...first, '--help', '--version']));
  expect(offeredByBash(cwd, 'gr')).toEqual(['grant', 'granter']);
  expect(offeredByBash(cwd, 'ledger', 'ver')).toEqual(['verify']);
  expect(offeredByBash(cwd, 'grant', 'R7', '--us')).toEqual(['--uses']);
  expect(offeredByBash(cwd, 'ledger', 'show', '--w')).toEqual(['--why']);
  expect(offeredByBash(cwd, 'revoke', '--a')).toEqual(['--all']);
  expect(offeredByBash(cwd, 'restore', 'cop')).toEqual(['copy.db']);
  // Each option of each verb is offered after it.
  for (const { name, options = [], json } of verbs) {
    const flags = options.map(({ flags: text }) => /--[\w-]+/.exec(text)![0]);
    const offered = offeredByBash(cwd, ...name.split(' '), '--');
    expect(new Set(offered), name).toEqual(new Set([...flags, ...(json === undefined ? [] : ['--json']), '--help']));
  }
});

test('bash takes the script from hob for its own: a line is completed with the tab key', (context) => {
  needsShell('bash', context);
  const script = `${scriptFor('bash', verbs)}\ncomplete -p hob`;
  expect(spawnSync('bash', ['--norc', '-c', script], { encoding: 'utf8' }).stdout).toBe('complete -F _hob hob\n');
});

for (const shell of ['zsh', 'fish'] as const)
  test(`${shell} takes the script without a fault`, (context) => {
    needsShell(shell, context);
    const { status, stderr } = spawnSync(shell, ['-n', '-c', scriptFor(shell, verbs)], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
  });

test('the script of each shell has every verb and every option', () => {
  for (const shell of ['bash', 'zsh', 'fish'] as const) {
    const text = scriptFor(shell, verbs);
    for (const { name, options = [] } of verbs) {
      for (const word of name.split(' ')) expect(text, shell).toMatch(new RegExp(`\\b${word}\\b`));
      for (const { flags } of options) expect(text, shell).toContain(/--([\w-]+)/.exec(flags)![1]!);
    }
  }
});
