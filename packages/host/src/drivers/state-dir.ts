/** The folder of a host's state, and the file in it that tells the command line where the host listens. */
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { CapError } from '@hob/vat';
import { heldFile, holdElsewhere } from '@hob/vat/store';

/**
 * Makes the folder if it is missing, and lets only its owner read it. A folder that holds other things is
 * refused: `--state /tmp` would lock everybody else out of it.
 */
export function openStateDir(path: string): void {
  let found: readonly string[];
  try {
    makeFolder(path);
    found = readdirSync(path);
  } catch (error) {
    throw unusable(error as NodeJS.ErrnoException);
  }
  if (found.length > 0 && !isState(path))
    throw new CapError(
      'invalid',
      'the folder for the state holds other files: give an empty or a new one with --state',
    );
  try {
    chmodSync(path, 0o700);
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw unusable(error as NodeJS.ErrnoException);
  }
}

/**
 * Keeps a host from beginning anew beside its store: a folder has a store of its own, or a note that it lies elsewhere.
 * That note is held as a store would be, until the function that it returns is called. Errors: `invalid` for the other
 * of the two, `unavailable` (another process holds the folder).
 */
export function holdPlace(path: string, elsewhere: boolean): () => void {
  if (!elsewhere && isElsewhere(path))
    throw new CapError(
      'invalid',
      'the store of this state lies in a database: open the host with that store (--store)',
    );
  if (!elsewhere) return () => {};
  if (isState(path) && !isElsewhere(path))
    throw new CapError(
      'invalid',
      'this folder has a store of its own: give an empty or a new one for a store elsewhere',
    );
  return holdElsewhere(path);
}

/** One folder after the other: Node's `recursive` never returns where a folder cannot be made at all, as in /proc. */
export function makeFolder(path: string): void {
  const whole = resolve(path);
  if (statSync(whole, { throwIfNoEntry: false })?.isDirectory() === true) return;
  if (dirname(whole) !== whole) makeFolder(dirname(whole));
  mkdirSync(whole, { mode: 0o700 });
}

function unusable({ code }: NodeJS.ErrnoException): CapError {
  const why: Readonly<Record<string, string>> = {
    EEXIST: 'is a file, or lies below one',
    ENOTDIR: 'is a file, or lies below one',
    EACCES: 'may not be written by this user',
    EPERM: 'may not be written by this user',
    EROFS: 'lies on a file system that is read-only',
    ENOSPC: 'lies on a disk that is full',
  };
  const what = why[code ?? ''] ?? `cannot be made (${code})`;
  return new CapError(
    code === 'EEXIST' || code === 'ENOTDIR' ? 'invalid' : 'unavailable',
    `the folder for the state ${what}: name one that you may write with --state`,
  );
}

const stopFile = (stateDir: string): string => join(stateDir, 'stop');

/** Only a missing name counts as missing. A failing disk must not look like a state without orders. */
function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    throw unreadable();
  }
}

const unreadable = (): CapError =>
  new CapError('unavailable', 'the folder of the state cannot be read: check its disk, and that you may read it');

/** Whether there is a state in it, also one whose store lies elsewhere. */
export const isState = (stateDir: string): boolean => fileOf(stateDir) !== undefined;

/** Whether the store of this state lies in a database. */
export const isElsewhere = (stateDir: string): boolean => fileOf(stateDir) === join(stateDir, 'store.elsewhere');

function fileOf(stateDir: string): string | undefined {
  try {
    return heldFile(stateDir);
  } catch {
    throw unreadable();
  }
}

/**
 * Orders that every grant here is revoked. It is durable on return, so the next host on this state does it
 * first if the running one does not. The order is a file beside the store, because a host that hangs cannot
 * write its store. Errors: `unavailable`.
 */
export function orderStop(stateDir: string, why: string): void {
  try {
    const descriptor = openSync(stopFile(stateDir), 'w', 0o600);
    try {
      writeSync(descriptor, why.slice(0, 500));
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    syncNames(stateDir);
  } catch {
    throw new CapError(
      'unavailable',
      'the order to stop cannot be written into the state: check that you may write its folder and that its disk has room',
    );
  }
}

/**
 * Returns the reason of the order, or undefined if there is none. An unreadable order counts as an order.
 */
export function readStopOrder(stateDir: string): string | undefined {
  if (!isThere(stopFile(stateDir))) return undefined;
  try {
    return readFileSync(stopFile(stateDir), 'utf8').slice(0, 500);
  } catch {
    return '';
  }
}

/** Removes an order that was carried out. */
export function removeStopOrder(stateDir: string): void {
  rmSync(stopFile(stateDir), { force: true, recursive: true });
  syncNames(stateDir);
}

function syncNames(folder: string): void {
  if (process.platform === 'win32') return;
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Where a host listens. It holds no secret. */
interface HostAddress {
  readonly url: string;
  readonly pid: number;
}

const addressFile = (stateDir: string): string => join(stateDir, 'host.json');

export function writeAddress(stateDir: string, whereabouts: HostAddress): void {
  const draft = `${addressFile(stateDir)}.${whereabouts.pid}`;
  writeFileSync(draft, `${JSON.stringify(whereabouts)}\n`, { mode: 0o600 });
  renameSync(draft, addressFile(stateDir));
}

/** Writes the address of the host in this process. Errors: `unavailable`. */
export function noteAddress(stateDir: string, url: string): void {
  try {
    writeAddress(stateDir, { url, pid: process.pid });
  } catch {
    throw new CapError(
      'unavailable',
      'the host cannot note in its state where it listens: check that the folder may be written and its disk has room',
    );
  }
}

export function removeAddress(stateDir: string): void {
  rmSync(addressFile(stateDir), { force: true });
}

/**
 * Returns undefined if there is no address, or one that a power cut left half written. Then no host runs.
 */
export function readAddress(stateDir: string): HostAddress | undefined {
  if (!isThere(addressFile(stateDir))) return undefined;
  let text: string;
  try {
    text = readFileSync(addressFile(stateDir), 'utf8');
  } catch (error) {
    // It was there a moment ago: its host has just ended.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw unreadable();
  }
  return parseAddress(text);
}

function parseAddress(text: string): HostAddress | undefined {
  try {
    const { url, pid } = JSON.parse(text) as Partial<HostAddress>;
    return typeof url === 'string' && typeof pid === 'number' ? { url, pid } : undefined;
  } catch {
    return undefined;
  }
}
