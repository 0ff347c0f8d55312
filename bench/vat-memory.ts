/**
 * Bytes of heap that one of `n` cells takes, for `vat.ts`: `node --expose-gc vat-memory.ts ours|peer N`.
 */
import './lockdown.ts';
import { openVats, spawn } from '@hob/vat';
import { Cell } from '@hob/vat/actors';

const [side, count] = process.argv.slice(2);
const n = Number(count);
const collect = (globalThis as unknown as { gc: () => void }).gc;
const heap = (): number => {
  for (let i = 0; i < 4; i += 1) collect();
  return process.memoryUsage().heapUsed;
};

interface Bare {
  read(): unknown;
  write(value: unknown): void;
}
function bare(first: unknown): Bare {
  let value = first;
  return {
    read: () => value,
    write: (next) => {
      value = next;
    },
  };
}

const vats = await openVats();
const vat = vats.vat('memory');
const kept = new Array<unknown>(n);
const before = heap();
const turn = 10_000;
for (let from = 0; from < n; from += turn) {
  const fill = (make: (i: number) => unknown) => (): void => {
    for (let i = from; i < Math.min(n, from + turn); i += 1) kept[i] = make(i);
  };
  if (side === 'ours') await vat.turn(fill((i) => spawn(Cell(i))));
  else fill(bare)();
}
const bytes = (heap() - before) / n;
if (kept.length !== n) throw new Error('nothing is kept');
process.stdout.write(`${bytes}\n`);
await vats.close();
