/** The refusals of `npm run release`, and the files that it makes. The whole dry run is in `release-run.test.ts`. */
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type Package, publishable } from '../scripts/pack/packages.ts';
import { writeChecksums } from '../scripts/release/checksums.ts';
import {
  changelogFaults,
  type Fault,
  inOrder,
  ownerFaults,
  treeFaults,
  versionFaults,
} from '../scripts/release/ready.ts';
import { inherited } from './mutants/environment.ts';
import { requires } from './needs.ts';
import { plainEnv } from './packed/installed.ts';
import { ROOT } from './sources.ts';

function temporary(): string {
  const folder = fs.mkdtempSync(join(tmpdir(), 'hob-release-'));
  onTestFinished(() => fs.rmSync(folder, { recursive: true }));
  return folder;
}

/** An empty commit in a new repository, and the version of a Python package. */
function repository(): { readonly root: string; git(...args: string[]): void } {
  const root = temporary();
  const git = (...args: string[]): void => {
    const who = ['-c', 'user.name=a', '-c', 'user.email=a@b.example'];
    execFileSync('git', [...who, ...args], { cwd: root, stdio: 'ignore' });
  };
  fs.mkdirSync(join(root, 'packages/bridge-python'), { recursive: true });
  fs.writeFileSync(join(root, 'packages/bridge-python/pyproject.toml'), '[project]\nversion = "1.2.3"\n');
  git('init');
  git('add', '.');
  git('commit', '--message', 'all');
  return { root, git };
}

const named = (name: string, version: string, ...on: string[]): Package => ({
  folder: name,
  manifest: { name, version, exports: {}, dependencies: Object.fromEntries(on.map((one) => [one, 'workspace:*'])) },
});

const said = (faults: readonly Fault[]): string[] => faults.map(({ what, before }) => `${before}: ${what}`);

requires('git')('a tree with a change that is not committed is not released, and the file is named', () => {
  const { root, git } = repository();
  expect(treeFaults(root)).toEqual([]);
  fs.writeFileSync(join(root, 'new.ts'), '');
  expect(said(treeFaults(root))).toEqual([expect.stringMatching(/^ever: .*not committed: new\.ts;/)]);
  git('add', '.');
  expect(treeFaults(root).length).toBe(1);
  git('commit', '--message', 'new');
  expect(treeFaults(root)).toEqual([]);
});

requires('git')('a version that differs anywhere, or that is tagged, is not released', () => {
  const { root, git } = repository();
  const all = [named('a', '1.2.3'), named('b', '1.2.4')];
  expect(versionFaults(root, '1.2.3', all.slice(0, 1))).toEqual([]);
  expect(said(versionFaults(root, '1.2.3', all))).toEqual([
    'ever: packages/b/package.json has version 1.2.4, not 1.2.3',
  ]);
  expect(said(versionFaults(root, '1.2.4', all.slice(1)))).toEqual([
    expect.stringContaining('pyproject.toml has version 1.2.3'),
  ]);
  git('tag', 'v1.2.3');
  expect(said(versionFaults(root, '1.2.3', all.slice(0, 1)))).toEqual([expect.stringContaining('tag v1.2.3 is there')]);
});

test('a changelog without the version, without text or without a date is not released', () => {
  const entry = (title: string, text = 'It is new.\n') =>
    `# Changes\n\n## ${title}\n\n${text}\n## 1.0.0 (2020-01-01)\n\nOld.\n`;
  expect(changelogFaults(entry('1.1.0 (2026-01-31)'), '1.1.0')).toEqual([]);
  expect(said(changelogFaults(entry('1.1.0 (unreleased)'), '1.1.0'))).toEqual([
    expect.stringMatching(/^publishing: .*date/),
  ]);
  expect(said(changelogFaults(entry('1.1.0 (2026-01-31)', ''), '1.1.0'))).toEqual([
    expect.stringMatching(/^ever: .*nothing about/),
  ]);
  expect(said(changelogFaults(entry('1.1.0 (2026-01-31)'), '1.2.0'))).toEqual([
    expect.stringMatching(/^ever: .*begins with 1\.1\.0/),
  ]);
  expect(said(changelogFaults('# Changes\n', '1.2.0'))).toEqual([expect.stringMatching(/^ever: .*no version/)]);
});

test('nothing is published before the owner says where the project is', () => {
  expect(said(ownerFaults({}))).toEqual([expect.stringMatching(/^publishing: .*"repository"/)]);
  expect(ownerFaults({ repository: 'https://host.example/hob.git' })).toEqual([]);
});

test('each package is published after those that it depends on', () => {
  const names = inOrder([named('c', '1', 'a', 'b', 'z'), named('b', '1', 'a'), named('a', '1')]).map(
    ({ folder }) => folder,
  );
  expect(names).toEqual(['a', 'b', 'c']);
  expect(() => inOrder([named('a', '1', 'b'), named('b', '1', 'a')])).toThrow('circle');
  const ours = inOrder(publishable());
  expect(ours.length).toBe(publishable().length);
  for (const [index, { manifest }] of ours.entries())
    for (const on of Object.keys(manifest.dependencies ?? {}).filter((name) => name.startsWith('@hob/')))
      expect(ours.slice(0, index).map((one) => one.manifest.name)).toContain(on);
});

test('the checksums are those that sha256sum reads, and a changed file fails them', () => {
  const folder = temporary();
  fs.writeFileSync(join(folder, 'b.tgz'), 'b');
  fs.writeFileSync(join(folder, 'a.json'), 'a');
  const file = writeChecksums(folder);
  const lines = fs.readFileSync(file, 'utf8').split('\n');
  expect(lines[0]).toBe('ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb  a.json');
  expect(lines.map((line) => line.split('  ')[1])).toEqual(['a.json', 'b.tgz', undefined]);
  // A second time, without a line about itself.
  writeChecksums(folder);
  expect(fs.readFileSync(file, 'utf8').split('\n')).toEqual(lines);
  const check = () => spawnSync('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], { cwd: folder, stdio: 'ignore' });
  if (check().error) return;
  expect(check().status).toBe(0);
  fs.writeFileSync(join(folder, 'b.tgz'), 'c');
  expect(check().status).toBe(1);
});

test('a wrong option prints what was wrong and the options, no stack; tests are never left out of a release', () => {
  // Without git and npm in PATH: whatever is wrong with the script, nothing is published here.
  const env = { ...plainEnv, ...inherited(), PATH: temporary() };
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [join(ROOT, 'scripts', 'release.ts'), ...args], { encoding: 'utf8', env });
  const wrong = run('--dry');
  expect([wrong.status, wrong.stdout]).toEqual([2, '']);
  expect(wrong.stderr).toMatch(/^error: unknown option '--dry'.*\n/);
  expect(wrong.stderr).not.toMatch(/\n {4}at /);
  for (const left of ['--without-tests', '--without-native']) {
    const without = run(left);
    expect([without.status, without.stdout]).toEqual([1, '']);
    expect(without.stderr).toMatch(/^--without-tests and --without-native are for a dry run only\n/);
  }
  expect(run('--help')).toMatchObject({ status: 0, stderr: '', stdout: expect.stringContaining('--dry-run') });
});
