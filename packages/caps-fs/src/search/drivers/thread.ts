/**
 * Runs work that would block everybody else in a worker thread.
 *
 * Promise: at most two tasks run at a time in the process. The others wait in order of arrival. A thread is
 * terminated when its task runs out of time, and at once when the cap that it works for is closed. A thread
 * that has answered waits up to half a second for the next task and does not keep the process alive. That
 * saves time: starting a thread takes 60 ms, and a walk in a new thread takes three times as long as in a
 * used one. The caller holds the descriptors until the answer.
 */
import { Worker } from 'node:worker_threads';
import { refusal } from '../../base/errors.ts';
import { KernelError } from '../../base/kernel.ts';
import type { Answer, Task } from './seek-thread.ts';

const maxThreads = 2;
const idleMs = 500;

let running = 0;
const queue: (() => void)[] = [];

export interface Until {
  readonly ended: AbortSignal;
  readonly ms: number;
  /** The name of the limit, for the error. */
  readonly limit: string;
}

export async function inThread<R>(task: Task, until: Until): Promise<R> {
  if (until.ended.aborted) throw refusal('CLOSED');
  if (running < maxThreads) running += 1;
  else await waitInQueue(until.ended);
  try {
    return (await run(task, until)) as R;
  } finally {
    // The place passes to the next in the queue.
    const next = queue.shift();
    if (next) next();
    else running -= 1;
  }
}

/**
 * If the cap closes while its task is queued, the task is dropped. Tasks ahead of it may take their whole
 * time.
 */
function waitInQueue(ended: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const enter = (): void => {
    ended.removeEventListener('abort', leave);
    resolve();
  };
  const leave = (): void => {
    queue.splice(queue.indexOf(enter), 1);
    reject(refusal('CLOSED'));
  };
  queue.push(enter);
  ended.addEventListener('abort', leave);
  return promise;
}

/** The file ending of this module: `ts` as source, `js` when packed. */
const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js';

interface Seeker {
  readonly worker: Worker;
  readonly over: Promise<void>;
}

function begin(): Seeker {
  // Without this process's options, because the hooks of a test runner must not run there.
  const options = { execArgv: [], stdout: true, stderr: true };
  const worker = new Worker(new URL(`./seek-thread.${ending}`, import.meta.url), options);
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
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
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
