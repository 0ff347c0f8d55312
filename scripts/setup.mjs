/**
 * Brings what is missing: Node 24, the packages, the C parts.
 *
 * Promise: after `setUp()` the answered node (>= 24) can run everything of Hob. On a machine where nothing is missing it
 * takes some milliseconds and prints nothing. It can be killed at any moment and called by several processes at once.
 *
 * Plain JavaScript for Node 18: it runs before there is anything better.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withLock } from './lock.mjs';

export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

const NODE_MAJOR = 24;
// Not in package.json as `packageManager`: pnpm 12 would then fetch itself for every platform and fail on one that the
// registry lacks.
export const PNPM = 'pnpm@12.21.0';

const TOOLCHAIN = join(ROOT, '.toolchain');
const NODE_STAMP = join(TOOLCHAIN, 'node.json');
// Inside node_modules, so that it goes when they go.
const PACKAGES_STAMP = join(ROOT, 'node_modules', '.hob-stamp');
const PAGE_STAMP = join(ROOT, 'packages', 'console', 'built', '.stamp');

export class SetupError extends Error {}

/** Answers the path of a node >= 24 that has everything it needs. */
export async function setUp() {
  const ready = nodeIfReady();
  if (ready !== undefined && packagesAreReady() && pageIsReady()) return ready;
  return withLock(
    join(TOOLCHAIN, 'lock'),
    (owner) => say(`waiting for the set-up that process ${owner.pid} has begun`),
    () => {
      const node = nodeIfReady() ?? bringNode();
      if (!packagesAreReady()) bringPackages(node);
      if (!pageIsReady()) buildPage(node);
      return node;
    },
  );
}

/** The environment for everything that runs below: `node` is the node that was brought. */
export function environmentFor(node) {
  const path = Object.keys(process.env).find((name) => name.toUpperCase() === 'PATH') ?? 'PATH'; // `Path` on Windows
  return { ...process.env, [path]: [dirname(node), process.env[path]].join(delimiter) };
}

// stdout belongs to the program that runs afterwards.
const say = (line) => process.stderr.write(`hob: ${line}\n`);

// ---------------------------------------------------------------------------------------------------------- node

const isNewEnough = (version) => Number(/^v?(\d+)\./.exec(version)?.[1] ?? 0) >= NODE_MAJOR;

function nodeIfReady() {
  if (isNewEnough(process.version)) return process.execPath;
  try {
    // The stamp is written after the binary has run once: a half-written binary has none.
    const { path, version } = JSON.parse(readFileSync(NODE_STAMP, 'utf8'));
    const node = join(TOOLCHAIN, path);
    return isNewEnough(version) && existsSync(node) ? node : undefined;
  } catch {
    return undefined;
  }
}

