/**
 * Runs a child in our place.
 *
 * Promise: it has our terminal, our signals and our fate; its exit code (or the signal it died of) becomes ours.
 *
 * How each process ends:
 * - A signal to us is passed on once. From a terminal Ctrl-C reaches the whole group, the child too, so it is not passed
 *   on a second time: a program may take a second one for "now".
 * - npm is killed outright: we notice that our parent (or the parent of npm's shell between us) has changed and end the
 *   child. A SIGINT to npm alone, without a terminal, ends at that shell: nothing reaches us. SIGTERM does.
 * - We are killed outright (kill -9): nothing of ours runs any more. A program of Hob has an IPC channel to us and gets
 *   `process.on('disconnect')` at once; any other has `scripts/orphan.mjs`, which looks twice a second who its parent is.
 *
 * Plain JavaScript for Node 18.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { environmentFor } from './setup.mjs';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
/** npm passes a signal on, too: the same one within this time is an echo. */
const ECHO_MS = 500;
const LOOK_MS = 500;
/** The time that a child which was asked to end may take before it is killed. */
const GRACE_MS = 10_000;

/** Answers the exit code; ends this process by signal if the child ended so. */
export function forward(node, args, { cwd, channel = false }) {
  const child = spawn(node, args, {
    cwd,
    env: environmentFor(node),
    stdio: channel ? ['inherit', 'inherit', 'inherit', 'ipc'] : 'inherit',
  });

  const last = new Map();
  const listeners = SIGNALS.map((signal) => {
    const listener = () => {
      const isEcho = Date.now() - (last.get(signal) ?? 0) < ECHO_MS;
      last.set(signal, Date.now());
      if (!isEcho && !(signal === 'SIGINT' && process.stdin.isTTY)) child.kill(signal);
    };
    process.on(signal, listener);
    return [signal, listener];
  });

  // A change of parent means that npm is gone. Only below npm: started by hand, `node scripts/hob.mjs start &` may well
  // be meant to outlive its shell.
  const parents = parentsOf();
  const watch = setInterval(() => {
    if (process.env.npm_lifecycle_event === undefined || parentsOf() === parents) return;
    clearInterval(watch);
    child.kill('SIGTERM');
    setTimeout(() => child.kill('SIGKILL'), GRACE_MS).unref();
  }, LOOK_MS);
  const killChild = () => child.kill('SIGKILL');
  process.on('exit', killChild);

  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      clearInterval(watch);
      process.off('exit', killChild);
      for (const [name, listener] of listeners) process.off(name, listener);
      if (signal === null) resolve(code);
      else process.kill(process.pid, signal); // as the child died; nobody listens any more, so this ends us
    });
  });
}

/** Our parent and, where the system shows it, the parent of that: npm may have put a shell between itself and us. */
function parentsOf() {
  try {
    const stat = readFileSync(`/proc/${process.ppid}/stat`, 'utf8');
    return `${process.ppid} ${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]}`;
  } catch {
    return `${process.ppid}`;
  }
}
