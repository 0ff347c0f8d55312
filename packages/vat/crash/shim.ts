/**
 * The preloaded shims, `powercut.c` and `faults.c`, built by `cc` at first use and again when the source
 * changes.
 *
 * Not at set-up (`native/build.mjs`): only who tests durability needs it.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, '..', '..', '..', '.toolchain', 'crash');

/** Answers the shared object's path. Safe in several processes at once. */
export function buildShim(name: 'powercut' | 'faults'): string {
  const source = join(import.meta.dirname, `${name}.c`);
  const version = createHash('sha256').update(readFileSync(source)).digest('hex').slice(0, 16);
  const file = join(FOLDER, `${name}-${version}.so`);
  if (existsSync(file)) return file;
  mkdirSync(FOLDER, { recursive: true });
  const draft = `${file}.${process.pid}`;
  try {
    execFileSync('cc', ['-shared', '-fPIC', '-O2', '-Wall', '-Wextra', '-Werror', '-o', draft, source], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  } catch {
    throw new Error('simulated disks need Linux and a C compiler (cc): install one, or run with --mode kill');
  }
  renameSync(draft, file);
  return file;
}