function bringNode() {
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
  const path = join('node_modules', name, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  const node = join(TOOLCHAIN, path);
  if (!existsSync(node) || !isNewEnough(versionOf(node))) {
    say(`this is Node ${process.version}; bringing Node ${NODE_MAJOR} into .toolchain/ (package ${name})`);
    rmSync(join(TOOLCHAIN, 'node_modules'), { recursive: true, force: true });
    run(
      'npm',
      [
        'install',
        '--ignore-scripts',
        '--no-audit',
        '--no-fund',
        '--loglevel=error',
        '--prefix',
        TOOLCHAIN,
        `${name}@${NODE_MAJOR}`,
      ],
      process.env,
      `Node ${NODE_MAJOR} could not be installed`,
      `check that the package registry can be reached, or put Node >= ${NODE_MAJOR} first in PATH`,
    );
  }
  const version = versionOf(node);
  if (!isNewEnough(version)) {
    throw new SetupError(
      `the Node of package ${name} does not run on this machine; put Node >= ${NODE_MAJOR} first in PATH`,
    );
  }
  write(NODE_STAMP, JSON.stringify({ path, version }));
  return node;
}

function versionOf(node) {
  return spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout?.trim() ?? '';
}

// ------------------------------------------------------------------------------------------------------ packages

function packagesAreReady() {
  try {
    return readFileSync(PACKAGES_STAMP, 'utf8') === fingerprint() + built();
  } catch {
    return false;
  }
}

/** Changes when the installed packages or the C parts have to. */
function fingerprint() {
  const hash = createHash('sha256').update(`${PNPM} node ${NODE_MAJOR} ${process.platform}-${process.arch}`);
  const folders = ['packages', 'examples', 'bench', 'test-bisim', 'scripts'].flatMap((group) => [
    group,
    ...foldersIn(group),
  ]);
  const files = [
    'pnpm-lock.yaml',
    'pnpm-workspace.yaml',
    ...['.', ...folders].map((folder) => `${folder}/package.json`),
  ];
  for (const folder of nativeFolders())
    files.push(
      ...readdirSync(join(ROOT, folder))
        .sort()
        .map((name) => `${folder}/${name}`),
    );
  for (const file of files) {
    if (!existsSync(join(ROOT, file))) continue;
    const text = readFileSync(join(ROOT, file));
    hash.update(`\n${file} ${text.length}\n`).update(text);
  }
  return hash.digest('hex');
}

function foldersIn(group) {
  if (!existsSync(join(ROOT, group))) return [];
  return readdirSync(join(ROOT, group), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== 'node_modules')
    .map((entry) => `${group}/${entry.name}`);
}

function bringPackages(node) {
  // A set-up that is killed from here on has not happened.
  rmSync(PACKAGES_STAMP, { force: true });
  const before = fingerprint();
  say('installing packages');
  run(
    'npm',
    // `npm exec` is what npx does; a machine that has npm may lack the other name.
    [
      'exec',
      '--yes',
      `--package=${PNPM}`,
      '--',
      'pnpm',
      'install',
      '--frozen-lockfile',
      '--ignore-scripts',
      '--prod=false',
      '--config.confirmModulesPurge=false',
    ],
    environmentFor(node),
    'the packages could not be installed',
    'check that the package registry can be reached; after a change of a package.json bring the lockfile up to date ' +
      `(npx -y ${PNPM} install --lockfile-only --ignore-scripts)`,
  );
  buildNative(node);
  write(PACKAGES_STAMP, before + built());
}

/** The C parts that are there, a line each: who cleans the tree takes some of it away and leaves the stamp. */
function built() {
  return nativeFolders()
    .flatMap((folder) => [join(folder, '../build'), join(folder, '../node_modules/.native')])
    .filter((folder) => existsSync(join(ROOT, folder)))
    .map((folder) => `\n${folder}`)
    .join('');
}

/** A package with a C part has a `build.mjs` beside it, which leaves its result where the package looks for it. */
function nativeFolders() {
  return foldersIn('packages')
    .flatMap((folder) => [`${folder}/native`, `${folder}/sandbox`])
    .filter((folder) => existsSync(join(ROOT, folder, 'build.mjs')));
}

function buildNative(node) {
  for (const folder of nativeFolders()) {
    if (spawnSync('cc', ['--version'], { stdio: 'ignore' }).status !== 0) {
      say(`no C compiler (cc): ${folder} is not built, what needs it will say so`);
      continue;
    }
    say(`building ${folder}`);
    run(node, [join(ROOT, folder, 'build.mjs')], environmentFor(node), `${folder} could not be built`, 'see above');
  }
}

// ----------------------------------------------------------------------------------------------------------- page

function pageIsReady() {
  try {
    return readFileSync(PAGE_STAMP, 'utf8') === pageFingerprint();
  } catch {
    return false;
  }
}

/** Changes with the sources of the console's page, and with the code that is bundled into it. */
function pageFingerprint() {
  const hash = createHash('sha256');
  const folders = ['packages/console/src/page', 'packages/vat/src'];
  const files = folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.includes('.test.'))
      .map((entry) => join(entry.parentPath ?? entry.path, entry.name)),
  );
  for (const file of ['packages/console/build.mjs', 'pnpm-lock.yaml']
    .map((name) => join(ROOT, name))
    .concat(files.sort())) {
    const text = readFileSync(file);
    hash.update(`\n${text.length}\n`).update(text);
  }
  return hash.digest('hex');
}

/** Half a second. It is remembered by what it was built from. */
function buildPage(node) {
  const before = pageFingerprint();
  const script = join(ROOT, 'packages', 'console', 'build.mjs');
  run(node, [script], environmentFor(node), 'the page of the console could not be built', 'see above');
  write(PAGE_STAMP, before);
}

// -------------------------------------------------------------------------------------------------------- running

function run(command, args, env, failure, remedy) {
  // npm is a .cmd file on Windows, which only a shell can start; no argument of ours needs quoting there.
  const shell = process.platform === 'win32' && command === 'npm';
  const done = spawnSync(command, args, { cwd: ROOT, env, shell, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  if (done.status === 0) return;
  const said = `${done.stdout ?? ''}\n${done.stderr ?? ''}`.split('\n').filter((line) => line.trim() !== '');
  const reason =
    done.error?.message ??
    said.find((line) => /ERR_|npm error (?!A complete log)/.test(line)) ??
    said[said.length - 1] ??
    `exit ${done.status}`;
  throw new SetupError(`${failure} (${reason.trim()}); ${remedy}`);
}

function write(file, text) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}.${process.pid}`, text);
  renameSync(`${file}.${process.pid}`, file);
}
