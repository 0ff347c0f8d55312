/**
 * The log of a daemon in a file that is rotated by its size.
 *
 * Promise: the file and those before it are readable for their owner only, and together have at most `(kept + 1) *
 * mostBytes`. A link, or a file of another user, is refused. A full disk loses lines and never ends the host; the log
 * says how many were lost.
 */
import { accessSync, closeSync, constants, fchmodSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { logLines } from '../../line/log-text.ts';
import { Mistake } from '../../line/mistake.ts';

/** The log of a daemon. */
export interface Log {
  /** Writes each line of the text. It never throws. */
  write(text: string): void;
  close(): void;
}

/** How much is kept, and the clock. */
interface LogOptions {
  readonly mostBytes?: number;
  /** So many files besides the newest: `FILE.1` is the next older one. */
  readonly kept?: number;
  /** In ms since 1970. */
  readonly now: () => number;
}

/** Opens a log, or goes on with the one that is there. Errors: `Mistake`. */
export function openLog(path: string, { mostBytes = 1024 * 1024, kept = 4, now }: LogOptions): Log {
  let { descriptor, size } = openFile(path);
  let lost = 0;
  const rotate = (): void => {
    closeSync(descriptor as number);
    descriptor = undefined;
    for (let n = kept; n > 1; n -= 1) renameIfThere(`${path}.${n - 1}`, `${path}.${n}`);
    renameIfThere(path, `${path}.1`);
    ({ descriptor, size } = openFile(path));
  };
  const append = (line: string): void => {
    const bytes = Buffer.from(`${new Date(now()).toISOString()} ${line}\n`);
    if (descriptor === undefined) ({ descriptor, size } = openFile(path));
    if (size > 0 && size + bytes.length > mostBytes) rotate();
    size += writeSync(descriptor as number, bytes);
  };
  let closed = false;
  return {
    write(text) {
      if (closed) return;
      for (const line of logLines(text))
        try {
          if (lost > 0) append(`${lost} ${lost === 1 ? 'line was' : 'lines were'} lost: the log could not be written`);
          lost = 0;
          append(line);
        } catch {
          lost += 1;
        }
    },
    close() {
      closed = true;
      if (descriptor !== undefined) closeSync(descriptor);
      descriptor = undefined;
    },
  };
}

function openFile(path: string): { descriptor: number | undefined; size: number } {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
  let descriptor: number;
  try {
    // Without O_NONBLOCK a pipe at that path would hold up the host until somebody reads it.
    // Or it could not be rotated.
    accessSync(dirname(path), constants.W_OK | constants.X_OK);
    descriptor = openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
  } catch {
    throw refused();
  }
  const found = fstatSync(descriptor);
  if (!found.isFile() || found.uid !== process.getuid?.() || found.nlink !== 1) {
    closeSync(descriptor);
    throw refused();
  }
  fchmodSync(descriptor, 0o600);
  return { descriptor, size: found.size };
}

const refused = (): Mistake =>
  new Mistake(
    'the log cannot be written: name a file of yours that is no link, in a folder that you may write, with --log',
  );

function renameIfThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
