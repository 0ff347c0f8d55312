/**
 * A virtual environment for the tests of `packages/bridge-python`.
 *
 * Promise: it is made once for what its pyproject.toml asks for, can be killed at any moment and called by
 * several processes at once; nothing of it is installed anywhere else. Where there is no Python, or no registry
 * to bring the packages from, it says so, and nothing else is missing.
 *
 * Plain JavaScript for Node 18.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withLock } from './lock.mjs';
import { ROOT } from './setup.mjs';

export const BRIDGE = join(ROOT, 'packages', 'bridge-python');
const TOOLCHAIN = join(ROOT, '.toolchain');

/** The packages for `pip`: the dependencies, and those of the tests. Read by Python itself. */
const NEEDED =
  'import sys, tomllib; p = tomllib.load(open(sys.argv[1], "rb"))["project"]; ' +
  'print("\\n".join(p["dependencies"] + p["optional-dependencies"]["test"]))';

const run = (command, ...args) =>
  spawnSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], timeout: 300_000 });

/** The first Python that is new enough. */
function findPython() {
  for (const name of ['python3', 'python3.13', 'python3.12', 'python3.11', 'python'])
    if (run(name, '-c', 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))').status === 0) return name;
  return undefined;
}

/** `{python}`: one that has everything; or `{missing}`: why there is none. */
export async function setUpPython() {
  const project = join(BRIDGE, 'pyproject.toml');
  const system = findPython();
  if (system === undefined) return { missing: 'needs Python >= 3.11 with venv (python3)' };
  const { stdout: version } = run(system, '-c', 'import sys; print(sys.version, sys.prefix)');
  const needed = run(system, '-c', NEEDED, project).stdout.split('\n').filter(Boolean);
  const hash = createHash('sha256').update(needed.join('\n')).update(version).digest('hex').slice(0, 12);
  const folder = join(TOOLCHAIN, `python-${hash}`);
  const python = join(folder, ...(process.platform === 'win32' ? ['Scripts', 'python.exe'] : ['bin', 'python']));
  const stamp = join(folder, 'hob-stamp');
  if (existsSync(stamp)) return { python };
  mkdirSync(TOOLCHAIN, { recursive: true });
  return withLock(
    join(TOOLCHAIN, 'python-lock'),
    (owner) => process.stderr.write(`hob: waiting for the set-up that process ${owner.pid} has begun\n`),
    () => {
      if (existsSync(stamp)) return { python };
      process.stderr.write('hob: installing what the Python tests need\n');
      rmSync(folder, { recursive: true, force: true });
      for (const [command, ...args] of [
        [system, '-m', 'venv', folder],
        [python, '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...needed],
      ]) {
        const done = run(command, ...args);
        if (done.status !== 0)
          return {
            missing: `needs Python packages that could not be installed (${lastLine(done.stderr)}): check that the package registry can be reached`,
          };
      }
      // Last: one that is killed before has not happened.
      writeFileSync(stamp, `${needed.join('\n')}\n`);
      return { python };
    },
  );
}

const lastLine = (text) => text?.trim().split('\n').at(-1) ?? '';
