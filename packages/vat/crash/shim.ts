/**
 * The preloaded shim of `powercut.c`, built by `cc` at first use and again when its source changes.
 *
 * Not at set-up (`native/build.mjs`): only who tests durability needs it.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';

const SOURCE = join(import.meta.dirname, 'powercut.c');
const FOLDER = join(import.meta.dirname, '..', '..', '..', '.toolchain', 'crash');

/** Answers the shared object's path. Safe in several processes at once. */
export function buildShim(): string {
  const version = createHash('sha256').update(readFileSync(SOURCE)).digest('hex').slice(0, 16);
  const file = join(FOLDER, `powercut-${version}.so`);
  if (existsSync(file)) return file;
  mkdirSync(FOLDER, { recursive: true });
  const draft = `${file}.${process.pid}`;
  try {
    execFileSync('cc', ['-shared', '-fPIC', '-O2', '-Wall', '-Wextra', '-Werror', '-o', draft, SOURCE], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  } catch {
    throw new Error('simulated power cuts need Linux and a C compiler (cc): install one, or run with --mode kill');
  }
  renameSync(draft, file);
  return file;
}
