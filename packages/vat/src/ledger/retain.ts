/**
 * Drops old lines of the ledger, with their arguments, up to a checkpoint.
 *
 * Promise: the rest verifies as before. A signed line records what was dropped and by whom (`dropped.ts`).
 * Each line is checked against the signed checkpoint after it before it is dropped, so a line that was
 * changed stays and can be found. Each slice is one commit, so after a kill the ledger is whole, with fewer
 * lines dropped. Other work runs between slices.
 */
import { CapError } from '../core/errors.ts';
import { takeOptions } from '../core/options.ts';
import { sha256 } from '../drivers/hash.ts';
import type { StoreEngine } from '../store/engine.ts';
import { engineOf, type Store } from '../store/store.ts';
import { type Ledger, ledgerOf } from './chain.ts';
import { type Cut, cutIn } from './dropped.ts';
import { noteReader, parseKey, rootText } from './note.ts';
import { breathe, PAGE } from './pages.ts';
import { fieldsOf } from './position.ts';
import { Tree } from './tree.ts';

/** The result of `retainLedger`. Lines are counted from 1. */
export interface Retained {
  /** How many lines were dropped. */
  readonly dropped: number;
  /** The number of the first line that is left after line 1. */
  readonly from: number;
}

/**
 * Lines dropped in one commit, and up to the next checkpoint after them. SQLite overwrites all of them with
 * zeros.
 */
const SLICE = 2000;

const under = new WeakSet<StoreEngine>();

/**
 * Drops lines that were written before `before` (ms since 1970), up to the last checkpoint before that. Line
 * 1 stays, and so do all lines from that checkpoint on. It stops at the first younger line, also if a clock
 * was put back after it. `by` names who asked for it, in at most 100 characters. Errors: `unavailable` if no
 * vats are open on the store or a drop is under way, `invalid` if the ledger is not whole.
 */
export async function retainLedger(
  store: Store,
  options: { readonly before: number; readonly by: string },
): Promise<Retained> {
  const { before, by } = takeOptions(options, 'retainLedger', { before: true, by: true });
  const engine = engineOf(store);
  if (typeof by !== 'string' || by === '' || by.length > 100)
    throw new CapError('invalid', 'say who drops the lines: a name of at most 100 characters');
  if (!Number.isFinite(before))
    throw new CapError('invalid', 'say until when lines are dropped: a time in ms since 1970');
  const ledger = ledgerOf(engine);
  if (ledger === undefined)
    throw new CapError('unavailable', 'the ledger of this store is not open for writing: open vats on it first');
  if (under.has(engine))
    throw new CapError('unavailable', 'lines of this ledger are being dropped already: wait for that');
  under.add(engine);
  try {
    return await retain(engine, ledger, before, by);
  } finally {
    under.delete(engine);
  }
}

async function retain(engine: StoreEngine, ledger: Ledger, before: number, by: string): Promise<Retained> {
  const [first, second] = engine.lines(1, 2);
  const genesis = first?.seq === 1 ? fieldsOf(first.bytes) : {};
  const key = parseKey(genesis['key']);
  if (first === undefined || key === undefined) throw notWhole(0);
  const readNote = noteReader(key);
  const firstHash = sha256(first.bytes);
  const gap = second === undefined || second.seq === 2 ? undefined : await earlierCut(engine, second.seq);
  // The tree over all lines read so far.
  const tree = gap?.tree.copy() ?? Tree.empty();
  let done = gap?.to ?? 1;
  const begun = done;
  let cut: Cut | undefined;

  const drop = async (): Promise<void> => {
    if (cut === undefined) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    ledger.drop(cut, by, (error) => (error === undefined ? resolve() : reject(error)));
    await promise;
    done = cut.to;
    cut = undefined;
  };

  let young = false;
  while (!young) {
    const page = engine.lines(tree.size + 1, PAGE);
    if (page.length === 0) break;
    for (const { seq, bytes } of page) {
      const line = fieldsOf(bytes);
      if (seq !== tree.size + 1) throw notWhole(done);
      young = !(Number(line['t']) < before);
      if (young) break;
      if (line['k'] === 'checkpoint') {
        const note = readNote(line['note']);
        if (note?.size !== seq - 1 || note.root !== rootText(tree)) throw notWhole(done);
        if (seq - 1 > done) cut = { to: seq - 1, first: firstHash, tree: tree.copy() };
      }
      tree.add(bytes);
      if (cut !== undefined && cut.to - done >= SLICE) await drop();
    }
    await breathe();
  }
  await drop();
  // Deleted lines stay in the log until it is emptied. An earlier drop may have been interrupted before this
  // step.
  engine.scrub();
  return { dropped: done - begun, from: done + 1 };
}

/** Finds the last cut, whose tree this one continues. The next checkpoint checks it. */
async function earlierCut(engine: StoreEngine, seq: number): Promise<Cut> {
  for (let from = seq; ; await breathe()) {
    const page = engine.lines(from, PAGE);
    for (const line of page) {
      const cut = cutIn(line.bytes, seq - 1);
      if (cut !== undefined) return cut;
      from = line.seq + 1;
    }
    if (page.length < PAGE) throw notWhole(seq - 1);
  }
}

const notWhole = (done: number): CapError =>
  new CapError('invalid', `no line after line ${done} was dropped, because the ledger was changed: run ledger verify`);
