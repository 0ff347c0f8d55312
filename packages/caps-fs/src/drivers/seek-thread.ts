/**
 * The thread that looks through large trees and compares large texts: one task, one answer, then it ends.
 *
 * It gets numbers of descriptors, which threads of a process share, and plain data; whoever started it holds the descriptors
 * until the answer. Node closes what a thread that is ended has opened by itself, which is why this is made of `node:fs` in
 * every backend. It loads none of the actors: it is there in 60 ms.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { type Ground, Stop } from '../descent.ts';
import { unifiedDiff } from '../diff.ts';
import { KernelError } from '../kernel.ts';
import { paths } from '../paths.ts';
import { type Query, search } from '../scan.ts';
import { nodeKernel } from './node-fs.ts';

export type Task =
  | { readonly task: 'glob'; readonly ground: Ground; readonly pattern: string; readonly limit: number }
  | { readonly task: 'search'; readonly ground: Ground; readonly query: Query }
  | { readonly task: 'diff'; readonly before: string; readonly after: string; readonly name: string };

export type Answer =
  | { readonly value: unknown }
  | { readonly stop: { readonly code: Stop['code']; readonly detail: string | undefined } }
  | { readonly errno: string };

function answer(task: Task): Answer {
  try {
    switch (task.task) {
      case 'glob':
        return { value: paths(nodeKernel(), task.ground, task.pattern, task.limit) };
      case 'search':
        return { value: search(nodeKernel(), task.ground, task.query) };
      case 'diff':
        return { value: unifiedDiff(task.before, task.after, task.name) };
    }
  } catch (error) {
    if (error instanceof Stop) return { stop: { code: error.code, detail: error.detail } };
    return { errno: error instanceof KernelError ? error.errno : 'EIO' };
  }
}

parentPort?.postMessage(answer(workerData as Task));
