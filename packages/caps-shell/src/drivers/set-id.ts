/**
 * Looks for programs in a held directory that run as their owner or group, whoever starts them.
 *
 * The kernel takes these bits away when such a file is written, but not when it is changed through memory (`mmap`), and a filter
 * of system calls cannot tell which file is mapped. So a job must not find one where it may write. It cannot make one either:
 * the sandbox refuses that. Capabilities of files (`setcap`) are not looked for.
 */
import fs from 'node:fs';
import { setImmediate } from 'node:timers/promises';

const SET_ID = 0o6000;
const EXECUTABLE = 0o111;
/** Files between two pauses, so that the rest of the process goes on meanwhile. */
const SLICE = 500;

/** The path of the first one in the directory of `fd`; `undefined` where there is none. */
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

/** What cannot be read, or is gone by now, a job does not reach by this path either. */
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
