/**
 * The C compiler of Zig under `.toolchain/`: it builds the native parts for every platform, with the C library musl.
 *
 * `scripts/zig.txt` pins it with its hashes, since another version makes other bytes. Only `npm run native`, `npm run pack`
 * and `.ci/run` bring it (100 MB). It needs Python with pip on Linux, x64 or arm64.
 *
 * Plain JavaScript for Node 18.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withLock } from './lock.mjs';
import { ROOT } from './setup.mjs';

const PINS = fileURLToPath(new URL('./zig.txt', import.meta.url));
const digest = createHash('sha256').update(readFileSync(PINS)).digest('hex').slice(0, 12);
const FOLDER = join(ROOT, '.toolchain', `zig-${digest}`);
const PROGRAM = join(FOLDER, 'ziglang', 'zig');
const INSTALL_MS = 300_000;

/** `{zig}`: the program; or `{missing}`: why there is none. Looks, installs nothing. */
export function zigProgram() {
  if (existsSync(PROGRAM)) return { zig: PROGRAM };
  return { missing: 'needs the compiler of Zig in .toolchain/: npm run native installs it' };
}

/** Like `zigProgram`, after bringing it if it is not there. */
export async function setUpZig() {
  if (existsSync(PROGRAM)) return { zig: PROGRAM };
  if (process.platform !== 'linux') return { missing: 'needs Linux, where the compiler of Zig is pinned for' };
  return withLock(
    join(ROOT, '.toolchain', 'zig-lock'),
    (owner) => process.stderr.write(`hob: waiting for the set-up of Zig that process ${owner.pid} has begun\n`),
    () => (existsSync(PROGRAM) ? { zig: PROGRAM } : install()),
  );
}

function install() {
  process.stderr.write('hob: installing the compiler of Zig (100 MB)\n');
  const work = `${FOLDER}.new`;
  rmSync(work, { recursive: true, force: true });
  mkdirSync(dirname(FOLDER), { recursive: true });
  const pip = ['-m', 'pip', '--quiet', '--disable-pip-version-check', '--no-input', '--retries', '2', 'install'];
  const what = [
    '--require-hashes',
    '--no-deps',
    '--only-binary',
    ':all:',
    '--no-compile',
    '--target',
    work,
    '-r',
    PINS,
  ];
  const done = spawnSync('python3', [...pip, ...what], { encoding: 'utf8', timeout: INSTALL_MS });
  if (done.status !== 0) {
    rmSync(work, { recursive: true, force: true });
    const why = done.error?.message ?? (done.stderr.trim().split('\n').at(-1) || `exit ${done.status}`);
    return { missing: `needs the compiler of Zig, which pip could not install: ${why}` };
  }
  renameSync(work, FOLDER);
  return { zig: PROGRAM };
}
