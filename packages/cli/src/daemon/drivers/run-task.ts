/**
 * Runs the agent of a scheduled run.
 *
 * Promise: its command line is that of the manifest. The task, which a session wrote, is its standard input and stands in
 * no command line. Of the environment of the host it gets the variables listed here, and beside them its entry to the
 * session and the secrets that the manifest names. It runs in an empty folder, in a process group that ends with it, and
 * with the host unless that is killed. Then its session has ended.
 */
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { Mistake } from '../../line/mistake.ts';
import type { RunTask, TaskEnd, TaskOrder } from '../runs/schedules.ts';
import { withEntry } from './agent.ts';

const PASSED: readonly string[] = ['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'TMPDIR', 'TZ', 'LANG', 'LC_ALL', 'LC_CTYPE', 'LC_MESSAGES']; // biome-ignore format: one line
/** A program that was asked to end gets this long. */
const ENDING_MS = 5_000;
/** The rest of its output is waited for so long. */
const DRAINING_MS = 1_000;
const MOST_SAID = 2_000;

/** Errors: `Mistake`. */
export const runTask: RunTask = ({ url, secret, program, args, secrets, task, withinMs, end, mostOutput = 0 }) =>
  withEntry({ url, secret, children: {} }, ({ variables, folder }) => {
    const passed = PASSED.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]));
    const cwd = join(folder, 'work');
    mkdirSync(cwd, { mode: 0o700 });
    const env = { ...Object.fromEntries(passed), ...secrets, ...variables };
    return runToEnd({ program, args, cwd, env, task, withinMs, end, mostOutput });
  });

interface Started extends Omit<TaskOrder, 'url' | 'secret' | 'secrets' | 'mostOutput'> {
  readonly cwd: string;
  readonly env: Readonly<NodeJS.ProcessEnv>;
  readonly mostOutput: number;
}

/** Errors: `Mistake`. */
function runToEnd({ program, args, cwd, env, task, withinMs, end: ended, mostOutput }: Started): Promise<TaskEnd> {
  const limit = AbortSignal.timeout(withinMs);
  const end = AbortSignal.any([limit, ended]);
  return new Promise((resolve, reject) => {
    if (end.aborted) return resolve({ code: 128 + constants.signals.SIGTERM, said: '', output: '', isTooLong: false });
    const child = spawn(program, args, { cwd, env, detached: true, stdio: 'pipe' });
    let said = '';
    let output = '';
    let timer: NodeJS.Timeout | undefined;
    const kill = (signal: NodeJS.Signals): void => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, signal);
      } catch {
        // Nobody is left in its group.
      }
    };
    const cut = (): void => {
      kill('SIGTERM');
      timer = setTimeout(() => kill('SIGKILL'), ENDING_MS);
    };
    const killAtExit = (): void => kill('SIGKILL');
    const over = (): void => {
      clearTimeout(timer);
      end.removeEventListener('abort', cut);
      process.off('exit', killAtExit);
    };
    process.on('exit', killAtExit);
    end.addEventListener('abort', cut, { once: true });
    child.once('error', ({ code }: NodeJS.ErrnoException) => {
      over();
      reject(new Mistake(`its program cannot be run (${code})`));
    });
    // Undefined if this process has no descriptors left. The event `error` follows.
    if (child.stdio === undefined) return;
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-MOST_SAID);
    });
    // Output over the limit is read and dropped: otherwise the program would wait.
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (output.length < mostOutput) output = (output + text).slice(0, mostOutput);
    });
    // A program that does not read its task is not waited for.
    child.stdin.on('error', () => {}).end(task);
    child.once('exit', (code, signal) => {
      over();
      kill('SIGKILL');
      child.stderr.destroy();
      const ended = { code: code ?? 128 + (signal === null ? 0 : constants.signals[signal]), isTooLong: limit.aborted };
      const done = (): void => resolve({ ...ended, said, output });
      if (child.stdout.closed) return done();
      // A program of its own session may hold the output open.
      const lost = setTimeout(() => child.stdout.destroy(), DRAINING_MS);
      child.stdout.once('close', () => {
        clearTimeout(lost);
        done();
      });
    });
  });
}
