/** Reads text: lines of a file, its end, and many files in one call. */
import { CapError } from '@hob/vat';
import { bytesOf, takeCount, takeList, takeRecord, takeText } from '../base/arguments.ts';
import { outward, refusal } from '../base/errors.ts';
import type { TextOrRefusal } from '../base/fs-cap.ts';
import type { HeldDirectory } from '../root/held-directory.ts';
import { type Path, parsePath } from '../root/path.ts';
import { openFile } from '../root/resolve.ts';
import { readWhole } from './content.ts';
import { holding, type Operation } from './operation.ts';

const step = 64 * 1024;
const maxFiles = 1_000;
const newline = 10;

export function readText(path: unknown, window: unknown): Operation<string> {
  const parsed = parsePath(path);
  const given = takeRecord(window, 'a window', ['line', 'lines', 'tail']);
  const tail = takeCount(given.tail, 'tail');
  if (tail !== undefined && (given.line !== undefined || given.lines !== undefined)) {
    throw refusal('invalid', 'tail is not given together with line and lines');
  }
  const line = takeCount(given.line, 'line', 1) ?? 1;
  const lines = takeCount(given.lines, 'lines');
  if (tail !== undefined) return (held) => tailOf(held, parsed, tail);
  return async (held) => linesOf((await readWhole(held, parsed)).text, line, lines);
}

/** Returns the last lines of a file, however large the file is. */
async function tailOf(held: HeldDirectory, path: Path, lines: number): Promise<string> {
  const { kernel, limits } = held.root;
  using file = openFile(held, path);
  // Some file systems report size 0 for files with content.
  if (file.status.size === 0) return lastLines((await readWhole(held, path)).text, lines);
  const pieces: Uint8Array[] = [];
  let start = file.status.size;
  let taken = 0;
  // One line end more than lines: the last line has one, too.
  for (let ends = 0; start > 0 && ends <= lines; ) {
    const length = Math.min(step, start);
    taken += length;
    if (taken > limits.maxReadBytes)
      throw refusal('FS_LIMIT', `maxReadBytes ${limits.maxReadBytes}, ask for fewer lines`);
    start -= length;
    const piece = await readPiece(kernel, file.fd, start, length);
    for (const byte of piece) if (byte === newline) ends += 1;
    pieces.unshift(piece);
  }
  const bytes = new Uint8Array(Buffer.concat(pieces));
  // The first piece may begin in the middle of a character. That line is not one of the last lines, so it is cut off.
  const from = start === 0 ? 0 : bytes.indexOf(newline) + 1;
  return lastLines(takeText(bytes.subarray(from)), lines);
}

async function readPiece(kernel: HeldDirectory['root']['kernel'], fd: number, start: number, length: number) {
  const piece = kernel.memory(length);
  let done = 0;
  while (done < length) {
    const got = await kernel.read(fd, piece.subarray(done), start + done);
    if (got === 0) break;
    done += got;
  }
  return piece.subarray(0, done);
}

function lastLines(text: string, lines: number): string {
  if (lines === 0) return '';
  let at = text.endsWith('\n') ? text.length - 1 : text.length;
  for (let left = lines; left > 0 && at >= 0; left--) at = at === 0 ? -1 : text.lastIndexOf('\n', at - 1);
  return text.slice(at + 1);
}

/** Reads each file as `readText` does. One that cannot be read has its error, and the others are read. */
export function readMany(paths: unknown): Operation<readonly TextOrRefusal[]> {
  const wanted = takeList(paths, 'paths', maxFiles).map((path) => {
    if (typeof path !== 'string') throw refusal('PATH_INVALID', 'it is not text');
    return path;
  });
  return holding(bytesOf(wanted), async (held, ended) => {
    const { maxReadBytes } = held.root.limits;
    let left = maxReadBytes;
    const read: TextOrRefusal[] = [];
    for (const path of wanted) {
      if (ended.aborted) throw refusal('CLOSED');
      try {
        const parsed = parsePath(path);
        const refuseBeyond = (bytes: number): void => {
          if (bytes > left) throw refusal('FS_LIMIT', `maxReadBytes ${maxReadBytes} of all together`);
        };
        {
          using file = openFile(held, parsed);
          refuseBeyond(file.status.size);
        }
        const { text, size, version } = await readWhole(held, parsed);
        // It may have grown since, and some file systems report size 0 for files with content.
        refuseBeyond(size);
        left -= size;
        read.push({ path, text, version });
      } catch (thrown) {
        const error = outward(thrown);
        if (!(error instanceof CapError)) throw error;
        read.push({ path, code: error.code, message: error.message });
      }
    }
    return read;
  });
}

/** Line ends stay as they are, so that a passage can go into `edit` as it was read. */
function linesOf(text: string, line: number, lines: number | undefined): string {
  const from = startOfLine(text, 0, line - 1);
  return text.slice(from, lines === undefined ? text.length : startOfLine(text, from, lines));
}

function startOfLine(text: string, from: number, skip: number): number {
  let at = from;
  for (let skipped = 0; skipped < skip; skipped++) {
    const end = text.indexOf('\n', at);
    if (end < 0) return text.length;
    at = end + 1;
  }
  return at;
}
