/**
 * Compiles the C part: `node native/build.mjs`, called by the set-up of the checkout where there is a C
 * compiler.
 *
 * Promise: a second at most, no network, no node-gyp; the result appears whole or not at all. It lies in
 * `node_modules`, so that it goes when the packages go. Plain JavaScript for Node 18.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const modules = join(dirname(here), 'node_modules');
const result = join(modules, '.native', 'fscap.node');

if (process.platform === 'linux') build();

function build() {
  const headers = [join(modules, 'node-api-headers', 'include'), join(process.execPath, '../../include/node')].find(
    (folder) => existsSync(join(folder, 'node_api.h')),
  );
  if (headers === undefined) fail('node_api.h is not there: install the packages first');
  mkdirSync(dirname(result), { recursive: true });
  const fresh = `${result}.${process.pid}`;
  const flags = ['-O2', '-std=gnu11', '-Wall', '-Wextra', '-Werror', '-shared', '-fPIC', '-fvisibility=hidden'];
  const sources = readdirSync(here)
    .filter((name) => name.endsWith('.c'))
    .map((name) => join(here, name));
  const done = spawnSync('cc', [...flags, '-I', headers, ...sources, '-o', fresh], { encoding: 'utf8' });
  if (done.status !== 0) {
    rmSync(fresh, { force: true });
    fail(done.error?.message ?? done.stderr);
  }
  renameSync(fresh, result);
}

function fail(why) {
  process.stderr.write(`${why}\n`);
  process.exit(1);
}
