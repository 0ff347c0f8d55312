/** Measures many jobs, eight at once, and one more job beside many that run. */
import { chmodSync } from 'node:fs';
import { openFsCap } from '@hob/caps-fs';
import { makeShellCap } from '@hob/caps-shell';
import type { Tell } from './fields.ts';
import { folderOf, medianMs, wallMs } from './times.ts';

/** A shell runs this many jobs at once. Further ones wait. */
const atOnce = 8;
const sleeper = 'echo up; exec sleep 110';

/** Opens `count` shells over one directory. `job` runs a job in the first of them. */
async function openShells(count: number) {
  const folder = folderOf('jobs');
  chmodSync(folder, 0o755);
  const dir = await openFsCap(folder);
  const shells = await Promise.all(Array.from({ length: count }, () => makeShellCap({ mounts: { '/ws': dir } })));
  return {
    shells,
    async job(): Promise<void> {
      const { status } = (await shells[0]?.run('true')) ?? { status: -1 };
      if (status !== 0) throw new Error(`a job ended with ${status}`);
    },
    async close(): Promise<void> {
      await Promise.all(shells.map((shell) => shell.close()));
      await dir.close();
    },
  };
}

export async function measureJobs(sizes: readonly number[], tell: Tell): Promise<void> {
  const { job, close } = await openShells(1);
  await job();
  for (const n of sizes) {
    const each = async (first: number): Promise<void> => {
      for (let i = first; i < n; i += atOnce) await job();
    };
    const all = (): Promise<unknown> => Promise.all(Array.from({ length: atOnce }, (_, first) => each(first)));
    tell('run n, eight at once', n, await medianMs(n < 300 ? 5 : 1, all, wallMs));
  }
  await close();
}

export async function measureRunning(sizes: readonly number[], tell: Tell): Promise<void> {
  const { shells, job, close } = await openShells(1 + Math.ceil(Math.max(...sizes) / atOnce));
  await job();
  for (const n of sizes) {
    const waiting = await Promise.all(
      Array.from({ length: n }, async (_, i) => {
        const started = await shells[1 + Math.floor(i / atOnce)]?.spawn(sleeper);
        await started?.stdout.next();
        return started;
      }),
    );
    tell('one more', n, await medianMs(21, job, wallMs));
    await Promise.all(waiting.map((one) => one?.signal('KILL').then(() => one.wait())));
  }
  await close();
}
