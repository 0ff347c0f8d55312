/**
 * Reads the lines of a file in batches, without loading the whole file.
 *
 * A line longer than `longest` is returned incomplete (but still longer than `longest`) and ends the reading.
 * So a file without line breaks cannot fill the reader's memory.
 */
import { type FileHandle, open } from 'node:fs/promises';
import { CapError } from '../core/errors.ts';

const CHUNK = 256 * 1024;
const NEWLINE = 10;

export async function* readLines(file: string, longest: number): AsyncGenerator<readonly Uint8Array[], void> {
  const handle = await reach(() => open(file, 'r'));
  try {
    let rest = Buffer.alloc(0);
    for (;;) {
      const { bytesRead, buffer } = await reach(() => handle.read(Buffer.allocUnsafe(CHUNK), 0, CHUNK, null));
      if (bytesRead === 0) break;
      const text = Buffer.concat([rest, buffer.subarray(0, bytesRead)]);
      const batch: Uint8Array[] = [];
      let from = 0;
      for (let end = text.indexOf(NEWLINE); end !== -1; end = text.indexOf(NEWLINE, from)) {
        batch.push(text.subarray(from, end));
        from = end + 1;
      }
      rest = text.subarray(from);
      yield batch;
      if (rest.length > longest) break;
    }
    if (rest.length > 0) yield [rest]; // the last line may lack its line break
  } finally {
    await handle.close();
  }
}

/** Errors of the file system contain the path. Errors of Hob must not. */
async function reach<T extends FileHandle | { readonly bytesRead: number }>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch {
    throw new CapError('unavailable', 'this file cannot be read: check its name, and that you may read it');
  }
}
