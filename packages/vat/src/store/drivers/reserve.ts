/**
 * Room on the disk that is kept for ending authority: a file that holds nothing and takes its place.
 *
 * Promise: after `release` answers true, what the file took is free. The contents are such that no file system stores them in
 * less, and are forced to the disk, so the room is real and not only promised.
 */
import { closeSync, fsyncSync, lstatSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

export interface Reserve {
  /** Takes the room, if it is not taken yet; answers whether it is now. */
  fill(): boolean;
  /** Whether there is as much room again, beside what is taken. */
  renew(): boolean;
  /** Gives it back; answers whether there was any. */
  release(): boolean;
}

/** Some 100 commits of one line each: a page for the line, one for the head, an inner page now and then. */
const BYTES = 1 << 20;
const CHUNK = 1 << 16;

export function reserveIn(folder: string): Reserve {
  const file = join(folder, 'reserve');
  const draft = `${file}.new`;
  return {
    renew() {
      try {
        rmSync(draft, { force: true });
        write(draft);
        renameSync(draft, file);
        syncFolder(folder);
        return true;
      } catch {
        rmSync(draft, { force: true });
        return false;
      }
    },
    fill() {
      try {
        const found = lstatSync(file, { throwIfNoEntry: false });
        if (found?.isFile() === true && found.size === BYTES) return true;
        rmSync(file, { force: true });
        write(file);
        syncFolder(folder);
        return true;
      } catch {
        // No room for it. Half a reserve would only make the disk fuller.
        rmSync(file, { force: true });
        return false;
      }
    },
    release() {
      try {
        if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return false;
        rmSync(file);
        // ext4 hands freed blocks out again only once the freeing itself is on the disk.
        syncFolder(folder);
        return true;
      } catch {
        return false;
      }
    },
  };
}

function write(file: string): void {
  const descriptor = openSync(file, 'wx', 0o600);
  try {
    const chunk = new Uint32Array(CHUNK / 4);
    let state = 0x9e3779b9;
    for (let done = 0; done < BYTES; done += CHUNK) {
      // Marsaglia's xorshift: not random to anybody who looks, but incompressible.
      for (let i = 0; i < chunk.length; i += 1) {
        state ^= state << 13;
        state ^= state >>> 17;
        state ^= state << 5;
        chunk[i] = state;
      }
      if (writeSync(descriptor, chunk) !== CHUNK) throw new Error('no room');
    }
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function syncFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
