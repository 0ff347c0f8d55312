/** Rows in memory: the same rules without a disk. They are gone with the process. */
import { CapError } from '../core/errors.ts';
import { compareUtf8 } from '../core/sorted-keys.ts';
import { memorySigner } from '../drivers/keys.ts';
import type { Args, LedgerLine, StoredLine } from './records.ts';
import { Full, type Rows } from './rows.ts';

interface MemoryOptions {
  /** For tests: the disk is full at this many lines. */
  readonly maxLines?: number;
  /** For tests: a reserve beyond that. */
  readonly reserve?: number;
}

export function memoryRows(options: MemoryOptions = {}): Rows {
  const kept: StoredLine[] = [];
  /** Count of dropped lines after the first. */
  let dropped = 0;
  const cells = new Map<string, string>();
  const args = new Map<number, Args>();
  let room = options.maxLines ?? Number.POSITIVE_INFINITY;
  let reserve = options.reserve ?? 0;
  return {
    epoch: 1,
    head: Object.freeze({ seq: 0, hash: '' }),
    signer: memorySigner(),
    era: { now: 0, trusted: 0 },
    doubt: undefined,
    trust() {},
    backup: async () => {
      throw new CapError('unavailable', 'a store in memory has no backup: open one with a path');
    },
    append(_epoch, lines: readonly LedgerLine[], _head, written) {
      if (kept.length + lines.length > room) throw new Full();
      for (const { seq, bytes, args: said, forgets, drops = 0 } of lines) {
        kept.push(Object.freeze({ seq, bytes: bytes.slice() }));
        if (said !== undefined) args.set(seq, { salt: said.salt.slice(), bytes: said.bytes.slice() });
        if (forgets !== undefined) args.delete(forgets);
        for (; dropped + 1 < drops; dropped += 1) {
          kept.splice(1, 1);
          args.delete(dropped + 2);
        }
      }
      for (const [key, value] of written) {
        if (value === undefined) cells.delete(key);
        else cells.set(key, value);
      }
    },
    // Copies, as from a disk: a reader must not be able to change a line.
    lines(from, limit) {
      const at = from <= 1 ? 0 : Math.max(1, from - 1 - dropped);
      return kept.slice(at, at + limit).map(({ seq, bytes }) => ({ seq, bytes: bytes.slice() }));
    },
    get: (key) => cells.get(key),
    getAll: (keys) => keys.map((key) => cells.get(key)),
    scan: (prefix) => [...cells].filter(([key]) => key.startsWith(prefix)).sort(([a], [b]) => compareUtf8(a, b)),
    page: (prefix, after, limit) =>
      [...cells]
        .filter(([key]) => key.startsWith(prefix) && compareUtf8(key, after) > 0)
        .sort(([a], [b]) => compareUtf8(a, b))
        .slice(0, limit),
    args(from, to) {
      const found = [];
      for (let seq = Math.max(1, from); seq <= Math.min(to, dropped + kept.length); seq += 1) {
        const said = args.get(seq);
        if (said !== undefined) found.push({ seq, salt: said.salt.slice(), bytes: said.bytes.slice() });
      }
      return found;
    },
    scrub() {},
    release() {
      if (reserve === 0) return false;
      room += reserve;
      reserve = 0;
      return true;
    },
    refill: () => false,
    close() {},
  };
}
