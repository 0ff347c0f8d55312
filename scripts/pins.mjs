/**
 * Virtual environments under `.toolchain/` for tests that need real releases of Python packages.
 *
 * A file of pins names every package of an environment with its hashes. An environment is a folder `NAME-*` whose stamp is the digest
 * of its pins.
 *
 * Promise: an environment that is answered is complete and holds exactly what its file says now. The set-up can be killed at any moment
 * and called by several processes at once. It never fails: where something is lacking (no Python, no registry) it says so, and the
 * tests are skipped with that reason.
 *
 * Plain JavaScript for Node 18.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withLock } from './lock.mjs';
import { ROOT } from './setup.mjs';

const TOOLCHAIN = join(ROOT, '.toolchain');
const INSTALL_MS = 300_000;

const digest = (...texts) => texts.reduce((hash, text) => hash.update(text), createHash('sha256')).digest('hex');
const pythonIn = (folder) =>
  join(folder, ...(process.platform === 'win32' ? ['Scripts', 'python.exe'] : ['bin', 'python']));

/**
 * `kind` names the lock and the file with the reason of the last failure, `what` the thing for a person. Each of `environments` is
 * `{name, called, pins, check}`: the folder's first words, the thing for a person, the file of pins, and a program that fails where the
 * wrong thing was installed.
 */
export function pinned({ kind, what, environments }) {
  /** Why the last attempt failed; the probe and pytest repeat it. */
  const reasonFile = join(TOOLCHAIN, `${kind}-missing`);

  /** `{python}`: the interpreter of this environment; or `{missing}`: why there is none. Looks, installs nothing. */
  function find(name) {
    const { pins, called } = environments.find((each) => each.name === name);
    const wanted = digest(readFileSync(pins));
    const folders = existsSync(TOOLCHAIN) ? readdirSync(TOOLCHAIN) : [];
    for (const each of folders.filter((folder) => folder.startsWith(`${name}-`)).sort()) {
      const folder = join(TOOLCHAIN, each);
      if (stampOf(folder) === wanted && existsSync(pythonIn(folder))) return { python: pythonIn(folder) };
    }
    return { missing: `needs ${called} in .toolchain/ (${textOf(reasonFile) ?? 'npm run test:deep installs it'})` };
  }

  const lacking = () => environments.filter(({ name }) => find(name).missing !== undefined);

  /** Answers why one is missing; undefined when all are there. */
  async function setUp() {
    if (lacking().length === 0) return undefined;
    const system = findPython();
    if (system === undefined) return remember('there is no Python 3.11 to 3.13 with venv (python3)');
    mkdirSync(TOOLCHAIN, { recursive: true });
    return withLock(
      join(TOOLCHAIN, `${kind}-lock`),
      (owner) => process.stderr.write(`hob: waiting for the set-up of ${what} that process ${owner.pid} has begun\n`),
      async () => {
        const wanted = lacking();
        if (wanted.length === 0) return undefined;
        const names = wanted.map(({ called }) => called).join(' and ');
        process.stderr.write(`hob: installing ${names} for the tests (about a minute)\n`);
        const faults = await Promise.all(wanted.map((each) => install(system, each)));
        const fault = faults.find((each) => each !== undefined);
        if (fault !== undefined) return remember(fault);
        rmSync(reasonFile, { force: true });
        return undefined;
      },
    );
  }

  function remember(reason) {
    try {
      mkdirSync(TOOLCHAIN, { recursive: true });
      writeFileSync(reasonFile, reason);
    } catch {
      // A checkout that cannot be written to: the reason is only printed.
    }
    process.stderr.write(`hob: tests against ${what} will be skipped: ${reason}\n`);
    return reason;
  }

  return { find, setUp };
}

/**
 * Built where it will stay, since a virtual environment knows its own path (its scripts name it), and put into place by the stamp,
 * which is renamed there last: an environment without one does not exist.
 */
async function install(system, { name, called, pins, check }) {
  const text = readFileSync(pins);
  const folder = join(TOOLCHAIN, `${name}-${digest(text, system.version).slice(0, 12)}`);
  rmSync(folder, { recursive: true, force: true });
  const pip = ['-m', 'pip', '--quiet', '--disable-pip-version-check', '--no-input', '--retries', '2', 'install'];
  for (const [command, ...args] of [
    [system.command, '-m', 'venv', folder],
    // Every package is named in the file: nothing is resolved, and nothing is built from source.
    [pythonIn(folder), ...pip, '--require-hashes', '--no-deps', '--only-binary', ':all:', '-r', pins],
    [pythonIn(folder), '-c', check],
  ]) {
    const fault = await runs(command, args);
    if (fault !== undefined) return `${called} could not be installed: ${fault}`;
  }
  writeFileSync(join(folder, 'stamp.new'), digest(text));
  renameSync(join(folder, 'stamp.new'), join(folder, 'hob-stamp'));
  return undefined;
}

const stampOf = (folder) => textOf(join(folder, 'hob-stamp'));

function textOf(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/** The first Python that these packages run on. */
function findPython() {
  const ask =
    'import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info < (3, 14) or print(sys.version, sys.prefix))';
  for (const command of ['python3', 'python3.13', 'python3.12', 'python3.11', 'python']) {
    const { status, stdout } = spawnSync(command, ['-c', ask], { encoding: 'utf8', timeout: 20_000 });
    if (status === 0) return { command, version: stdout };
  }
  return undefined;
}

/** Answers undefined, or the last line of what it said when it failed. */
function runs(command, args) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    const timer = setTimeout(() => child.kill('SIGKILL'), INSTALL_MS);
    let said = '';
    child.stderr.on('data', (text) => {
      said = `${said}${text}`.slice(-4_000);
    });
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code) => {
      clearTimeout(timer);
      resolve(code === 0 ? undefined : said.trim().split('\n').at(-1) || `exit ${code}`);
    });
  });
}
