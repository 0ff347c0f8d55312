/**
 * `npm run release [-- --dry-run]`: the whole release. See docs/releasing.md.
 *
 * Promise: it publishes only what was checked in this run: a committed tree, one version, a dated changelog, passed
 * tests, tarballs that passed `publint` and `attw`. `--dry-run` does all of it but publishing and tagging.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { commandLine } from '../test/command.ts';
import { type Package, publishable, ROOT } from './pack/packages.ts';
import { fileNameOf } from './pack/sbom.ts';
import { writeChecksums } from './release/checksums.ts';
import { changelogFaults, type Fault, inOrder, ownerFaults, treeFaults, versionFaults } from './release/ready.ts';

/** Ends the release. The message names the remedy. */
class NotReady extends Error {}

const done = (step: string, what = ''): void => console.log(`${step.padEnd(10)} ${what || 'ok'}`);

interface Options {
  readonly dryRun: boolean;
  readonly tests: boolean;
  readonly native: boolean;
  readonly into: string;
}

function options(args: string[]): Options {
  const values = commandLine('npm run release --')
    .description('The whole release, as docs/releasing.md describes it.')
    .option('--dry-run', 'does everything but publish and tag')
    .option('--without-tests', 'leaves the tests out; only in a dry run')
    .option('--without-native', 'leaves the native parts out; only in a dry run')
    .option('--into <dir>', 'where the tarballs go (default: dist/release)')
    .parse(args, { from: 'user' })
    .opts<{ dryRun?: boolean; withoutTests?: boolean; withoutNative?: boolean; into?: string }>();
  const { dryRun = false, withoutTests = false, withoutNative = false, into } = values;
  if (!dryRun && (withoutTests || withoutNative))
    throw new NotReady('--without-tests and --without-native are for a dry run only');
  return {
    dryRun,
    tests: !withoutTests,
    native: !withoutNative,
    into: resolve(process.env['INIT_CWD'] ?? '.', into ?? join(ROOT, 'dist', 'release')),
  };
}

function release({ dryRun, tests, native, into }: Options): void {
  const root = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    version: string;
    repository?: unknown;
  };
  const { version } = root;
  const packages = inOrder(publishable());
  const check = (step: string, faults: readonly Fault[]): void => {
    const stops = faults.filter(({ before }) => before === 'ever' || !dryRun);
    if (stops.length > 0) throw new NotReady(stops.map(({ what }) => what).join('\n'));
    done(step, faults.map(({ what }) => `to do before publishing: ${what}`).join('\n           '));
  };
  check('tree', treeFaults(ROOT));
  check('version', versionFaults(ROOT, version, packages));
  check('changelog', changelogFaults(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8'), version));
  check('owner', ownerFaults(root));
  if (tests) run('tests', 'npm', ['test']);
  else done('tests', 'left out');
  rmSync(into, { recursive: true, force: true });
  mkdirSync(into, { recursive: true });
  run('pack', process.execPath, [
    join(ROOT, 'scripts', 'pack.ts'),
    '--into',
    into,
    ...(native ? [] : ['--without-native']),
  ]);
  writeChecksums(into);
  done('checksums', `SHA256SUMS in ${relative(ROOT, into) || '.'}`);
  // A test or the compiler may have left something in the tree, and then the tarballs are not the commit.
  check('tree again', treeFaults(ROOT));
  publish(packages, { version, into, dryRun });
}

/** A failure leaves what was published before it, so the message has the commands that are left. */
function publish(
  packages: readonly Package[],
  { version, into, dryRun }: { readonly version: string; readonly into: string; readonly dryRun: boolean },
): void {
  const ours = packages.map(({ manifest: { name } }) => `${fileNameOf(name)}-${version}.tgz`);
  // The native parts depend on nothing, and others name them: they go first.
  const native = readdirSync(into).filter((name) => name.endsWith('.tgz') && !ours.includes(name));
  const commands = [
    ...[...native, ...ours].map((name) => ['npm', 'publish', join(into, name), '--access', 'public']),
    ['git', 'tag', '--annotate', `v${version}`, '--message', `Hob ${version}`],
  ];
  for (const [index, [program = '', ...args]] of commands.entries()) {
    const shown = [program, ...args].join(' ');
    if (dryRun) done('would run', shown);
    else {
      const { status } = spawnSync(program, args, { cwd: ROOT, stdio: 'inherit', shell: process.platform === 'win32' });
      if (status !== 0) {
        const left = commands.slice(index).map((words) => words.join(' '));
        throw new NotReady(`${program} failed; when its cause is gone, run what is left:\n${left.join('\n')}`);
      }
    }
  }
}

function run(step: string, program: string, args: readonly string[]): void {
  const { status } = spawnSync(program, args, {
    cwd: ROOT,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  if (status !== 0) throw new NotReady(`${step} failed: see above`);
  done(step);
}

try {
  release(options(process.argv.slice(2)));
} catch (error) {
  if (!(error instanceof NotReady)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
