/**
 * A cell: one value that can be read and written, and views that can only read or only write.
 *
 * Promise: the holder of a read-only view can never write, and the holder of a write-only view can never
 * read. Neither can reach the cell itself. After Goblins' `^cell`.
 */
import { spawn } from '../actor/actor.ts';
import type { Definition } from '../core/types.ts';
import { define } from '../turn/portrait.ts';
import { callOrSend } from './opportunistic.ts';

/** A view of a cell that only reads. */
export interface ReadOnlyCell<V = unknown> {
  read(): V;
}

/** A view of a cell that only writes. */
export interface WriteOnlyCell<V = unknown> {
  write(value: V): void;
}

/** One value that can be read and written. After Goblins' `^cell`. */
export interface Cell<V = unknown> extends ReadOnlyCell<V>, WriteOnlyCell<V> {}

export const Cell: Definition<Cell, [value: unknown]> = define('Cell', (bcom, value) => ({
  read: () => value,
  write: (next) => bcom(Cell(next)),
}));

export const ReadOnlyCell: Definition<ReadOnlyCell, [cell: ReadOnlyCell]> = define('ReadOnlyCell', (_bcom, cell) => ({
  read: () => callOrSend(cell, 'read', []),
}));

export const WriteOnlyCell: Definition<WriteOnlyCell, [cell: WriteOnlyCell]> = define(
  'WriteOnlyCell',
  (_bcom, cell) => ({ write: (value) => callOrSend(cell, 'write', [value]) as undefined }),
);

/** Makes a cell with a first value. In a turn. */
export const makeCell = <V>(value: V): Cell<V> => spawn(Cell(value)) as Cell<V>;

/** Goblins' `cell->read-only`. */
export const readOnly = <V>(cell: ReadOnlyCell<V>): ReadOnlyCell<V> => spawn(ReadOnlyCell(cell)) as ReadOnlyCell<V>;

/** Goblins' `cell->write-only`. */
export const writeOnly = <V>(cell: WriteOnlyCell<V>): WriteOnlyCell<V> =>
  spawn(WriteOnlyCell(cell as WriteOnlyCell)) as WriteOnlyCell<V>;
