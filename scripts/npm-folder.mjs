/**
 * npm packages that only tests use, each set in a folder with a `package.json` and a `package-lock.json` of its own.
 *
 * The lockfile pins every package with its digest. No script of a package is run.
 *
 * Promise: `missing()` answers undefined only if the folder is complete and holds what the lockfile says now. The set-up
 * can be killed at any moment and called by several processes at once. It never fails: where there is no registry it
 * says so, and the tests that need the packages are skipped with that reason. Only tests call it.
 *
 * Plain JavaScript for Node 18.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withLock } from './lock.mjs';
import { ROOT } from './setup.mjs';

const INSTALL_MS = 300_000;

/** The packages of the folder `from`, installed into `to`. `what` names them in messages, `size` with its unit. */
export function npmFolder({ what, from, to = from, lock, size, how }) {
  // Inside node_modules, so that it goes when they go.
  const stamp = join(to, 'node_modules', '.hob-stamp');
  const wanted = () =>
    createHash('sha256')
      .update(readFileSync(join(from, 'package-lock.json')))
      .digest('hex');

  /** Why they are not there; undefined if they are. Installs nothing. */
  function missing() {
    try {
      if (readFileSync(stamp, 'utf8') === wanted()) return undefined;
    } catch {
      // There is no stamp.
    }
    return `needs ${what} (${how})`;
  }

  /** Answers why they are missing; undefined if they are there now. */
  async function setUp() {
    if (missing() === undefined) return undefined;
    mkdirSync(join(ROOT, '.toolchain'), { recursive: true });
    return withLock(
      join(ROOT, '.toolchain', lock),
      (owner) => process.stderr.write(`hob: waiting for the set-up of ${what} that process ${owner.pid} has begun\n`),
      async () => {
        if (missing() === undefined) return undefined;
        process.stderr.write(`hob: installing ${what} for the tests (${size})\n`);
        // A set-up that is killed from here on has not happened.
        rmSync(stamp, { force: true });
        mkdirSync(to, { recursive: true });
        if (to !== from)
          for (const name of ['package.json', 'package-lock.json']) copyFileSync(join(from, name), join(to, name));
        const fault = await install(what, to);
        if (fault === undefined) {
          writeFileSync(`${stamp}.new`, wanted());
          renameSync(`${stamp}.new`, stamp);
          return undefined;
        }
        process.stderr.write(`hob: tests that need ${what} will be skipped: ${fault}\n`);
        return fault;
      },
    );
  }
  return { missing, setUp };
}

/** Answers undefined, or what npm said last when it failed. */
function install(what, folder) {
  return new Promise((resolve) => {
    const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    const shell = process.platform === 'win32';
    const child = spawn('npm', args, { cwd: folder, shell, stdio: ['ignore', 'ignore', 'pipe'] });
    const timer = setTimeout(() => child.kill('SIGKILL'), INSTALL_MS);
    let said = '';
    child.stderr.on('data', (text) => {
      said = `${said}${text}`.slice(-4_000);
    });
    child.once('error', (error) => resolve(`${what} could not be installed: ${error.message}`));
    child.once('close', (code) => {
      clearTimeout(timer);
      const line = said.split('\n').find((each) => /npm error (?!A complete log|code)/.test(each)) ?? `exit ${code}`;
      resolve(code === 0 ? undefined : `${what} could not be installed: ${line}`);
    });
  });
}
