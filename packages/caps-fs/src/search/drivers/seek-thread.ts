/**
 * The worker thread that searches large trees and edits large texts, one task after the other.
 *
 * It gets plain data and descriptor numbers, which all threads of a process share. The main thread holds the
 * descriptors until the answer. When a thread is terminated, Node closes only what `node:fs` opened in it, so
 * files are opened with `node:fs` in every backend. It imports no actors and so starts in 60 ms.
 */
import { parentPort } from 'node:worker_threads';
import { type Kernel, KernelError } from '../../base/kernel.ts';
import { nodeKernel } from '../../drivers/node-fs.ts';
import { isBuilt, type Listing, listingOver, loadPart } from '../../drivers/part.ts';
import { type SearchScope, Stop } from '../descent.ts';
import type { EditTask } from '../passages.ts';
import type { TreeQuery } from '../paths.ts';
import type { Query } from '../scan.ts';

/**
 * The kernel of the cap, without the C functions that open files: a terminated thread would leak what they
 * opened.
 */
function kernelOf(backend: Kernel['backend']): Kernel {
  const proc = nodeKernel();
  const part = backend === 'native' && isBuilt() ? (loadPart() as Listing | undefined) : undefined;
  return part ? { ...proc, ...listingOver(part, proc) } : proc;
}

export type Task =
  | { readonly task: 'glob'; readonly ground: SearchScope; readonly pattern: string; readonly limit: number }
  | { readonly task: 'tree'; readonly ground: SearchScope; readonly query: TreeQuery }
  | { readonly task: 'search'; readonly ground: SearchScope; readonly query: Query }
  | ({ readonly task: 'edit' } & EditTask);

export type TaskResult =
  | { readonly value: unknown }
  | { readonly stop: { readonly code: Stop['code']; readonly detail: string | undefined } }
  | { readonly errno: string };

/** Loads only the module that the task needs. The regular expression library is the largest. */
async function answer(task: Task): Promise<TaskResult> {
  try {
    switch (task.task) {
      case 'glob': {
        const { paths } = await import('../paths.ts');
        return { value: paths(kernelOf(task.ground.backend), task.ground, task.pattern, task.limit) };
      }
      case 'tree': {
        const { treeOf } = await import('../paths.ts');
        return { value: treeOf(kernelOf(task.ground.backend), task.ground, task.query) };
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
