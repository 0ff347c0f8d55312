/** The dry run of a release, from a committed copy of the sources. */
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { publishable } from '../scripts/pack/packages.ts';
import { nativePartsOf, platformsFor } from '../scripts/pack/platforms.ts';
import { fileNameOf } from '../scripts/pack/sbom.ts';
import { requires } from './needs.ts';
import { plainEnv } from './packed/installed.ts';
import { needs } from './probes.ts';
import { filesIn, ROOT } from './sources.ts';

/** The sources as they are now, in a repository where all is committed. It uses what is installed here. */
function committedCopy(): string {
  const root = fs.mkdtempSync(join(tmpdir(), 'hob-release-run-'));
  onTestFinished(() => fs.rmSync(root, { recursive: true }));
  for (const file of filesIn()) {
    fs.mkdirSync(dirname(join(root, file)), { recursive: true });
    fs.copyFileSync(join(ROOT, file), join(root, file));
  }
  // Without a date nothing can be published from here, whatever is wrong with the script.
  const changelog = join(root, 'CHANGELOG.md');
  fs.writeFileSync(changelog, fs.readFileSync(changelog, 'utf8').replace(/^(## \S+) .*$/m, '$1 (unreleased)'));
  const installed = ['.', ...fs.readdirSync(join(ROOT, 'packages')).map((name) => `packages/${name}`)]
    .map((folder) => join(folder, 'node_modules'))
    .filter((folder) => fs.existsSync(join(ROOT, folder)));
  // Where the compiler of the native parts is.
  if (needs('zig')) installed.push('.toolchain');
  for (const folder of installed) fs.symlinkSync(join(ROOT, folder), join(root, folder));
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, stdio: 'ignore' });
  git('init');
  // The rules for these are for folders, and these are links.
  fs.appendFileSync(join(root, '.git', 'info', 'exclude'), 'node_modules\n.toolchain\n');
  git('add', '.');
  git('-c', 'user.name=a', '-c', 'user.email=a@b.example', 'commit', '--message', 'all');
  return root;
}

const dryRun = (root: string, ...more: string[]) =>
  spawnSync(
    process.execPath,
    ['scripts/release.ts', '--dry-run', '--without-tests', ...(needs('zig') ? [] : ['--without-native']), ...more],
    {
      cwd: root,
      env: plainEnv,
      encoding: 'utf8',
    },
  );

requires('git')(
  'a dry run makes everything that is published, publishes nothing, and leaves the tree clean',
  () => {
    const root = committedCopy();
    const into = join(root, 'dist', 'release');
    const { status, stdout, stderr } = dryRun(root);
    expect(status, stderr).toBe(0);
    const steps = stdout.split('\n').map((line) => line.slice(0, 10).trim());
    const order = ['tree', 'version', 'changelog', 'owner', 'tests', 'pack', 'checksums', 'tree again', 'would run'];
    expect(steps.filter((step, index) => step !== '' && step !== steps[index - 1])).toEqual(order);
    const all = publishable().flatMap((one) => {
      const native = needs('zig') ? nativePartsOf(one, platformsFor(false)) : {};
      const names = [one.manifest.name, ...Object.keys(native)];
      return names.map((name) => `${fileNameOf(name)}-${one.manifest.version}`);
    });
    const made = [...all.flatMap((name) => [`${name}.tgz`, `${name}.cdx.json`]), 'SHA256SUMS'].sort();
    expect(fs.readdirSync(into).sort()).toEqual(made);
    expect(fs.readFileSync(join(into, 'SHA256SUMS'), 'utf8').trim().split('\n').length).toBe(made.length - 1);
    expect(execFileSync('git', ['tag', '--list'], { cwd: root, encoding: 'utf8' })).toBe('');
    // The same commit gives the same files.
    const again = join(root, 'dist', 'again');
    expect(dryRun(root, '--into', again).status).toBe(0);
    expect(fs.readFileSync(join(again, 'SHA256SUMS'), 'utf8')).toBe(fs.readFileSync(join(into, 'SHA256SUMS'), 'utf8'));
    fs.writeFileSync(join(root, 'left.ts'), '');
    expect(dryRun(root)).toMatchObject({ status: 1, stdout: '', stderr: expect.stringContaining('left.ts') });
  },
  900_000,
);
