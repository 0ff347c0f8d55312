/**
 * One set-up at a time.
 *
 * Promise: of any number of processes that call `withLock(file, …)` at once, one runs its body while the others wait.
 * A holder that died (also by kill -9, or with the machine) does not block the next one.
 *
 * The lock is a file made with `wx`; its text is the holder's pid. No lock of the kernel's is within reach of plain
 * JavaScript, so a dead holder has to be noticed: its pid is gone, or was given to a process that started later.
 */
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** A lock without a readable owner is one that is just being written; after this long its writer has died. */
const WRITING_MS = 5_000;
/** Breaking a lock takes microseconds; a breaker that has held on for this long has died. */
const BREAKING_MS = 10_000;

const pause = (ms) => new Promise((done) => setTimeout(done, ms));

export async function withLock(file, onWait, body) {
  mkdirSync(dirname(file), { recursive: true });
  let told = false;
  while (!tryToTake(file)) {
    if (isStale(file)) {
      breakStale(file);
      continue;
    }
    if (!told) onWait(ownerOf(file));
    told = true;
    await pause(100);
  }
  try {
    return await body();
  } finally {
    rmSync(file, { force: true });
  }
}

function tryToTake(file) {
  try {
    writeFileSync(file, `${process.pid} ${startTimeOf(process.pid)}`, { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

function ownerOf(file) {
  try {
    const [pid, started] = readFileSync(file, 'utf8').split(' ');
    return { pid: Number(pid), started };
  } catch {
    return { pid: 0, started: '' };
  }
}

function isStale(file) {
  const { pid, started } = ownerOf(file);
  if (pid === 0) return ageOf(file) > WRITING_MS;
  try {
    process.kill(pid, 0);
  } catch (error) {
    return error.code === 'ESRCH';
  }
  return started !== startTimeOf(pid); // the pid was given to somebody else
}

/**
 * Two processes may see the same dead holder. Without the second lock the slower one would remove the lock that the
 * faster one has taken in the meantime; so the look and the removal are done under it.
 */
function breakStale(file) {
  const breaking = `${file}.breaking`;
  try {
    mkdirSync(breaking);
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    if (ageOf(breaking) > BREAKING_MS) rmSync(breaking, { recursive: true, force: true });
    return;
  }
  try {
    if (isStale(file)) rmSync(file, { force: true });
  } finally {
    rmSync(breaking, { recursive: true, force: true });
  }
}

/** 0 for a file that is gone: it is not stale, it is free. */
function ageOf(file) {
  try {
    return Date.now() - statSync(file).mtimeMs;
  } catch {
    return 0;
  }
}

/** Field 22 of /proc/PID/stat, counted from behind the name (which may contain blanks). '?' where there is no /proc. */
function startTimeOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return '?';
  }
}
