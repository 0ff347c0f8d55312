/**
 * Which process has the store of a state, and how a host's process ends, by itself or from outside.
 *
 * Promise: `holderOf` says that nobody has the store only if its lock is free. `endProcess` returns only when the
 * process is gone. It sends SIGTERM first, and SIGKILL after a bounded wait if the process hangs in an endless
 * turn. It signals only a process that has this state's store open.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { CapError } from '@hob/vat';
import { heldFile, isStoreHeld } from '@hob/vat/store';
import { readAddress, readStopOrder, removeAddress } from './state-dir.ts';

/** The part of a host that ends it. */
interface EndableHost {
  close(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Ends the host and its process on SIGINT, SIGTERM and SIGHUP, and when the parent process is gone. Returns
 * a function that does the same.
 */
export function endWithProcess(host: EndableHost, stateDir: string): () => void {
  let ending = false;
  const end = (): void => {
    if (ending) return;
    ending = true;
    // A driver that never confirms must not keep the process. The ledger is safe without a last line.
    setTimeout(() => process.exit(0), 5000).unref();
    removeAddress(stateDir);
    (isOrdered(stateDir) ? host.stop() : host.close()).then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, end);
  if (process.channel !== undefined) process.on('disconnect', end);
  return end;
}

/** An order that cannot be read is left for the next start, which reads it first. */
function isOrdered(stateDir: string): boolean {
  try {
    return readStopOrder(stateDir) !== undefined;
  } catch {
    return false;
  }
}

/**
 * Which other process has the store of this state. `pid` is undefined if the store is held and it cannot be seen by whom: by a
 * process of another user, or in another container.
 */
export type Holder = 'nobody' | { readonly pid: number | undefined };

/**
 * Looks at the processes that may be looked into, and then at the lock itself. The lock is last because a host
 * that starts in that moment could not take it. Errors: `unavailable` (the folder cannot be read).
 */
export function holderOf(stateDir: string): Holder {
  if (process.platform === 'linux') {
    const store = storeIn(stateDir);
    const holds = (pid: number): boolean => pid !== process.pid && surelyHolds(pid, store ?? '');
    const pid = store === undefined ? undefined : processes().find(holds);
    if (pid !== undefined) return { pid };
    return isStoreHeld(stateDir) ? { pid: lockedBy(stateDir) } : 'nobody';
  }
  if (!isStoreHeld(stateDir)) return 'nobody';
  const noted = readAddress(stateDir)?.pid;
  return { pid: noted !== undefined && isThere(noted) ? noted : undefined };
}

/** Those that are seen from here. */
const processes = (): readonly number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);

/** Unlike `look`, makes only the system calls that find a holder: a machine may have thousands of open files. */
function surelyHolds(pid: number, store: string): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((descriptor) => isStore(pid, descriptor, store));
  } catch {
    return false;
  }
}

/** Returns the identity of the store. Undefined if the folder has no store, or cannot be read. */
function storeIn(stateDir: string): string | undefined {
  try {
    return identity(heldFile(stateDir) ?? join(stateDir, 'store.db'));
  } catch {
    return undefined;
  }
}

/** The kernel's table of locks names the processes of other users, too. */
function lockedBy(stateDir: string): number | undefined {
  try {
    const { ino } = statSync(heldFile(stateDir) ?? '', { bigint: true });
    const lock = readFileSync('/proc/locks', 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .find(([, , , , , file]) => file?.endsWith(`:${ino}`));
    const pid = Number(lock?.[4]);
    return pid > 0 ? pid : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Whether that process has the store of this state open. Where the system cannot tell, the address file is
 * trusted. A process that is ending, and of which nothing can be seen any more, counts as one that has it. Errors:
 * `unavailable` if the process cannot be inspected, since "it does not run" would be a guess.
 */
export const holdsState = (pid: number, stateDir: string): boolean => look(pid, stateDir) !== 'free';

function look(pid: number, stateDir: string): 'free' | 'holds' | 'ending' {
  if (!isThere(pid)) return 'free';
  if (process.platform !== 'linux') return 'holds';
  let store: string;
  let open: readonly string[];
  try {
    store = identity(heldFile(stateDir) ?? join(stateDir, 'store.db'));
    open = readdirSync(`/proc/${pid}/fd`);
  } catch (error) {
    // The process has ended meanwhile, or the store is gone. Nobody but root may look into one that is ending, or has
    // ended and is not reaped yet.
    const end = isNotFound(error) ? 'ended' : endOf(pid);
    if (end !== undefined) return end === 'ended' ? 'free' : 'ending';
    throw new CapError(
      'unavailable',
      `this user may not see whether process ${pid} is the host of this state: run the command as the user that the host runs as, or as root`,
    );
  }
  if (open.some((descriptor) => isStore(pid, descriptor, store))) return 'holds';
  return open.length === 0 && endOf(pid) === 'ending' ? 'ending' : 'free';
}

function isStore(pid: number, descriptor: string, store: string): boolean {
  try {
    return identity(`/proc/${pid}/fd/${descriptor}`) === store;
  } catch {
    // The file was closed meanwhile, or its file system is gone. So it is not the store, which could be read just now.
    return false;
  }
}

const isNotFound = (error: unknown): boolean =>
  /^(?:ENOENT|ESRCH)$/.test(String((error as NodeJS.ErrnoException).code));

/** PF_EXITING of the kernel: its memory and its files are being released. */
const EXITING = 0x4;

/** Undefined while the process runs. */
function endOf(pid: number): 'ending' | 'ended' | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // Its first thread may have ended before the others.
    if (/^[ZX]/.test(fields[0] ?? '') && Number(fields[17]) <= 1) return 'ended';
    return (Number(fields[6]) & EXITING) === 0 ? undefined : 'ending';
  } catch (error) {
    return isNotFound(error) ? 'ended' : undefined;
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

/**
 * Sends SIGTERM, and SIGKILL after `ms`. Returns which one ended it. Errors: `unavailable` (it may not be
 * signalled from here, or the system does not let it go).
 */
export async function endProcess(pid: number, stateDir: string, ms: number): Promise<'ended' | 'killed'> {
  for (const [signal, how, wait] of [
    ['SIGTERM', 'ended', ms],
    ['SIGKILL', 'killed', 60_000],
  ] as const) {
    if (!holdsState(pid, stateDir)) return how;
    try {
      process.kill(pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ESRCH') return how;
      throw new CapError(
        'unavailable',
        `process ${pid} has this state open and may not be ended from here: end it as the user that it runs as, or as root (kill ${pid})`,
      );
    }
    for (const until = Date.now() + wait; Date.now() < until; ) {
      if (!holdsState(pid, stateDir)) return how;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
  throw new CapError(
    'unavailable',
    `process ${pid} has this state open and was killed, but the system does not let it go: its disk may hang`,
  );
}
