/**
 * Runs work that would block everybody else in a worker thread.
 *
 * Promise: at most two tasks run at a time in the process, and of what was made from a root only one of each
 * holder. Holders take turns. If a cap closes while its task waits, the task is dropped. A thread is
 * terminated when its task runs out of time, and at once when the cap that it works for is closed. A thread
 * that has returned a result waits up to half a second for the next task and does not keep the process alive. That
 * saves time: starting a thread takes 60 ms, and a walk in a new thread takes three times as long as in a
 * used one. The caller holds the descriptors until the answer.
 */
import { Worker } from 'node:worker_threads';
import { refusal } from '../../base/errors.ts';
import { KernelError } from '../../base/kernel.ts';
import { Admission } from '../../root/admission.ts';
import { Holder } from '../../root/holder.ts';
import type { Task, TaskResult } from './seek-thread.ts';

const maxThreads = 2;
const idleMs = 500;

const threads = new Admission(Holder.everyone, {
  places: maxThreads,
  // All roots together. A waiting search holds no descriptor, and a waiting edit has its place in its root.
  maxWaiting: 4_096,
  maxBytes: Number.POSITIVE_INFINITY,
  pause: () => undefined,
});

export interface Until {
  readonly holder: Holder;
  readonly ended: AbortSignal;
  readonly ms: number;
  /** The name of the limit, for the error. */
  readonly limit: string;
}

/** How many tasks of this holder wait for a thread. */
export function waitingForThread(holder: Holder): number {
  return threads.waitingOf(holder);
}

/** `begin` returns the task when its turn has come. It opens descriptors then, and not before. */
export async function inThread<R>(begin: () => Begun, until: Until): Promise<R> {
  const { holder, ended } = until;
  if (ended.aborted) throw refusal('CLOSED');
  const wait = threads.enter(holder, 0, ended);
  if (wait) await wait;
  try {
    using begun = begin();
    return (await run(begun.task, until)) as R;
  } finally {
    threads.leave(holder);
  }
}

/** A task, and the descriptors that it works on, until it is over. */
interface Begun extends Disposable {
  readonly task: Task;
}

interface Seeker {
  readonly worker: Worker;
  readonly over: Promise<void>;
}

function begin(): Seeker {
  // Without this process's options, because the hooks of a test runner must not run there.
  const options = { execArgv: [], stdout: true, stderr: true };
  const worker = new Worker(new URL('./seek-thread.ts', import.meta.url), options);
  // `run` listens while a task runs. This listener keeps a failure between two tasks from ending the process.
  worker.on('error', () => {});
  return { worker, over: new Promise<void>((resolve) => worker.once('exit', () => resolve())) };
}

async function end({ worker, over }: Seeker): Promise<void> {
  await worker.terminate();
  await over;
}

/** An idle thread and the timer that ends it. */
let spare: { readonly seeker: Seeker; readonly goes: NodeJS.Timeout } | undefined;

function takeSpare(): Seeker | undefined {
  if (!spare) return undefined;
  const { seeker, goes } = spare;
  spare = undefined;
  clearTimeout(goes);
  seeker.worker.ref();
  return seeker;
}

/** Keeps the thread for the next task, unless there is a spare one already. Returns whether it is kept. */
function keep(seeker: Seeker): boolean {
  if (spare) return false;
  seeker.worker.unref();
  const goes = setTimeout(() => void endSpare(), idleMs).unref();
  spare = { seeker, goes };
  // If the thread ends by itself, there is no spare one any more.
  void seeker.over.then(() => {
    if (spare?.seeker === seeker) takeSpare();
  });
  return true;
}

/** Ends the idle thread now. For tests that count open threads and descriptors. */
export async function endSpare(): Promise<void> {
  const seeker = takeSpare();
  if (seeker) await end(seeker);
}

async function run(task: Task, { ended, ms, limit }: Until): Promise<unknown> {
  const seeker = takeSpare() ?? begin();
  const { worker } = seeker;
  const { promise, resolve, reject } = Promise.withResolvers<TaskResult>();
  const closed = (): void => reject(refusal('CLOSED'));
  const failed = (): void => reject(refusal('IO'));
  const timer = setTimeout(() => reject(refusal('FS_LIMIT', `${limit} ${ms}, ask for a part of it`)), ms);
  ended.addEventListener('abort', closed);
  worker.once('message', resolve);
  worker.once('error', failed);
  worker.once('exit', failed);
  let kept = false;
  try {
    worker.postMessage(task);
    const answer = await promise;
    kept = keep(seeker);
    if ('stop' in answer) throw refusal(answer.stop.code, answer.stop.detail);
    if ('errno' in answer) throw new KernelError(answer.errno);
    return answer.value;
  } finally {
    clearTimeout(timer);
    ended.removeEventListener('abort', closed);
    worker.off('error', failed).off('exit', failed);
    if (!kept) await end(seeker);
  }
}
