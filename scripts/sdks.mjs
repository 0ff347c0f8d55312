/**
 * The SDKs of agent loops that the examples of `@hob/tools` are tried against, in `examples/tools/node_modules`.
 *
 * `examples/tools/package-lock.json` pins every package with its digest. No script of a package is run.
 *
 * Promise: `sdksMissing()` answers undefined only if the folder is complete and holds what the lockfile says now. The
 * set-up can be killed at any moment and called by several processes at once. It never fails: where there is no
 * registry it says so, and the tests that need the SDKs are skipped with that reason. Only tests call it.
 *
 * Plain JavaScript for Node 18.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withLock } from './lock.mjs';
import { ROOT } from './setup.mjs';

const FOLDER = join(ROOT, 'examples', 'tools');
// Inside node_modules, so that it goes when they go.
const STAMP = join(FOLDER, 'node_modules', '.hob-stamp');
const LOCK = join(ROOT, '.toolchain', 'sdks-lock');
const INSTALL_MS = 300_000;

const wanted = () =>
  createHash('sha256')
    .update(readFileSync(join(FOLDER, 'package-lock.json')))
    .digest('hex');

/** Why they are not there; undefined if they are. Installs nothing. */
export function sdksMissing() {
  try {
    if (readFileSync(STAMP, 'utf8') === wanted()) return undefined;
  } catch {
    // There is no stamp.
  }
  return 'needs the SDKs of agent loops (npm run test:deep installs them into examples/tools)';
}

/** Answers why they are missing; undefined if they are there now. */
export async function setUpSdks() {
  if (sdksMissing() === undefined) return undefined;
  mkdirSync(join(ROOT, '.toolchain'), { recursive: true });
  return withLock(
    LOCK,
    (owner) => process.stderr.write(`hob: waiting for the set-up of the SDKs that process ${owner.pid} has begun\n`),
    async () => {
      if (sdksMissing() === undefined) return undefined;
      process.stderr.write('hob: installing the SDKs of agent loops for the tests (200 MB)\n');
      // A set-up that is killed from here on has not happened.
      rmSync(STAMP, { force: true });
      const fault = await install();
      if (fault === undefined) {
        writeFileSync(`${STAMP}.new`, wanted());
        renameSync(`${STAMP}.new`, STAMP);
        return undefined;
      }
      process.stderr.write(`hob: tests against agent loops will be skipped: ${fault}\n`);
      return fault;
    },
  );
}

/** Answers undefined, or what npm said last when it failed. */
function install() {
  return new Promise((resolve) => {
    const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    const shell = process.platform === 'win32';
    const child = spawn('npm', args, { cwd: FOLDER, shell, stdio: ['ignore', 'ignore', 'pipe'] });
    const timer = setTimeout(() => child.kill('SIGKILL'), INSTALL_MS);
    let said = '';
    child.stderr.on('data', (text) => {
      said = `${said}${text}`.slice(-4_000);
    });
    child.once('error', (error) => resolve(`the SDKs could not be installed: ${error.message}`));
    child.once('close', (code) => {
      clearTimeout(timer);
      const line = said.split('\n').find((each) => /npm error (?!A complete log|code)/.test(each)) ?? `exit ${code}`;
      resolve(code === 0 ? undefined : `the SDKs could not be installed: ${line}`);
    });
  });
}
