/** Calls `bare-worker.ts`. Each request waits for its commit. */
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Asked } from './bare-worker.ts';

export class BareCommits {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, () => void>();
  #ids = 0;

  /** With `grouped`, one commit has all requests that have arrived. */
  constructor(folder: string, { grouped = false }: { readonly grouped?: boolean } = {}) {
    this.#worker = new Worker(new URL('bare-worker.ts', import.meta.url), {
      workerData: { folder: mkdtempSync(join(folder, 'bare-')), grouped },
      execArgv: [],
    });
    this.#worker.on('message', (ids: readonly number[]) => {
      for (const id of ids) {
        this.#waiting.get(id)?.();
        this.#waiting.delete(id);
      }
    });
    this.#worker.on('error', (error) => {
      throw error;
    });
  }

  commit(key: string, value: string): Promise<void> {
    this.#ids += 1;
    const id = this.#ids;
    const asked: Asked = { id, key, value };
    this.#worker.postMessage(asked);
    return new Promise((resolve) => void this.#waiting.set(id, resolve));
  }

  async ask(key: string, times: number): Promise<void> {
    for (let i = 0; i < times; i += 1) await this.commit(key, `Counter 0\n[${i}]`);
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#worker.once('exit', () => resolve());
      this.#worker.postMessage('close');
    });
  }
}
