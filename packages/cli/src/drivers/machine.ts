/** The powers that sessions of a plan use: programs on PATH, scratch folders, the clock. */
import { randomUUID } from 'node:crypto';
import { accessSync, constants, mkdtempSync, rmSync, statSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type { Machine } from '../plan/machine.ts';

/** This machine. */
export const machine: Machine = {
  findProgram(name) {
    if (isAbsolute(name)) return isProgram(name) ? name : undefined;
    // A relative entry of PATH would mean another program in each folder.
    const folders = (process.env['PATH'] ?? '').split(':').filter(isAbsolute);
    return folders.map((folder) => join(folder, name)).find(isProgram);
  },
  scratch() {
    const path = mkdtempSync(join(tmpdir(), 'hob-scratch-'));
    return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
  },
  now: () => Date.now(),
  // `hob serve` puts those of its host in their place.
  secret: () => undefined,
  blank: (text) => text,
};

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** An id that nobody guesses, of 36 letters, digits and dashes. */
export const newId = (): string => randomUUID();

/** How this host is called among those of a database: its machine and its process. */
export const ownName = (): string =>
  `${hostname()
    .replaceAll(/[^\w.-]/g, '-')
    .slice(0, 30)}-${process.pid}`;

/** A time in ms since 1970, for a person. */
export const dateText = (ms: number): string => new Date(ms).toISOString();
