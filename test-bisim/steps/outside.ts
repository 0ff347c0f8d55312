/** The view of a job from outside: its processes by their name, what they have taken, what the machine is set to. */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';

const PAGE = 4096;
const TICKS = 100;
const MiB = 2 ** 20;

/** Processes of this machine, in whatever world, that go by this name. */
export function named(name: string): readonly number[] {
  return fs
    .readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid) && read(`/proc/${pid}/cmdline`).startsWith(name))
    .map(Number);
}

/** Empty where there is none (any more). */
export function read(file: string): string {
  try {
    return fs.readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}

/** Pages of `statm`: the second number is what is in memory, the sixth what was reserved. */
const pages = (pid: number, field: number): number => Number(read(`/proc/${pid}/statm`).split(' ')[field] ?? 0);
export const inMemory = (name: string): number =>
  named(name).reduce((sum, pid) => sum + (pages(pid, 1) - pages(pid, 2)) * PAGE, 0) / MiB;
export const reserved = (name: string): number =>
  Math.max(0, ...named(name).map((pid) => (pages(pid, 5) * PAGE) / MiB));

/** Memory that is in files and in no process, of the whole machine. */
export const inFiles = (): number => Number(/^Shmem:\s+(\d+)/m.exec(read('/proc/meminfo'))?.[1] ?? 0) / 1024;

export const cpuSeconds = (name: string): number =>
  named(name).reduce((sum, pid) => {
    const text = read(`/proc/${pid}/stat`);
    const [user = 0, system = 0] = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 13)
      .map(Number);
    return sum + user + system;
  }, 0) / TICKS;

export const parentOf = (pid: number): number => Number(/^PPid:\s+(\d+)/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0);

export function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It is over.
  }
}

export const kernelLog = (): string => spawnSync('dmesg', [], { encoding: 'latin1', maxBuffer: 64 * MiB }).stdout ?? '';

/** Until it is so, or for so long. */
export async function until(is: () => boolean, limitMs: number): Promise<boolean> {
  for (let waited = 0; waited < limitMs && !is(); waited += 20) await new Promise((done) => setTimeout(done, 20));
  return is();
}
