/**
 * The parts of `durable.ts` that have a process of their own. Each prints one number.
 *
 *   durable-child.ts make FOLDER N         makes a store with N counters below one root; prints N
 *   durable-child.ts open FOLDER           ms from nothing open to the answer of the first turn
 *   durable-child.ts sweep FOLDER          makes 10,100 actors that nobody holds and sweeps them; prints the
 *                                          longest time in ms between two rounds of the event loop
 *   durable-child.ts lines FOLDER N        makes a store with N ledger lines, and FOLDER.jsonl with the same
 *   durable-child.ts verify-store FOLDER   ms to verify them from the store
 *   durable-child.ts verify-file FOLDER    ms to verify them from the file
 *   durable-child.ts idle FOLDER           p99 of the delay of the event loop in ms, idle
 *   durable-child.ts load FOLDER           the same while 8 callers change 8 actors as fast as they can
 */
import './lockdown.ts';
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { E, exportLedger, ledgerLine, openStore, openVats, spawn, verifyLedger } from '@hob/vat';
import { Branch, Counter, definitions } from './durable-actors.ts';
import { percentile } from './measure.ts';

const [what, folder = '', count = ''] = process.argv.slice(2);
const WIDTH = 100;

async function open() {
  const store = await openStore({ path: folder });
  const vats = await openVats({ store, definitions });
  return {
    store,
    vats,
    async close(): Promise<void> {
      await vats.close();
      await store.close();
    },
  };
}

/** A tree: a portrait of a million references would be read and written whole at each turn of its actor. */
async function make(n: number): Promise<number> {
  const { vats, close } = await open();
  const vat = vats.vat('many');
  const branches: object[] = [];
  const leaves = WIDTH * WIDTH;
  for (let done = 0; done < n; done += leaves) {
    const branch = await vat.turn(() =>
      spawn(
        Branch(
          0,
          Array.from({ length: WIDTH }, () =>
            spawn(
              Branch(
                0,
                Array.from({ length: WIDTH }, () => spawn(Counter(0))),
              ),
            ),
          ),
        ),
      ),
    );
    branches.push(branch);
  }
  await vat.root('top', () => Branch(0, branches));
  await close();
  return branches.length * leaves;
}

async function firstTurn(): Promise<number> {
  const began = performance.now();
  const { vats, close } = await open();
  const top = await vats.vat('many').root('top', () => Branch(-1, []));
  const touched = await E(top).touch();
  const ms = performance.now() - began;
  if (touched < 0) throw new Error('the root is not the one that was made');
  await close();
  return ms;
}

async function loopDelay(loaded: boolean): Promise<number> {
  const { vats, close } = await open();
  const vat = vats.vat('load');
  let going = true;
  const caller = async (i: number): Promise<void> => {
    const counter = await vat.root(`counter-${i}`, () => Counter(0));
    while (going) await E(counter).next();
  };
  const callers = loaded ? Array.from({ length: 8 }, (_, i) => caller(i)) : [];
  const delays: number[] = [];
  const until = performance.now() + 2000;
  for (let now = performance.now(); now < until; ) {
    await new Promise((resolve) => setTimeout(resolve, 2));
    const then = performance.now();
    delays.push(then - now - 2);
    now = then;
  }
  going = false;
  await Promise.all(callers);
  await close();
  return percentile(delays, 99);
}

async function longestSlice(): Promise<number> {
  {
    const { vats, close } = await open();
    const leaf = (): object => spawn(Counter(0));
    const lost = (): object => spawn(Branch(0, Array.from({ length: WIDTH }, leaf)));
    await vats.vat('many').turn(() => void Array.from({ length: WIDTH }, lost));
    await close();
  }
  const { vats, close } = await open();
  let longest = 0;
  let going = true;
  const watch = async (): Promise<void> => {
    for (let last = performance.now(); going; ) {
      await new Promise(setImmediate);
      const now = performance.now();
      longest = Math.max(longest, now - last);
      last = now;
    }
  };
  const watching = watch();
  // Before the first turn: after it the vats sweep by themselves, and nobody counts what that sweep deletes.
  const deleted = await vats.sweep();
  going = false;
  await watching;
  const top = await vats.vat('many').root('top', () => Branch(-1, []));
  if ((await E(top).touch()) < 0) throw new Error('the root is not the one that was made');
  await close();
  if (deleted < WIDTH * WIDTH) throw new Error(`only ${deleted} cells were swept away`);
  return longest;
}

/** A thousand a turn. */
async function makeLines(n: number): Promise<number> {
  const { store, vats, close } = await open();
  const vat = vats.vat('lines');
  for (let done = 0; done < n; done += 1000)
    await vat.turn(() => {
      for (let i = done; i < Math.min(n, done + 1000); i += 1)
        ledgerLine('call', { session: 'bench', grant: `g${i % 100}`, method: 'next', count: i });
    });
  await vats.settled();
  let made = 0;
  const all = async function* (): AsyncGenerator<string> {
    for await (const line of exportLedger(store)) {
      made += 1;
      yield `${line}\n`;
    }
  };
  await pipeline(Readable.from(all()), createWriteStream(`${folder}.jsonl`));
  await close();
  return made;
}

async function verify(from: 'store' | 'file'): Promise<number> {
  const store = await openStore({ path: folder });
  const began = performance.now();
  const verdict = await verifyLedger(from === 'store' ? store : { file: `${folder}.jsonl` });
  const ms = performance.now() - began;
  await store.close();
  if (!verdict.ok) throw new Error(`line ${verdict.badLine}: ${verdict.why}`);
  return ms;
}

const verbs: Record<string, () => Promise<number>> = {
  make: () => make(Number(count)),
  open: firstTurn,
  sweep: longestSlice,
  lines: () => makeLines(Number(count)),
  'verify-store': () => verify('store'),
  'verify-file': () => verify('file'),
  idle: () => loopDelay(false),
  load: () => loopDelay(true),
};
const verb = verbs[what ?? ''];
if (verb === undefined) throw new Error(`no such measurement: ${what}`);
process.stdout.write(`${await verb()}\n`);
