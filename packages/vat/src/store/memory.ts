/** Rows in memory: the same rules without a disk. Gone with the process; nothing in it is a promise to keep. */
import { compareUtf8 } from '../sorted-keys.ts';
import type { Rows } from './engine.ts';
import type { Line, StoredLine } from './store.ts';

export interface MemoryOptions {
  /** Tests: a disk that is full at so many lines. */
  readonly maxLines?: number;
}

export function memoryRows(options: MemoryOptions = {}): Rows {
  const kept: StoredLine[] = [];
  const cells = new Map<string, string>();
  return {
    epoch: 1,
    head: Object.freeze({ seq: 0, hash: '' }),
    append(_epoch, lines: readonly Line[], _head, written) {
      if (kept.length + lines.length > (options.maxLines ?? Number.POSITIVE_INFINITY)) throw new Error('full');
      for (const { seq, bytes } of lines) kept.push(Object.freeze({ seq, bytes: bytes.slice() }));
      for (const [key, value] of written) {
        if (value === undefined) cells.delete(key);
        else cells.set(key, value);
      }
    },
    // Line n is at n - 1. Copies, as from a disk: who reads a line must not be able to change it.
    lines: (from, limit) =>
      kept
        .slice(Math.max(0, from - 1), Math.max(0, from - 1) + limit)
        .map(({ seq, bytes }) => ({ seq, bytes: bytes.slice() })),
    get: (key) => cells.get(key),
    scan: (prefix) => [...cells].filter(([key]) => key.startsWith(prefix)).sort(([a], [b]) => compareUtf8(a, b)),
    close() {},
  };
}
