/**
 * Work that would hold up everybody else, in a thread of its own.
 *
 * Promise: at most two at a time in the process, the rest in order of arrival; a thread is ended with its task, at the end of its
 * time, and at once when the cap that it works for is closed. The one who asked holds the descriptors until then.
 */
import { Worker } from 'node:worker_threads';
import { mutant } from '@hob/vat';
import { refusal } from '../errors.ts';
import { KernelError } from '../kernel.ts';
import type { Answer, Task } from './seek-thread.ts';

const maxThreads = 2;
const endless = mutant('fs-thread-end');

let running = 0;
const line: (() => void)[] = [];

export interface Until {
  readonly ended: AbortSignal;
  readonly ms: number;
  /** The limit by its name, for who runs into it. */
  readonly limit: string;
}

export async function inThread<R>(task: Task, until: Until): Promise<R> {
  if (running < maxThreads) running += 1;
  else await new Promise<void>((admitted) => line.push(admitted));
  try {
    return (await run(task, until)) as R;
  } finally {
    // The place passes on.
    const next = line.shift();
    if (next) next();
    else running -= 1;
  }
}

/** As this module is called: source, or packed. */
const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js';

async function run(task: Task, { ended, ms, limit }: Until): Promise<unknown> {
  if (ended.aborted) throw refusal('CLOSED');
  // No options of ours: a test runner's hooks have nothing to do in there, and it prints nothing.
  const options = { workerData: task, execArgv: [], stdout: true, stderr: true };
  const worker = new Worker(new URL(`./seek-thread.${ending}`, import.meta.url), options);
  const over = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const closed = (): void => reject(refusal('CLOSED'));
  const timer = setTimeout(() => reject(refusal('FS_LIMIT', `${limit} ${ms}, ask for a part of it`)), ms);
  if (!endless) ended.addEventListener('abort', closed);
  worker.once('message', resolve);
  worker.once('error', () => reject(refusal('IO')));
  void over.then(() => reject(refusal('IO')));
  try {
    const answer = await promise;
    if ('stop' in answer) throw refusal(answer.stop.code, answer.stop.detail);
    if ('errno' in answer) throw new KernelError(answer.errno);
    return answer.value;
  } finally {
    clearTimeout(timer);
    ended.removeEventListener('abort', closed);
    await worker.terminate();
    await over;
  }
}
