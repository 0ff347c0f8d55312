/**
 * A proxy in front of a server, which fails as a test says. It has its own thread, because a waiting host stops its
 * thread.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { type Cluster, urlOf } from './postgres-cluster.ts';

/**
 * - `open`: all passes.
 * - `cut`: connections are ended, and new ones refused.
 * - `swallows`: nothing passes, and the connections stay open.
 * - `mute`: answers of the server do not come back.
 * - `holds`: data of the host is held back until the state changes. It then arrives, also if the host has given up.
 * - `late`: answers of the server are held back until the state changes. They then arrive.
 */
export type WayState = 'open' | 'cut' | 'swallows' | 'mute' | 'holds' | 'late';

export interface Way {
  readonly url: string;
  /** Done when the way is in that state. */
  is(state: WayState): Promise<void>;
  close(): Promise<void>;
}

export async function wayTo({ socket }: Pick<Cluster, 'socket'>): Promise<Way> {
  const folder = mkdtempSync(join(tmpdir(), 'hob-pg-way-'));
  const [here, there] = [folder, socket].map((each) => join(each, '.s.PGSQL.5432'));
  const worker = new Worker(new URL('./postgres-way-thread.ts', import.meta.url), {
    workerData: { here, there },
    execArgv: [],
  });
  const said = (): Promise<void> => new Promise((then) => worker.once('message', () => then()));
  await said();
  return {
    url: urlOf(folder),
    async is(state) {
      const done = said();
      worker.postMessage(state);
      await done;
    },
    async close() {
      await worker.terminate();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
