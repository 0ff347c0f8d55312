/**
 * Folders of a run outside its checkout, and what else has to be ended with it.
 *
 * Promise: none of them outlives the process, save one that was killed without notice (KILL): what such a run has left the next one takes
 * away. A folder's name holds the process whose it is.
 */
import fs from 'node:fs';
import os from 'node:os';
import { basename, dirname, join } from 'node:path';

const NAME = 'hob-bisim-';
/** A place that a mount of this machine can hide is no good: a sandbox has a /tmp of its own. */
const VISIBLE = '/var/tmp';

const open = new Set<() => void>();
let listening = false;

/** Also where the process is told to end. Answers: it is over, and need not be ended. */
export function atExit(end: () => void): () => void {
  if (!listening) {
    listening = true;
    process.on('exit', () => {
      for (const each of [...open].reverse()) each();
    });
  }
  open.add(end);
  return () => open.delete(end);
}

/** For a program of its own: a signal ends it as its end does. */
export function exitOnSignals(say: () => void = () => {}): void {
  for (const [name, number] of [
    ['SIGINT', 2],
    ['SIGTERM', 15],
    ['SIGHUP', 1],
  ] as const)
    process.once(name, () => {
      say();
      process.exit(128 + number);
    });
}

export interface Scratch {
  readonly path: string;
  /** Itself and all whose names begin with its own. */
  remove(): void;
}

/** `visible`: also for jobs, by the same path. */
export function scratch(what: string, { visible = false }: { readonly visible?: boolean } = {}): Scratch {
  const path = fs.mkdtempSync(join(visible ? VISIBLE : os.tmpdir(), `${NAME}${what}-${process.pid}-`));
  const remove = (): void => {
    for (const name of fs.readdirSync(dirname(path)))
      if (name === basename(path) || name.startsWith(`${basename(path)}.`)) clear(join(dirname(path), name));
    over();
  };
  const over = atExit(remove);
  return { path, remove };
}

/** Removes the folders of processes that have ended. Returns the names. */
export function sweep(folders: readonly string[] = [VISIBLE, os.tmpdir()]): readonly string[] {
  const swept: string[] = [];
  for (const folder of folders)
    for (const name of fs.readdirSync(folder)) {
      const pid = new RegExp(`^${NAME}\\w+-(\\d+)-`).exec(name)?.[1];
      if (pid === undefined || isAlive(Number(pid))) continue;
      try {
        clear(join(folder, name));
        swept.push(name);
      } catch {
        // Another user's.
      }
    }
  return swept;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** A command may have taken the rights away. */
export function clear(path: string): void {
  openAll(path);
  fs.rmSync(path, { recursive: true, force: true });
}

export function openAll(path: string): void {
  if (!fs.lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  fs.chmodSync(path, 0o755);
  for (const entry of fs.readdirSync(path, { withFileTypes: true }))
    if (entry.isDirectory()) openAll(join(path, entry.name));
}

/** Closes everything that was opened, the last first. A failure does not keep the others open. */
export class Ends {
  readonly #ends: (() => unknown)[] = [];

  add(end: () => unknown): void {
    this.#ends.push(end);
  }

  async close(): Promise<void> {
    const failed: unknown[] = [];
    for (const end of this.#ends.splice(0).reverse())
      try {
        await end();
      } catch (error) {
        failed.push(error);
      }
    if (failed.length > 0) throw failed[0];
  }
}
