/**
 * The life of a host's process: when it ends by itself, and how it is ended from outside.
 *
 * Promise: `end` returns only when the process is gone. It is asked first; one that hangs in an endless turn hears nothing and is killed after a
 * bounded wait. No other process is ever hit: only one that has this state's store open is.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { CapError } from '@hob/vat';
import { removeNote, stopOrder } from './state-dir.ts';

/** What of a host is needed here. */
interface Ending {
  close(): Promise<void>;
  stop(): Promise<void>;
}

/** Ends the host and its process on SIGINT, SIGTERM and SIGHUP, when the program that started it is gone, and when what it answers is called. */
export function endWithProcess(host: Ending, stateDir: string): () => void {
  let ending = false;
  const end = (): void => {
    if (ending) return;
    ending = true;
    // A driver that never confirms must not keep the process: the ledger is safe without a good-bye.
    setTimeout(() => process.exit(0), 5000).unref();
    removeNote(stateDir);
    (isOrdered(stateDir) ? host.stop() : host.close()).then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, end);
  if (process.channel !== undefined) process.on('disconnect', end);
  return end;
}

/** An order that cannot be read is left for the next start, which looks again before anything else. */
function isOrdered(stateDir: string): boolean {
  try {
    return stopOrder(stateDir) !== undefined;
  } catch {
    return false;
  }
}

/**
 * Whether that process has the store of this state open. Where the system does not tell, the note is believed. Errors: `unavailable`, where the
 * process cannot be looked at: "it does not run" would be a guess.
 */
export function holdsState(pid: number, stateDir: string): boolean {
  if (!isThere(pid)) return false;
  if (process.platform !== 'linux') return true;
  let store: string;
  let open: readonly string[];
  try {
    store = identity(join(stateDir, 'store.db'));
    open = readdirSync(`/proc/${pid}/fd`);
  } catch (error) {
    // The process has ended meanwhile, or the store is gone. Nobody but root may look into one that has ended and is not reaped yet.
    if (/^(?:ENOENT|ESRCH)$/.test(String((error as NodeJS.ErrnoException).code)) || hasEnded(pid)) return false;
    throw new CapError(
      'unavailable',
      `it cannot be seen whether process ${pid} is the host of this state: ask again as the user that it runs as, or as root`,
    );
  }
  return open.some((descriptor) => {
    try {
      return identity(`/proc/${pid}/fd/${descriptor}`) === store;
    } catch {
      // It was closed meanwhile, or lies on a file system that is gone: it is not the store, which could be looked at just now.
      return false;
    }
  });
}

function hasEnded(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return /^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
  } catch (error) {
    return /^(?:ENOENT|ESRCH)$/.test(String((error as NodeJS.ErrnoException).code));
  }
}

const identity = (path: string): string => {
  const { dev, ino } = statSync(path, { bigint: true });
  return `${dev}:${ino}`;
};

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // A process of another user is there, too: it may not be signalled.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Asks the process to end; after `ms` it is killed. Answers which it took. */
export async function end(pid: number, stateDir: string, ms: number): Promise<'ended' | 'killed'> {
  for (const [signal, how, wait] of [
    ['SIGTERM', 'ended', ms],
    ['SIGKILL', 'killed', 60_000],
  ] as const) {
    if (!holdsState(pid, stateDir)) return how;
    process.kill(pid, signal);
    for (const until = Date.now() + wait; Date.now() < until; ) {
      if (!holdsState(pid, stateDir)) return how;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
  throw new Error('the process cannot be killed: the system does not let it go');
}
