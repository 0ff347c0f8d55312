/** A slow disk for a process of a bench: a library that makes each fsync take longer, built once by the C compiler. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const built = new Map<string, string>();

/** Returns the environment of a process whose fsync takes `ms` longer. The library is built in `folder`. */
export function slowDisk(folder: string, ms: number): NodeJS.ProcessEnv {
  let library = built.get(folder);
  if (library === undefined) {
    library = join(folder, 'slow-fsync.so');
    execFileSync('cc', ['-shared', '-fPIC', '-O2', '-o', library, new URL('slow-fsync.c', import.meta.url).pathname]);
    built.set(folder, library);
  }
  return { ...process.env, LD_PRELOAD: library, SLOW_FSYNC_US: String(ms * 1000) };
}
