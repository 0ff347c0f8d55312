/**
 * Drops old lines of the ledger, with their arguments, up to a checkpoint.
 *
 * Promise: what is left verifies as before, and says itself what was dropped and by whom, signed (`dropped.ts`). Each line is checked against the
 * signed checkpoint after it before it goes: what was changed stays, to be found. A slice is one commit, so a kill leaves a ledger that is
 * whole with fewer lines dropped. Others get their turn in between.
 */
import { CapError } from '../core/errors.ts';
import { sha256 } from '../drivers/hash.ts';
import type { StoreEngine } from '../store/engine.ts';
import { engineOf, type Store } from '../store/store.ts';
import { type Ledger, ledgerOf } from './chain.ts';
import { type Cut, cutIn } from './dropped.ts';
import { noteReader, parseKey, rootText } from './note.ts';
import { breathe, PAGE } from './pages.ts';
import { Tree } from './tree.ts';

export interface Retained {
  /** How many lines were dropped. */
  readonly dropped: number;
  /** The first that is left after line 1. */
  readonly from: number;
}

/** Lines in one commit, or as few more as there are up to the next checkpoint: SQLite writes zeros over all of them. */
const SLICE = 2000;

const under = new WeakSet<StoreEngine>();

/**
 * Drops lines that were written before `before` (ms since 1970), up to the last checkpoint of before: line 1 stays, and all from that
 * checkpoint on. The first line that is younger ends it, also where a clock was put back after it. `by` is who wants it, at most 100
 * characters. Errors: `unavailable` while no vats are open on the store, or while it is under way; `invalid` where the ledger is not whole.
 */
export async function retainLedger(
  store: Store,
  { before, by }: { readonly before: number; readonly by: string },
): Promise<Retained> {
  const engine = engineOf(store);
  if (typeof by !== 'string' || by === '' || by.length > 100)
    throw new CapError('invalid', 'say who drops the lines: a name of at most 100 characters');
  if (!Number.isFinite(before))
    throw new CapError('invalid', 'say before when the lines to drop were written, in ms since 1970');
  const ledger = ledgerOf(engine);
  if (ledger === undefined)
    throw new CapError('unavailable', 'nobody writes the ledger of this store now: open vats on it first');
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
  const genesis = first?.seq === 1 ? said(first.bytes) : {};
  const key = parseKey(genesis['key']);
  if (first === undefined || key === undefined) throw notWhole(0);
  const readNote = noteReader(key);
  const firstHash = sha256(first.bytes);
  const gap = second === undefined || second.seq === 2 ? undefined : await earlierCut(engine, second.seq);
  // The tree over all lines before `next`.
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
      const line = said(bytes);
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
  // What was deleted lies in the log until that is emptied; also of an earlier time that was cut off before this.
  engine.scrub();
  return { dropped: done - begun, from: done + 1 };
}

/** What the last one left to go on from. It is checked by the next checkpoint. */
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

function said(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(new TextDecoder().decode(bytes)));
  } catch {
    return {};
  }
}

const notWhole = (done: number): CapError =>
  new CapError(
    'invalid',
    `no line after line ${done} was dropped, since the ledger is not as it was written: see ledger verify`,
  );
