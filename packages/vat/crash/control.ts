/**
 * The words that `faults.c` reads and writes: arms it, and tells what it saw. From inside the process or from
 * outside.
 */
import { closeSync, openSync, readSync, writeFileSync, writeSync } from 'node:fs';
import { constants } from 'node:os';
import type { Fault, FaultyDisk } from './fault-ground.ts';

/** As in `faults.c`: six numbers, then a name. */
const WORDS = 6;
const SIZE = 256;

export const makeControl = (file: string): void => writeFileSync(file, new Uint8Array(SIZE));

/** From now on calls are counted, from 1; the one `at` fails, where that is not 0. */
export function armed(file: unknown, { at, error, on }: Fault): FaultyDisk {
  const with_ = (act: (descriptor: number) => void): void => {
    const descriptor = openSync(file as string, 'r+');
    try {
      act(descriptor);
    } finally {
      closeSync(descriptor);
    }
  };
  const words = new Uint32Array([0, at, constants.errno[error as 'EIO' | 'ENOSPC'], on ? 1 : 0, 0, 0]);
  with_((descriptor) => {
    const empty = new Uint8Array(SIZE);
    empty.set(new Uint8Array(words.buffer));
    writeSync(descriptor, empty, 0, SIZE, 0);
    writeSync(descriptor, new Uint32Array([1]), 0, 4, 0);
  });
  return {
    seen() {
      const all = Buffer.alloc(SIZE);
      with_((descriptor) => void readSync(descriptor, all, 0, SIZE, 0));
      const name = all.subarray(4 * WORDS);
      return {
        calls: all.readUInt32LE(16),
        failed: all.readUInt32LE(20),
        what: name.toString('utf8', 0, name.indexOf(0)),
      };
    },
    mend: () => with_((descriptor) => void writeSync(descriptor, new Uint32Array([0]), 0, 4, 0)),
  };
}
