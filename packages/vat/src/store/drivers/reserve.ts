/**
 * The reserve: room on the disk for commits that end authority. It is a file without meaning that takes this
 * room.
 *
 * Promise: after `release` returns true, the room of the file is free. No file system can compress its
 * contents, and they are forced to the disk, so the room is real.
 */
import { closeSync, fsyncSync, lstatSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { syncFolder } from './sqlite.ts';

interface Reserve {
  /** Takes the room if it is not taken yet. Returns true if it is taken now. */
  fill(): boolean;
  /** Takes the same room once more and gives back the old. Returns true if the disk had it. */
  renew(): boolean;
  /** Gives the room back. Returns true if there was any. */
  release(): boolean;
}

/** About 100 commits of one line each: a page for the line, one for the head, sometimes an inner page. */
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
        // There is no room. Half a reserve would only fill the disk further.
        rmSync(file, { force: true });
        return false;
      }
    },
    release() {
      try {
        if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return false;
        rmSync(file);
        // ext4 reuses freed blocks only when the freeing itself is on the disk.
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
      // Marsaglia's xorshift. It is not random to an attacker, but it cannot be compressed.
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
