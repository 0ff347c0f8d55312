/**
 * Builds the sandbox program with `cc`, in about a second, into `build/` of this package.
 *
 * Promise: the result appears whole or not at all, and nothing is left of an attempt that failed. With it comes a
 * note of what it was made of and its checksum; the launcher runs nothing else. `node build.mjs [OUT] [-DNAME …]`:
 * tests build a variant.
 *
 * Plain JavaScript: set-up runs it.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = dirname(fileURLToPath(import.meta.url));

const [out = join(HERE, '..', 'build', 'hob-sandbox'), ...defines] = process.argv.slice(2);
const sources = readdirSync(HERE)
  .filter((name) => name.endsWith('.c'))
  .sort();

if (isReady()) process.exit();
mkdirSync(dirname(out), { recursive: true });
const made = `${out}.${process.pid}`;
// A static program needs nothing of the world that it builds; where there is no static C library it is an ordinary one.
const attempts = [['cc', '-static'], ['cc']].map(([cc, ...flags]) => [
  cc,
  '-std=gnu11',
  '-O2',
  '-Wall',
  '-Wextra',
  '-fstack-protector-strong',
  '-D_FORTIFY_SOURCE=2',
  ...flags,
  ...defines,
  '-o',
  made,
  ...sources.map((name) => join(HERE, name)),
]);
let said = '';
const built = attempts.some(([cc, ...args]) => {
  const done = spawnSync(cc, args, { encoding: 'utf8' });
  // The message of the last attempt. The first fails in the same way, or because there is no static C library.
  said = done.error?.code === 'ENOENT' ? 'no C compiler (cc)' : (done.error?.message ?? done.stderr.trimEnd());
  return done.status === 0;
});
if (!built) {
  rmSync(made, { force: true });
  removeIfEmpty(dirname(out));
  process.stderr.write(`${said}\n`);
  process.exit(1);
}
const note = { binary: sha256(readFileSync(made)), sources: fingerprint() };
writeFileSync(`${made}.json`, JSON.stringify(note));
renameSync(made, out);
renameSync(`${made}.json`, `${out}.json`);

function isReady() {
  try {
    const { binary, sources } = JSON.parse(readFileSync(`${out}.json`, 'utf8'));
    return sources === fingerprint() && binary === sha256(readFileSync(out));
  } catch {
    return false;
  }
}

function removeIfEmpty(folder) {
  try {
    rmdirSync(folder);
  } catch {
    // Something else is in it.
  }
}

function fingerprint() {
  const hash = createHash('sha256');
  for (const name of readdirSync(HERE).sort()) {
    if (/\.[ch]$/.test(name)) hash.update(`${name}\n`).update(readFileSync(join(HERE, name)));
  }
  return hash.digest('hex');
}

function sha256(bytes) {
  return createHash('sha256').update(bytes).digest('hex');
}
