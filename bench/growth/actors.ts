/** Measures a durable store with many actors. They are leaves of trees, and each branch above them holds a hundred. */
import { E, type Far, openStore, openVats, spawn, type Vats } from '@hob/vat';
import { Branch, Counter, definitions } from '../durable-actors.ts';
import type { Tell } from './fields.ts';
import { cpuMs, folderOf, usEach } from './times.ts';

const width = 100;
const callers = 50;

interface Opened {
  readonly vats: Vats;
  close(): Promise<void>;
}

export async function measureActors(sizes: readonly number[], tell: Tell): Promise<void> {
  const folder = folderOf('actors');
  let held = 0;
  for (const n of sizes) {
    const first = await open(folder);
    await make(first.vats, held, n);
    held = n;
    const counters = await Promise.all(
      Array.from({ length: callers }, (_, i) => first.vats.vat('few').root(`counter-${i}`, () => Counter(0))),
    );
    const turn = (i: number): PromiseLike<unknown> => E(counters[i % callers] as Far<Counter>).next();
    tell('a durable turn of one', n, await usEach(9, callers * 4, turn));
    const vat = first.vats.vat('few');
    tell('make one more', n, await usEach(9, callers, () => vat.turn(() => spawn(Counter(0)))));
    await first.close();
    const took: number[] = [];
    for (let round = 0; round < 3; round += 1) took.push(await firstTurn(folder));
    tell('open the store, first turn', n, Math.min(...took));
    const last = await open(folder);
    tell('a whole sweep', n, await cpuMs(() => last.vats.sweep()));
    await last.close();
  }
}

async function open(folder: string): Promise<Opened> {
  const store = await openStore({ path: folder });
  const vats = await openVats({ store, definitions });
  return {
    vats,
    async close() {
      await vats.close();
      await store.close();
    },
  };
}

/** Makes counters `from` to `to`, in trees of a thousand. The root of a tree has ten branches of a hundred counters. */
async function make(vats: Vats, from: number, to: number): Promise<void> {
  const vat = vats.vat('many');
  const tree = width * 10;
  for (let done = from; done < to; done += tree)
    await vat.root(`tree-${done}`, () =>
      Branch(
        0,
        Array.from({ length: 10 }, () =>
          spawn(
            Branch(
              0,
              Array.from({ length: width }, () => spawn(Counter(0))),
            ),
          ),
        ),
      ),
    );
}

async function firstTurn(folder: string): Promise<number> {
  let opened: Opened | undefined;
  const took = await cpuMs(async () => {
    opened = await open(folder);
    const top = await opened.vats.vat('many').root('tree-0', () => Branch(-1, []));
    if ((await E(top).touch()) < 0) throw new Error('the root is not the one that was made');
  });
  await opened?.close();
  return took;
}
