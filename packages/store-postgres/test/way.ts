/** A way to a server that fails as a test says. It runs in a thread: a host that waits for its store stops its own. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { type Cluster, urlOf } from '../../../test/postgres-cluster.ts';

/**
 * - `open`: all passes.
 * - `cut`: connections are ended, and new ones refused.
 * - `swallows`: nothing passes, and nobody is told.
 * - `mute`: what the server says does not come back.
 * - `holds`: what is sent arrives when the way is open again, also from somebody who has given up.
 */
export type WayState = 'open' | 'cut' | 'swallows' | 'mute' | 'holds';

export interface Way {
  readonly url: string;
  /** Done when the way is in that state. */
  is(state: WayState): Promise<void>;
  close(): Promise<void>;
}

export async function wayTo({ socket }: Pick<Cluster, 'socket'>): Promise<Way> {
  const folder = mkdtempSync(join(tmpdir(), 'hob-pg-way-'));
  const [here, there] = [folder, socket].map((each) => join(each, '.s.PGSQL.5432'));
  const worker = new Worker(new URL('./way-thread.ts', import.meta.url), { workerData: { here, there }, execArgv: [] });
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
