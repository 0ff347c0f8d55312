/** Shells on scratch folders, closed when the test is over. */
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FsCap, openFsCap } from '@hob/caps-fs';
import type { ByteSource } from '@hob/vat';
import { onTestFinished } from 'vitest';
import { endWaiting, waitingPids } from '../src/drivers/ahead.ts';
import { makeShellCap, type ShellCap, type World } from '../src/index.ts';

/** A folder that everybody may enter: outside its mounts the payload of a root host has no rights. */
export function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), 'hob-shell-'));
  chmodSync(folder, 0o755);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export async function directory(folder: string = scratch()): Promise<FsCap> {
  mkdirSync(folder, { recursive: true });
  const cap = await openFsCap(folder);
  onTestFinished(() => cap.close());
  return cap;
}

export async function shell(world: Partial<World> = {}): Promise<ShellCap> {
  const made = await makeShellCap({ mounts: {}, ...world });
  onTestFinished(() => made.close());
  return made;
}

export const code = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'ok',
    (error: { code?: string }) => error.code ?? String(error),
  );

/** Reads a stream to its end. */
export async function textOf(source: ByteSource): Promise<string> {
  const parts: Uint8Array[] = [];
  for (let part = await source.next(); part !== undefined; part = await source.next()) parts.push(part);
  return Buffer.concat(parts).toString();
}

/**
 * Seconds for `sleep` that begin with these, and that no process of another test run on this machine sleeps. More than
 * a test may take: a job that ends by itself is no job that was ended.
 */
export const mark = (seconds: string): string => `${seconds}${String(process.pid).padStart(7, '0')}`;

/** The processes of this machine whose command line contains `mark`, as leftovers of a job. */
export function processesWith(mark: string): number[] {
  const found: number[] = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const line = readFileSync(`/proc/${name}/cmdline`, 'latin1');
      if (line.includes(mark) && Number(name) !== process.pid) found.push(Number(name));
    } catch {
      // It has just gone.
    }
  }
  return found;
}

/** Ends the sandbox programs that wait for a job, and resolves when they are gone. */
export async function noneWaits(): Promise<void> {
  const pids = waitingPids();
  endWaiting();
  await until(() => !pids.some(lives));
}

/** Resolves when a sandbox program waits for a job. Returns its processes. The first one forks the others. */
export async function oneWaits(): Promise<readonly [first: number, outer: number, pid1: number]> {
  await until(() => waitingPids().length === 3);
  return waitingPids() as unknown as readonly [number, number, number];
}

/** Whether a process is there and no zombie. */
export function lives(pid: number): boolean {
  try {
    return !/^State:\t[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'latin1'));
  } catch {
    return false;
  }
}

/** Resolves when `what` is true. */
export async function until(what: () => boolean): Promise<void> {
  for (const end = Date.now() + 60_000; !what(); ) {
    if (Date.now() > end) throw new Error('the condition did not become true within a minute');
    await new Promise((done) => setTimeout(done, 2));
  }
}

/** The open descriptors of this process, by their targets. */
export function descriptors(): string[] {
  const open: string[] = [];
  for (const name of readdirSync('/proc/self/fd')) {
    try {
      open.push(readlinkSync(`/proc/self/fd/${name}`).replace(/:.*/, ''));
    } catch {
      // The one that listed the directory.
    }
  }
  return open.sort();
}
