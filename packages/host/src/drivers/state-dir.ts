/** The folder where all that lasts is kept, and the note in it that tells the command line where the host listens. */
import {
  chmodSync,
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { CapError } from '@hob/vat';

/**
 * Makes it where it is missing; readable by its owner only, also where it was there before. A folder that holds other things
 * is refused: `--state /tmp` would lock everybody else out of it.
 */
export function openStateDir(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const found = readdirSync(path);
  if (found.length > 0 && !found.includes('store.db'))
    throw new CapError(
      'invalid',
      'the folder for the state holds other things: give an empty or a new one with --state',
    );
  chmodSync(path, 0o700);
}

const order = (stateDir: string): string => join(stateDir, 'stop');

/** Only a name that is missing counts as missing: a disk that fails must not look like a state without orders, or like none. */
function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    throw unreadable();
  }
}

const unreadable = (): CapError =>
  new CapError('unavailable', 'the folder of the state cannot be read: check its disk, and that you may read it');

/** Whether there is a state in it. */
export const isState = (stateDir: string): boolean => isThere(join(stateDir, 'store.db'));

/**
 * Everything that is granted here is to end. Durable on return, so that it is done before anything else by whoever opens this state next,
 * should the host that has it open not come to it. It stands beside the store, for a host that hangs can write nothing into that.
 */
export function orderStop(stateDir: string, why: string): void {
  const descriptor = openSync(order(stateDir), 'w', 0o600);
  try {
    writeSync(descriptor, why.slice(0, 500));
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  syncNames(stateDir);
}

/** Why it was said; undefined where it was not. What cannot be read counts as said. */
export function stopOrder(stateDir: string): string | undefined {
  if (!isThere(order(stateDir))) return undefined;
  try {
    return readFileSync(order(stateDir), 'utf8').slice(0, 500);
  } catch {
    return '';
  }
}

/** It was done, and that is on the disk. */
export function stopDone(stateDir: string): void {
  rmSync(order(stateDir), { force: true, recursive: true });
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

/** Where a host is reached. No secret: those are entered by the person. */
export interface Whereabouts {
  readonly url: string;
  readonly pid: number;
}

const note = (stateDir: string): string => join(stateDir, 'host.json');

export function leaveNote(stateDir: string, whereabouts: Whereabouts): void {
  const draft = `${note(stateDir)}.${whereabouts.pid}`;
  writeFileSync(draft, `${JSON.stringify(whereabouts)}\n`, { mode: 0o600 });
  renameSync(draft, note(stateDir));
}

export function removeNote(stateDir: string): void {
  rmSync(note(stateDir), { force: true });
}

/** Undefined where there is none, or one that a power cut left half written: then no host of it runs. */
export function readNote(stateDir: string): Whereabouts | undefined {
  if (!isThere(note(stateDir))) return undefined;
  let text: string;
  try {
    text = readFileSync(note(stateDir), 'utf8');
  } catch (error) {
    // It was there a moment ago: its host has just ended.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw unreadable();
  }
  return whereaboutsIn(text);
}

function whereaboutsIn(text: string): Whereabouts | undefined {
  try {
    const { url, pid } = JSON.parse(text) as Partial<Whereabouts>;
    return typeof url === 'string' && typeof pid === 'number' ? { url, pid } : undefined;
  } catch {
    return undefined;
  }
}
