/**
 * Compiled code that is kept between the processes of a storm: starting is most of what one kill costs.
 *
 * By an environment variable, since a thread of theirs has it too. What is kept is written when a process
 * ends, and those that are killed never end; so one that may end comes first.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Place } from './here.ts';

const FOLDER = join(import.meta.dirname, '..', '..', '..', '.toolchain', 'crash', 'compiled');

/** The environment with which a process starts fast. */
export const compiled: Readonly<Record<string, string>> = { NODE_COMPILE_CACHE: FOLDER };

const warm = new Map<string, Promise<void>>();

/** Fulfilled when the code of this subject is there. */
export function warmUp(subject: string): Promise<void> {
  let done = warm.get(subject);
  if (done === undefined) {
    done = run(subject);
    warm.set(subject, done);
  }
  return done;
}

async function run(subject: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'hob-warm-'));
  try {
    const program = join(import.meta.dirname, 'child.ts');
    const place: Place = { folder: join(folder, 'store') };
    await promisify(execFile)(process.execPath, [program, subject, JSON.stringify(place), '0'], {
      env: { ...process.env, ...compiled },
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
