/**
 * Writes lines of JSON to a file, whole or not at all, or to standard output. Both are safe to look at in a
 * terminal.
 */
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { CapError } from '@hob/vat';
import { terminalJson } from '../text/safe-text.ts';
import { outJson } from './terminal.ts';

/** Returns the text of a file that the caller names. Errors: `invalid`. */
export function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw new CapError('invalid', `"${file}" cannot be read: name a file that is there`);
  }
}

/** Writes lines to a new file for its owner only, or to the standard output. Returns their number. */
export async function writeLines(file: string | undefined, lines: AsyncIterable<string>): Promise<number> {
  let count = 0;
  if (file === undefined) {
    for await (const line of lines) {
      outJson(line);
      count += 1;
    }
    return count;
  }
  const draft = `${file}.${process.pid}.part`;
  // Only its owner may read who was granted what.
  const descriptor = openSync(draft, 'w', 0o600);
  try {
    for await (const line of lines) {
      writeSync(descriptor, `${terminalJson(line)}\n`);
      count += 1;
    }
    fsyncSync(descriptor);
  } catch (error) {
    closeSync(descriptor);
    rmSync(draft, { force: true });
    throw error;
  }
  closeSync(descriptor);
  renameSync(draft, file);
  return count;
}
