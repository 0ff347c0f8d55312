/** Makes the disk slow for a process of a bench: a preloaded library makes each fsync and fdatasync take longer. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const built = new Map<string, string>();

/** Returns the environment of a process whose fsync takes `ms` longer. Builds the library once, in `folder`. */
export function slowDisk(folder: string, ms: number): NodeJS.ProcessEnv {
  let library = built.get(folder);
  if (library === undefined) {
    library = join(folder, 'slow-fsync.so');
    execFileSync('cc', ['-shared', '-fPIC', '-O2', '-o', library, new URL('slow-fsync.c', import.meta.url).pathname]);
    built.set(folder, library);
  }
  return { ...process.env, LD_PRELOAD: library, SLOW_FSYNC_US: String(ms * 1000) };
}
