/**
 * Work that would hold up everybody else, in a thread of its own.
 *
 * Promise: at most two at a time in the process, the rest in order of arrival. A thread is ended at the end of its task's time, and
 * at once when the cap that it works for is closed. One that has answered waits for the next task, half a second at most, and keeps
 * nobody alive: a thread takes 60 ms to be there, and a walk in a new one three times what it takes in one that has walked
 * before. The one who asked holds the descriptors until the answer.
 */
import { Worker } from 'node:worker_threads';
import { refusal } from '../../base/errors.ts';
import { KernelError } from '../../base/kernel.ts';
import type { Answer, Task } from './seek-thread.ts';

const maxThreads = 2;
const idleMs = 500;

let running = 0;
const line: (() => void)[] = [];

export interface Until {
  readonly ended: AbortSignal;
  readonly ms: number;
  /** The limit by its name, for who runs into it. */
  readonly limit: string;
}

export async function inThread<R>(task: Task, until: Until): Promise<R> {
  if (until.ended.aborted) throw refusal('CLOSED');
  if (running < maxThreads) running += 1;
  else await admitted(until.ended);
  try {
    return (await run(task, until)) as R;
  } finally {
    // The place passes on.
    const next = line.shift();
    if (next) next();
    else running -= 1;
  }
}

/** Whose cap closes leaves the line: those ahead may be another's, and take their whole time. */
function admitted(ended: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const enter = (): void => {
    ended.removeEventListener('abort', leave);
    resolve();
  };
  const leave = (): void => {
    line.splice(line.indexOf(enter), 1);
    reject(refusal('CLOSED'));
  };
  line.push(enter);
  ended.addEventListener('abort', leave);
  return promise;
}

/** As this module is called: source, or packed. */
const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js';

interface Seeker {
  readonly worker: Worker;
  readonly over: Promise<void>;
}

function begin(): Seeker {
  // No options of ours: a test runner's hooks have nothing to do in there, and it prints nothing.
  const options = { execArgv: [], stdout: true, stderr: true };
  const worker = new Worker(new URL(`./seek-thread.${ending}`, import.meta.url), options);
  // Somebody always waits for it, and hears of it: this only keeps a failure between two tasks from being nobody's.
  worker.on('error', () => {});
  return { worker, over: new Promise<void>((resolve) => worker.once('exit', () => resolve())) };
}

async function end({ worker, over }: Seeker): Promise<void> {
  await worker.terminate();
  await over;
}

/** One that has nothing to do, and when it goes. */
let spare: { readonly seeker: Seeker; readonly goes: NodeJS.Timeout } | undefined;

function takeSpare(): Seeker | undefined {
  if (!spare) return undefined;
  const { seeker, goes } = spare;
  spare = undefined;
  clearTimeout(goes);
  seeker.worker.ref();
  return seeker;
}

/** Answers whether it is kept. */
function keep(seeker: Seeker): boolean {
  if (spare) return false;
  seeker.worker.unref();
  const goes = setTimeout(() => void endSpare(), idleMs).unref();
  spare = { seeker, goes };
  // It fell over by itself: then there is none.
  void seeker.over.then(() => {
    if (spare?.seeker === seeker) takeSpare();
  });
  return true;
}

/** Now instead of a moment later: for who counts what is open. */
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
