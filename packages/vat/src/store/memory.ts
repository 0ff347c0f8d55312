/** Rows in memory: the same rules without a disk. Gone with the process; nothing in it is a promise to keep. */
import type { Rows } from './engine.ts';
import type { Line, StoredLine } from './store.ts';

export interface MemoryOptions {
  /** Tests: a disk that is full at so many lines. */
  readonly maxLines?: number;
}

export function memoryRows(options: MemoryOptions = {}): Rows {
  const kept: StoredLine[] = [];
  return {
    epoch: 1,
    head: Object.freeze({ seq: 0, hash: '' }),
    append(_epoch, lines: readonly Line[]) {
      if (kept.length + lines.length > (options.maxLines ?? Number.POSITIVE_INFINITY)) throw new Error('full');
      for (const { seq, bytes } of lines) kept.push(Object.freeze({ seq, bytes: bytes.slice() }));
    },
    // Line n is at n - 1. Copies, as from a disk: who reads a line must not be able to change it.
    lines: (from, limit) =>
      kept
        .slice(Math.max(0, from - 1), Math.max(0, from - 1) + limit)
        .map(({ seq, bytes }) => ({ seq, bytes: bytes.slice() })),
    close() {},
  };
}
