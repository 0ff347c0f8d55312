/**
 * Looks in a directory for set-id programs, which run as their owner or group.
 *
 * The kernel clears the set-id bits when such a file is written, but not when it is changed through memory
 * (`mmap`), and a filter of system calls cannot tell which file is mapped. So no such file may be in a
 * writable mount. The sandbox refuses to make one. File capabilities (`setcap`) are not checked.
 */
import fs from 'node:fs';
import { setImmediate } from 'node:timers/promises';

const SET_ID = 0o6000;
const EXECUTABLE = 0o111;
/** The number of files between two pauses, in which the rest of the process runs. */
const SLICE = 500;

/** Returns the path of the first one in the directory of `fd`, or undefined. */
export async function setIdIn(fd: number): Promise<string | undefined> {
  const base = `/proc/self/fd/${fd}`;
  const folders = [''];
  let looked = 0;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of entriesOf(`${base}${folder}`)) {
      const path = `${folder}/${entry.name}`;
      looked += 1;
      if (looked % SLICE === 0) await setImmediate();
      if (entry.isDirectory()) folders.push(path);
      else if (entry.isFile() && isSetId(`${base}${path}`)) return path;
    }
  }
  return undefined;
}

/** A directory that cannot be read, or is gone, is out of reach for a job too. */
function entriesOf(folder: string): readonly fs.Dirent[] {
  try {
    return fs.readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

function isSetId(path: string): boolean {
  const mode = fs.lstatSync(path, { throwIfNoEntry: false })?.mode ?? 0;
  return (mode & SET_ID) !== 0 && (mode & EXECUTABLE) !== 0;
}
