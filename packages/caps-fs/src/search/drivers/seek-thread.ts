/**
 * The thread that looks through large trees and edits large texts: a task, its answer, and the next.
 *
 * It gets numbers of descriptors, which threads of a process share, and plain data; whoever started it holds the descriptors
 * until the answer. Node closes what a thread that is ended has opened by itself, which is why this is made of `node:fs` in
 * every backend. It loads none of the actors: it is there in 60 ms.
 */
import { parentPort } from 'node:worker_threads';
import { type Kernel, KernelError } from '../../base/kernel.ts';
import { nodeKernel } from '../../drivers/node-fs.ts';
import { isBuilt, type Listing, listingOver, loadPart } from '../../drivers/part.ts';
import { type Ground, Stop } from '../descent.ts';
import type { EditTask } from '../passages.ts';
import type { Query } from '../scan.ts';

/** As that of the cap, but for what opens something in C: that would not be closed when this thread is ended. */
function kernelOf(backend: Kernel['backend']): Kernel {
  const proc = nodeKernel();
  const part = backend === 'native' && isBuilt() ? (loadPart() as Listing | undefined) : undefined;
  return part ? { ...proc, ...listingOver(part, proc) } : proc;
}

export type Task =
  | { readonly task: 'glob'; readonly ground: Ground; readonly pattern: string; readonly limit: number }
  | { readonly task: 'search'; readonly ground: Ground; readonly query: Query }
  | ({ readonly task: 'edit' } & EditTask);

export type Answer =
  | { readonly value: unknown }
  | { readonly stop: { readonly code: Stop['code']; readonly detail: string | undefined } }
  | { readonly errno: string };

/** Only what the task needs is loaded: the automaton of patterns is the most of it. */
async function answer(task: Task): Promise<Answer> {
  try {
    switch (task.task) {
      case 'glob': {
        const { paths } = await import('../paths.ts');
        return { value: paths(kernelOf(task.ground.backend), task.ground, task.pattern, task.limit) };
      }
      case 'search': {
        const { search } = await import('../scan.ts');
        return { value: search(kernelOf(task.ground.backend), task.ground, task.query) };
      }
      case 'edit': {
        const { editText } = await import('../passages.ts');
        return { value: editText(task) };
      }
    }
  } catch (error) {
    if (error instanceof Stop) return { stop: { code: error.code, detail: error.detail } };
    return { errno: error instanceof KernelError ? error.errno : 'EIO' };
  }
}

parentPort?.on('message', async (task: Task) => parentPort?.postMessage(await answer(task)));
