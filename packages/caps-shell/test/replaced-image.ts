/** A machine that replaces a file of the system image while a job starts, as an installation of packages does. */
import fs, { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { scratch } from './shell.ts';

const { openSync } = fs;

/** From now on: the next `times` starts find that node was replaced right after it was opened. */
export function replaceImageFile(times: number): void {
  const old = join(scratch(), 'old');
  let left = times;
  onTestFinished(() => void (fs.openSync = openSync));
  fs.openSync = (path, ...more) => {
    if (path !== process.execPath || left === 0) return openSync(path, ...more);
    left -= 1;
    writeFileSync(old, '');
    const fd = openSync(old, ...more);
    rmSync(old);
    return fd;
  };
}
