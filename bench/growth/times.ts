/** Measures times of operations, and makes folders for their files. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median } from '../measure.ts';

/** A promise of any kind. */
type Pending = PromiseLike<unknown>;

/** Returns how long `body` takes, in ms by the clock. */
export async function wallMs(body: () => Pending): Promise<number> {
  const began = performance.now();
  await body();
  return performance.now() - began;
}

/** Returns the processor time of all threads of this process while `body` runs, in ms. Other processes do not count. */
export async function cpuMs(body: () => Pending): Promise<number> {
  const began = process.cpuUsage();
  await body();
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1000;
}

/** Returns the median of `rounds` rounds of `body`, in ms. `measure` is `cpuMs` or `wallMs`. */
export async function medianMs(
  rounds: number,
  body: (round: number) => Pending,
  measure: typeof cpuMs = cpuMs,
): Promise<number> {
  const took: number[] = [];
  for (let round = 0; round < rounds; round += 1) took.push(await measure(() => body(round)));
  return median(took);
}

/** Runs `count` operations at once in each round. Returns the processor time of one in us: the median of `rounds`. */
export async function usEach(rounds: number, count: number, body: (i: number) => Pending): Promise<number> {
  const took = await medianMs(rounds, (round) =>
    Promise.all(Array.from({ length: count }, (_, i) => body(round * count + i))),
  );
  return (took * 1000) / count;
}

/** Calls `make` with each number below `count`, 500 at once. */
export async function many(count: number, make: (i: number) => Pending): Promise<void> {
  const atOnce = 500;
  for (let done = 0; done < count; done += atOnce)
    await Promise.all(Array.from({ length: Math.min(atOnce, count - done) }, (_, i) => make(done + i)));
}

/** Makes a folder that is removed when this process exits: in memory if possible, so that no disk hides the growth. */
export function folderOf(name: string, where: 'memory' | 'disk' = 'memory'): string {
  const inMemory = where === 'memory' && existsSync('/dev/shm');
  const folder = mkdtempSync(join(inMemory ? '/dev/shm' : tmpdir(), `hob-growth-${name}-`));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
