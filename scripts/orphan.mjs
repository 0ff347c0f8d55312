/**
 * Loaded with `--import …/orphan.mjs?PID` into a program that process PID runs: ends the program when PID has gone.
 *
 * Promise: no program started through npm is left behind when npm's process was killed outright. It is asked first
 * (SIGTERM), as npm would have. The timer keeps nothing alive.
 *
 * Workers and forked children inherit `--import`; neither has PID for a parent, so neither is watched.
 * Windows keeps naming the dead parent: there this does nothing.
 */
import { isMainThread } from 'node:worker_threads';

const parent = Number(new URL(import.meta.url).search.slice(1));

if (isMainThread && process.ppid === parent) {
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    process.kill(process.pid, 'SIGTERM');
  }, 500);
  watch.unref();
}
