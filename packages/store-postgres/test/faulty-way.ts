/**
 * A proxy in front of a server that makes a statement fail: an `Armer` of `packages/vat/crash/fault-ground.ts`.
 *
 * The proxy runs in a thread of the process that uses the store. Shared memory says what is to fail, and what did.
 */
import { once } from 'node:events';
import { dirname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { urlOf } from '../../../test/postgres-cluster.ts';
import type { At } from './open-at.ts';

/**
 * The faults of a server, as the store sees them:
 *
 * - `disk full`: it refuses a statement that writes, with 53100.
 * - `I/O error`: it refuses any statement, with 58030.
 * - `connection cut`: the connection ends before the statement arrives.
 * - `answer lost`: the statement is carried out, and the connection ends before the answer.
 * - `session ended`: the session ends as if somebody had called `pg_terminate_backend`.
 */
export const ERRORS = ['disk full', 'I/O error', 'connection cut', 'answer lost', 'session ended'] as const;

/** The socket of the proxy, and that of the server. */
export interface Control {
  readonly here: string;
  readonly there: string;
}

/** The shared words; then comes the name of the first statement that failed. */
export const WORDS = { armed: 0, at: 1, error: 2, on: 3, calls: 4, failed: 5 } as const;
export const NAME = 24;
export const SIZE = 256;

interface Fault {
  readonly at: number;
  readonly error: string;
  readonly on: boolean;
}

const shared = new SharedArrayBuffer(SIZE);
const words = new Int32Array(shared, 0, NAME / 4);
let opened: Promise<unknown> | undefined;

async function open(control: Control): Promise<void> {
  const url = new URL('./faulty-way-thread.ts', import.meta.url);
  const worker = new Worker(url, { workerData: { ...control, shared }, execArgv: [] });
  await once(worker, 'message');
  worker.unref();
}

interface FaultyDisk {
  seen(): { readonly calls: number; readonly failed: number; readonly what: string };
  mend(): void;
}

export async function armed(control: Control, { at, error, on }: Fault): Promise<FaultyDisk> {
  await (opened ??= open(control));
  const name = new Uint8Array(shared, NAME).fill(0);
  words.set([0, at, (ERRORS as readonly string[]).indexOf(error), on ? 1 : 0, 0, 0]);
  Atomics.store(words, WORDS.armed, 1);
  return {
    seen: () => ({
      calls: Atomics.load(words, WORDS.calls),
      failed: Atomics.load(words, WORDS.failed),
      what: Buffer.from(name).toString('utf8').replace(/\0+$/, ''),
    }),
    mend: () => void Atomics.store(words, WORDS.armed, 0),
  };
}

/** Returns the place of the same store, reached through this proxy. */
export const through = (control: Control, place: { readonly at?: unknown }): object => ({
  ...place,
  at: { ...(place.at as At), url: urlOf(dirname(control.here)) } satisfies At,
});
