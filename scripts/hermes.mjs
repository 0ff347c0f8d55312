/**
 * The real Hermes, for the tests that compare with it: two virtual environments under `.toolchain/`, one per version.
 *
 * `packages/bridge-python/hermes/VERSION.txt` pins every package with its hashes. 0.19.0 is whole (with MCP, ACP and what the tests of
 * the bridge need); of 0.17.0, the version that the seeds describe, there is what its verdicts and its own tools import.
 *
 * Promise: an environment that `hermesPython` answers is complete and holds exactly what its file says now. The set-up can be killed at
 * any moment and called by several processes at once. It never fails: where something is lacking (no Python, no registry) it says
 * so, and the tests that need Hermes are skipped with that reason. Only tests call it: `npm start` installs nothing of this.
 *
 * Plain JavaScript for Node 18.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withLock } from './lock.mjs';
import { BRIDGE } from './python.mjs';
import { ROOT } from './setup.mjs';

export const HERMES_VERSIONS = ['0.17.0', '0.19.0'];

const TOOLCHAIN = join(ROOT, '.toolchain');
/** Why the last attempt failed; the probe and pytest repeat it. */
const REASON = join(TOOLCHAIN, 'hermes-missing');
const INSTALL_MS = 300_000;

const pins = (version) => join(BRIDGE, 'hermes', `${version}.txt`);
const digest = (...texts) => texts.reduce((hash, text) => hash.update(text), createHash('sha256')).digest('hex');
const pythonIn = (folder) =>
  join(folder, ...(process.platform === 'win32' ? ['Scripts', 'python.exe'] : ['bin', 'python']));

/**
 * `{python}`: the interpreter that has this version of Hermes; or `{missing}`: why there is none. Looks, installs nothing.
 * `packages/bridge-python/tests/hermes_env.py` finds the same ones: a folder `hermes-VERSION-*` whose stamp is the digest of the pins.
 */
export function hermesPython(version) {
  const wanted = digest(readFileSync(pins(version)));
  const folders = existsSync(TOOLCHAIN) ? readdirSync(TOOLCHAIN) : [];
  for (const name of folders.filter((each) => each.startsWith(`hermes-${version}-`)).sort()) {
    const folder = join(TOOLCHAIN, name);
    if (stampOf(folder) === wanted && existsSync(pythonIn(folder))) return { python: pythonIn(folder) };
  }
  return { missing: `needs hermes-agent ${version} in .toolchain/ (${lastReason()})` };
}

/** Answers why Hermes is missing; undefined when both versions are there. */
export async function setUpHermes() {
  if (lacking().length === 0) return undefined;
  const system = findPython();
  if (system === undefined) return remember('there is no Python 3.11 to 3.13 with venv (python3)');
  mkdirSync(TOOLCHAIN, { recursive: true });
  return withLock(
    join(TOOLCHAIN, 'hermes-lock'),
    (owner) => process.stderr.write(`hob: waiting for the set-up of Hermes that process ${owner.pid} has begun\n`),
    async () => {
      const versions = lacking();
      if (versions.length === 0) return undefined;
      process.stderr.write(`hob: installing hermes-agent ${versions.join(' and ')} for the tests (about a minute)\n`);
      const faults = await Promise.all(versions.map((version) => install(system, version)));
      const fault = faults.find((each) => each !== undefined);
      if (fault !== undefined) return remember(fault);
      rmSync(REASON, { force: true });
      return undefined;
    },
  );
}

const lacking = () => HERMES_VERSIONS.filter((version) => hermesPython(version).missing !== undefined);

/**
 * Built where it will stay, since a virtual environment knows its own path (its scripts name it), and put into place by the stamp,
 * which is renamed there last: an environment without one does not exist.
 */
async function install(system, version) {
  const text = readFileSync(pins(version));
  const folder = join(TOOLCHAIN, `hermes-${version}-${digest(text, system.version).slice(0, 12)}`);
  rmSync(folder, { recursive: true, force: true });
  const pip = ['-m', 'pip', '--quiet', '--disable-pip-version-check', '--no-input', '--retries', '2', 'install'];
  for (const [command, ...args] of [
    [system.command, '-m', 'venv', folder],
    // Every package is named in the file: nothing is resolved, and nothing is built from source.
    [pythonIn(folder), ...pip, '--require-hashes', '--no-deps', '--only-binary', ':all:', '-r', pins(version)],
    [pythonIn(folder), '-c', `import importlib.metadata as m, yaml; assert m.version("hermes-agent") == "${version}"`],
  ]) {
    const fault = await runs(command, args);
    if (fault !== undefined) return `hermes-agent ${version} could not be installed: ${fault}`;
  }
  writeFileSync(join(folder, 'stamp.new'), digest(text));
  renameSync(join(folder, 'stamp.new'), join(folder, 'hob-stamp'));
  return undefined;
}

function stampOf(folder) {
  try {
    return readFileSync(join(folder, 'hob-stamp'), 'utf8');
  } catch {
    return undefined;
  }
}

function lastReason() {
  try {
    return readFileSync(REASON, 'utf8');
  } catch {
    return 'npm run test:deep installs it';
  }
}

function remember(reason) {
  try {
    mkdirSync(TOOLCHAIN, { recursive: true });
    writeFileSync(REASON, reason);
  } catch {
    // A checkout that cannot be written to: the reason is only printed.
  }
  process.stderr.write(`hob: tests against Hermes will be skipped: ${reason}\n`);
  return reason;
}

/** The first Python that Hermes runs on. */
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
