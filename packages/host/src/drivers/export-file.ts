/** Writes lines to a file that is whole or not there, or to standard output. */
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';

export async function writeLines(file: string | undefined, lines: AsyncIterable<string>): Promise<number> {
  let count = 0;
  if (file === undefined) {
    for await (const line of lines) {
      process.stdout.write(`${line}\n`);
      count += 1;
    }
    return count;
  }
  const draft = `${file}.${process.pid}.part`;
  // Only its owner may read who was granted what.
  const descriptor = openSync(draft, 'w', 0o600);
  try {
    for await (const line of lines) {
      writeSync(descriptor, `${line}\n`);
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
