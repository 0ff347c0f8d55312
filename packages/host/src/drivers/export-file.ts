/** Writes lines of JSON to a file that is whole or not there, or to standard output. Somebody will look at the file in a terminal, too. */
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { CapError } from '@hob/vat';
import { jsonOnScreen } from '../words/words.ts';
import { outJson } from './terminal.ts';

/** A file that the caller names, as text. Errors: `invalid` where it cannot be read. */
export function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw new CapError('invalid', `"${file}" cannot be read: name a file that is there`);
  }
}

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
      writeSync(descriptor, `${jsonOnScreen(line)}\n`);
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
