/**
 * The tasks of a host, as an actor: they last, so a message that is sent again after a kill begins nothing anew.
 *
 * Promise: a peer has at most 100 tasks that are over. The oldest go first. One that goes on is never dropped.
 */
import { type AnyDefinition, type Definition, define, type Table } from '@hob/vat';
import { isEnd, type TaskOutput, type TaskRow } from './task.ts';

/** Keeps tasks. */
export interface TaskRows {
  /** Keeps a new task. If a message of that id and peer has begun one before, returns that and keeps nothing. */
  begin(row: TaskRow): TaskRow | undefined;
  put(row: TaskRow, output?: TaskOutput): void;
  find(id: string): { readonly row: TaskRow; readonly output?: TaskOutput | undefined } | undefined;
  /** Those of one peer, oldest first. */
  of(peer: string): readonly TaskRow[];
  /** Those of all peers that are not over. */
  open(): readonly TaskRow[];
}

const MOST_ENDED = 100;

/** Holds the rows and results of tasks by id, and the ids of each peer. */
export const TaskRowsActor: Definition<
  TaskRows,
  [rows: Table<TaskRow>, outputs: Table<TaskOutput>, peers: Table<readonly string[]>]
> = define('a2a.tasks', (_bcom, rows, outputs, peers) => {
  const of = (peer: string): readonly TaskRow[] => (peers.get(peer) ?? []).flatMap((id) => rows.get(id) ?? []);
  return {
    begin(row) {
      const before = of(row.peer);
      const same = before.find(({ message }) => message === row.message);
      if (same !== undefined) return same;
      const ended = before.filter(({ state }) => isEnd(state));
      const dropped = new Set(ended.slice(0, Math.max(0, ended.length - MOST_ENDED + 1)).map(({ id }) => id));
      for (const id of dropped) {
        rows.delete(id);
        outputs.delete(id);
      }
      peers.set(row.peer, [...before.map(({ id }) => id).filter((id) => !dropped.has(id)), row.id]);
      rows.set(row.id, row);
      return undefined;
    },
    put(row, output) {
      rows.set(row.id, row);
      if (output !== undefined) outputs.set(row.id, output);
    },
    find(id) {
      const row = rows.get(id);
      return row && { row, output: outputs.get(id) };
    },
    of,
    open: () => [...rows.entries()].flatMap(([, row]) => (isEnd(row.state) ? [] : [row])),
  };
});

/** The definitions that a host with a door for tasks is opened with. */
export const taskDefinitions: readonly AnyDefinition[] = Object.freeze([TaskRowsActor]);
