/** Rows of tasks in a real vat over a real store. For tests. */
import { E, type Far, openStore, openVats, table } from '@hob/vat';
import { onTestFinished } from 'vitest';
import { type TaskRows, TaskRowsActor, taskDefinitions } from '../src/tasks/index.ts';

/** `path` is the file of the store; without it the store is in memory. */
export async function newRows(path?: string): Promise<{ readonly rows: Far<TaskRows>; close(): Promise<void> }> {
  const store = await openStore(path === undefined ? { memory: true } : { path });
  const vats = await openVats({ store, definitions: taskDefinitions });
  let isOpen = true;
  const close = async (): Promise<void> => {
    if (!isOpen) return;
    isOpen = false;
    await vats.close();
    await store.close();
  };
  onTestFinished(close);
  const rows = (await vats.vat('tasks').root('rows', () => TaskRowsActor(table(), table(), table()))) as unknown;
  return { rows: rows as Far<TaskRows>, close };
}

export { E };
