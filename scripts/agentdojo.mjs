/**
 * AgentDojo, in a virtual environment under `.toolchain/`. `examples/agentdojo/requirements.txt` pins each package with its
 * hashes; AgentDojo itself comes without the SDKs of models that it asks for, which would be 75 packages.
 *
 * Promise: an environment that `agentdojoPython` answers is complete and holds what its file says now. The set-up can be
 * killed at any moment and called by several processes at once. It never fails: it says what is lacking.
 *
 * As a program it sets up, and runs `python -m dojo`, or with `--attacks` `python -m attacks`: `npm run agentdojo`.
 *
 * Plain JavaScript for Node 18.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withLock } from './lock.mjs';
import { BRIDGE } from './python.mjs';
import { ROOT } from './setup.mjs';

export const DOJO = join(ROOT, 'examples', 'agentdojo');
const TOOLCHAIN = join(ROOT, '.toolchain');
const PINS = join(DOJO, 'requirements.txt');
/** Why the last attempt failed. */
const REASON = join(TOOLCHAIN, 'agentdojo-missing');
const INSTALL_MS = 300_000;

const wanted = () => createHash('sha256').update(readFileSync(PINS)).digest('hex');
const pythonIn = (folder) =>
  join(folder, ...(process.platform === 'win32' ? ['Scripts', 'python.exe'] : ['bin', 'python']));

/** `{python}`, or `{missing}`: why there is none. Looks, installs nothing. */
export function agentdojoPython() {
  const folders = existsSync(TOOLCHAIN) ? readdirSync(TOOLCHAIN) : [];
  for (const name of folders.filter((each) => /^agentdojo-[0-9a-f]{12}$/.test(each)).sort()) {
    const folder = join(TOOLCHAIN, name);
    if (textOf(join(folder, 'hob-stamp')) === wanted() && existsSync(pythonIn(folder)))
      return { python: pythonIn(folder) };
  }
  return {
    missing: `needs agentdojo 0.1.35 in .toolchain/ (${textOf(REASON) ?? 'npm run agentdojo and npm run test:deep install it'})`,
  };
}

/** Installs what is missing. Answers why it could not; undefined when AgentDojo is there. */
export async function setUpAgentdojo() {
  if (agentdojoPython().missing === undefined) return undefined;
  const system = findPython();
  if (system === undefined) return remember('there is no Python 3.11 or newer with venv (python3)');
  mkdirSync(TOOLCHAIN, { recursive: true });
  return withLock(
    join(TOOLCHAIN, 'agentdojo-lock'),
    (owner) => process.stderr.write(`hob: waiting for the set-up of AgentDojo that process ${owner.pid} has begun\n`),
    () => {
      if (agentdojoPython().missing === undefined) return undefined;
      process.stderr.write('hob: installing agentdojo (63 MB)\n');
      const fault = install(system);
      if (fault !== undefined) return remember(fault);
      rmSync(REASON, { force: true });
      return undefined;
    },
  );
}

/** The stamp is renamed there last: an environment without one does not exist. */
function install(system) {
  const hash = createHash('sha256').update(readFileSync(PINS)).update(system.version).digest('hex').slice(0, 12);
  const folder = join(TOOLCHAIN, `agentdojo-${hash}`);
  rmSync(folder, { recursive: true, force: true });
  const pip = ['-m', 'pip', '--quiet', '--disable-pip-version-check', '--no-input', '--retries', '2', 'install'];
  for (const [command, ...args] of [
    [system.command, '-m', 'venv', folder],
    [pythonIn(folder), ...pip, '--require-hashes', '--no-deps', '--only-binary', ':all:', '-r', PINS],
  ]) {
    const { status, stderr, error } = spawnSync(command, args, { encoding: 'utf8', timeout: INSTALL_MS });
    if (status !== 0)
      return `agentdojo could not be installed: ${error?.message ?? (stderr.trim().split('\n').at(-1) || `exit ${status}`)}`;
  }
  writeFileSync(join(folder, 'stamp.new'), wanted());
  renameSync(join(folder, 'stamp.new'), join(folder, 'hob-stamp'));
  return undefined;
}

function textOf(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

function remember(reason) {
  try {
    mkdirSync(TOOLCHAIN, { recursive: true });
    writeFileSync(REASON, reason);
  } catch {
    // A checkout that cannot be written to: the reason is only printed.
  }
  process.stderr.write(`hob: ${reason}\n`);
  return reason;
}

/** The first Python that is new enough. */
function findPython() {
  const ask = 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11) or print(sys.version, sys.prefix))';
  for (const command of ['python3', 'python3.13', 'python3.12', 'python3.11', 'python']) {
    const { status, stdout } = spawnSync(command, ['-c', ask], { encoding: 'utf8', timeout: 20_000 });
    if (status === 0) return { command, version: stdout };
  }
  return undefined;
}

/** What `python -m dojo` needs: Hob's package, and the Node that runs the host. */
export function dojoEnvironment(env) {
  return {
    ...env,
    PYTHONPATH: join(BRIDGE, 'src'),
    PYTHONDONTWRITEBYTECODE: '1',
    PATH: [dirname(process.execPath), env.PATH ?? ''].join(delimiter),
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if ((await setUpAgentdojo()) !== undefined) process.exit(1);
  const args = process.argv.slice(2);
  const rest = args.filter((word) => word !== '--attacks');
  const words = ['-m', rest.length < args.length ? 'attacks' : 'dojo', ...rest];
  const child = spawn(agentdojoPython().python, words, {
    cwd: DOJO,
    env: dojoEnvironment(process.env),
    stdio: 'inherit',
  });
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
  child.once('exit', (code) => process.exit(code ?? 1));
}
