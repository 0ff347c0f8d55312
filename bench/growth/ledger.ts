/** Measures a store with many ledger lines. It is on the disk, because ten million lines are 3 GB. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { exportLedger, ledgerLine, openStore, openVats, type Store, type Vat, verifyLedger } from '@hob/vat';
import { median } from '../measure.ts';
import type { Tell } from './fields.ts';
import { folderOf, medianMs, usEach } from './times.ts';

const run = promisify(execFile);
/** The largest number of lines that is verified. Ten million would take minutes and show nothing more. */
const mostVerified = 1_000_000;

export async function measureLedger(sizes: readonly number[], tell: Tell): Promise<void> {
  const folder = folderOf('ledger', 'disk');
  let held = 0;
  for (const n of sizes) {
    await withStore(folder, async (store, vat) => {
      await write(vat, held, n);
      held = n;
      tell('append one', n, await usEach(11, 200, (i) => vat.turn(() => line(i))));
      const last = await lastOf(store, n);
      tell('read the last hundred', n, await medianMs(11, () => read(store, last - 99)));
      if (n <= mostVerified) tell('verify all', n, await medianMs(n < 100_000 ? 3 : 1, () => verify(store)));
    });
    tell('open the store, first durable line', n, await openedAnew(folder));
  }
}

const line = (i: number): void =>
  ledgerLine('call', { session: 'bench', grant: `g${i % 100}`, method: 'next', count: i });

/** Writes lines `from` to `to`, a thousand in each turn. */
async function write(vat: Vat, from: number, to: number): Promise<void> {
  for (let done = from; done < to; done += 1000)
    await vat.turn(() => {
      for (let i = done; i < Math.min(to, done + 1000); i += 1) line(i);
    });
}

async function withStore(folder: string, body: (store: Store, vat: Vat) => Promise<void>): Promise<void> {
  const store = await openStore({ path: folder });
  const vats = await openVats({ store });
  await body(store, vats.vat('lines'));
  await vats.close();
  await store.close();
}

/** The number of the last line, which is at least `from`. */
async function lastOf(store: Store, from: number): Promise<number> {
  let last = 0;
  for await (const text of exportLedger(store, { from })) last = (JSON.parse(text) as { seq: number }).seq;
  return last;
}

async function read(store: Store, from: number): Promise<void> {
  let seen = 0;
  for await (const _ of exportLedger(store, { from })) seen += 1;
  if (seen !== 100) throw new Error(`${seen} lines were read`);
}

async function verify(store: Store): Promise<void> {
  const verdict = await verifyLedger(store);
  if (!verdict.ok) throw new Error(`line ${verdict.badLine}: ${verdict.why}`);
}

/** Opens the store in a new process, five times. Returns the median in ms by the clock. */
async function openedAnew(folder: string): Promise<number> {
  const program = new URL('ledger-open.ts', import.meta.url).pathname;
  const took: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    const { stdout } = await run(process.execPath, [...process.execArgv, program, folder]);
    took.push(Number(stdout));
  }
  return median(took);
}
