/**
 * Shows notices on the desktop of the person who runs the host.
 *
 * Promise: the program is the system's own, or the one that the person named; no text of a request chooses it. Text is
 * an argument after `--`, and begins with a word of ours, so it can be no option. No shell sees it. One program runs at
 * a time, with a limit: requests that come meanwhile become one notice. A program that fails is told once.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { Mistake } from '../../line/mistake.ts';
import type { FindProgram } from '../../plan/machine.ts';

/** Returns the text of a notice. `more` is the number of notices that came meanwhile and are not shown. */
type DesktopNotice = (more: number) => string;

/** The way to a desktop. */
interface Desktop {
  /** Returns at once. */
  show(notice: DesktopNotice): void;
  close(): void;
}

const LIMIT_MS = 10_000;
const TITLE = 'Hob';
/** A script that shows its arguments. They are no part of the script. */
const APPLE_SCRIPT = ['on run argv', 'display notification (item 2 of argv) with title (item 1 of argv)', 'end run'];

/** `program` is a name or a path; undefined means the system's own. Errors: `Mistake`. */
export function openDesktop(program: string | undefined, find: FindProgram, say: (line: string) => void): Desktop {
  const isApple = program === undefined && process.platform === 'darwin';
  const name = program ?? (isApple ? 'osascript' : 'notify-send');
  const path = find(name);
  if (path === undefined)
    throw new Mistake(`--notify: there is no program ${name} on this machine: install it, or name one with --notify-with PROGRAM`); // biome-ignore format: one line
  const own =
    program === undefined ? (isApple ? APPLE_SCRIPT.flatMap((line) => ['-e', line]) : ['--app-name=hob']) : [];
  let running: ChildProcess | undefined;
  let waiting: DesktopNotice | undefined;
  let count = 0;
  let isTold = false;
  let isClosed = false;
  const fail = (why: string): void => {
    if (!isTold && !isClosed) say(`hob: ${name} shows no notice: ${why}`);
    isTold = true;
  };
  const run = (notice: DesktopNotice, more: number): void => {
    // A desktop may read the text as markup. There is none in it, and a cap’s name has letters, digits and dashes.
    const args = [...own, '--', TITLE, notice(more)];
    running = spawn(path, args, { stdio: 'ignore', shell: false, timeout: LIMIT_MS, killSignal: 'SIGKILL' });
    running.once('error', (error: NodeJS.ErrnoException) => {
      running = undefined;
      fail(error.code ?? 'it cannot be started');
    });
    running.once('exit', (code, signal) => {
      running = undefined;
      if (code !== 0) fail(signal === null ? `it ended with ${code}` : `it was ended by ${signal}`);
      const [next, others] = [waiting, count - 1];
      waiting = undefined;
      count = 0;
      if (next !== undefined && !isClosed) run(next, others);
    });
  };
  return {
    show(notice) {
      if (isClosed) return;
      if (running === undefined) run(notice, 0);
      else {
        waiting = notice;
        count += 1;
      }
    },
    close() {
      isClosed = true;
      running?.kill('SIGKILL');
    },
  };
}
