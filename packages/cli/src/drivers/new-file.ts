/** Writes a file that was not there. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { Mistake } from '../line/mistake.ts';

/** Makes the folders above it, its user's alone. Errors: `Mistake` (something has that name, also a broken link). */
export function writeNewFile(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  try {
    writeFileSync(path, text, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new Mistake(`${path} is there already, and stays as it is: name another file, or remove it first`);
  }
}

/** The text of a file; undefined if it cannot be read. */
export function textAt(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
