/**
 * Checks a ledger, in a store or exported to a file, and names the first line that is not as it was written.
 *
 * Promise: a line that was changed, left out, put in or moved is found. So is an end that was cut off inside
 * a line. If lines were written anew with a valid chain, the next checkpoint shows it, at most 1,000 lines
 * later, because nobody can sign one without the host's key.
 *
 * - A *file* cannot show that whole lines are missing at its end. `signed` says how many lines the host has
 *   signed. A store can show it, because its head is kept beside the lines.
 * - Whoever has the store *and* its key can write another history from the first line on. Only a checkpoint
 *   that was kept elsewhere (`anchor`) shows that. The same holds for a store that was put back to an earlier
 *   state.
 *
 * Lines after the first may have been dropped (`retainLedger`). Then a signed line says up to where, and the
 * rest is checked in the same way.
 *
 * Reads in batches: neither the file nor the ledger is ever in memory as a whole, and other work runs in
 * between.
 */
import { CapError } from '../core/errors.ts';
import { takeOptions } from '../core/options.ts';
import { readLines } from '../drivers/lines.ts';
import type { StoreEngine } from '../store/engine.ts';
import { engineOf, type Store } from '../store/store.ts';
import { drops } from './chain.ts';
import { LedgerCheck } from './check.ts';
import { cutIn, type FoundCut } from './dropped.ts';
import { storedLine } from './escapes.ts';
import { MAX_LINE_BYTES } from './line.ts';
import { breathe, PAGE } from './pages.ts';
import { fieldsOf } from './position.ts';
import type { LedgerVerdict, VerifyOptions } from './verdict.ts';

export type { LedgerVerdict, VerifyOptions } from './verdict.ts';

/**
 * Checks the ledger of a store, or one that was exported to a file. Errors: `invalid` if an anchor or a
 * checkpoint is not in the form of one, `unavailable` if the file cannot be read.
 */
export async function verifyLedger(
  where: Store | { readonly file: string },
  given?: VerifyOptions,
): Promise<LedgerVerdict> {
  const options = takeOptions(given, 'verifyLedger', { anchor: true, against: true, key: true });
  const { anchor } = options;
  if (anchor !== undefined && !(typeof anchor === 'string' && LOOKS_LIKE_ONE.test(anchor)))
    throw new CapError('invalid', 'this is not a checkpoint: an anchor is the whole text of one, with its signature');
  if (options.against?.some((note) => !LOOKS_LIKE_ONE.test(note)) || options.against?.length === 0)
    throw new CapError(
      'invalid',
      'give at least one checkpoint to verify against, each as its whole text with its signature',
    );
  if (!('file' in where)) return await verifyStore(where, options);
  return await verifyFile(takeOptions(where, 'verifyLedger', { file: true }).file, options);
}

const LOOKS_LIKE_ONE = /^[^\n]+\n\d+\n[A-Za-z0-9+/=]+\n\n—/;

async function verifyFile(file: string, options: VerifyOptions): Promise<LedgerVerdict> {
  const check = new LedgerCheck(options, await cutOfFile(file));
  for await (const bytes of linesOf(file)) {
    const bad = check.take(bytes);
    if (bad !== undefined) return bad;
  }
  return check.end();
}

async function* linesOf(file: string): AsyncGenerator<Uint8Array> {
  // An escape has up to three times the bytes of its character.
  for await (const batch of readLines(file, 3 * MAX_LINE_BYTES)) for (const bytes of batch) yield storedLine(bytes);
}

/** Finds the line that records the cut, if lines after the first are missing. */
async function cutOfFile(file: string): Promise<FoundCut | undefined> {
  let count = 0;
  let to = 0;
  for await (const bytes of linesOf(file)) {
    count += 1;
    if (count === 2) to = numberOf(bytes) - 1;
    if (count === 2 && !(to > 1)) return undefined;
    const cut = count < 2 ? undefined : cutIn(bytes, to);
    if (cut !== undefined) return cut;
  }
  return undefined;
}

async function cutOfStore(engine: StoreEngine): Promise<FoundCut | undefined> {
  const [second] = engine.lines(2, 1);
  if (second === undefined || second.seq <= 2) return undefined;
  for (let from = second.seq; ; await breathe()) {
    const page = engine.lines(from, PAGE);
    for (const { seq, bytes } of page) {
      const cut = cutIn(bytes, second.seq - 1);
      if (cut !== undefined) return cut;
      from = seq + 1;
    }
    if (page.length < PAGE) return undefined;
  }
}

const numberOf = (bytes: Uint8Array): number => Number(fieldsOf(bytes)['seq'] ?? 0);

async function verifyStore(store: Store, options: VerifyOptions): Promise<LedgerVerdict> {
  const engine = engineOf(store);
  await engine.settled();
  for (;;) {
    const before = drops(engine);
    const verdict = await verifyOnce(engine, options);
    // Lines that were dropped while this read them are not missing.
    const { why } = engine.era;
    if (verdict.ok || drops(engine) === before) return why === undefined ? verdict : { ...verdict, putBack: why };
  }
}

async function verifyOnce(engine: StoreEngine, options: VerifyOptions): Promise<LedgerVerdict> {
  const check = new LedgerCheck(options, await cutOfStore(engine), engine.signer.publicKey);
  // From below 1, to find a row that was put in before the first.
  for (let from = Number.MIN_SAFE_INTEGER; ; await breathe()) {
    const page = engine.lines(from, PAGE);
    const last = page.at(-1)?.seq ?? from;
    const side = page.length === 0 ? [] : engine.args(from, last);
    const args = side.length === 0 ? undefined : new Map(side.map((row) => [row.seq, row]));
    for (const { seq, bytes } of page) {
      const bad = check.take(bytes, args?.get(seq));
      if (bad !== undefined) return bad;
      from = seq + 1;
    }
    // Both are read at the same moment, so no commit comes between the last page and the head.
    if (page.length < PAGE) return check.end(engine.head(), engine.doubt);
  }
}
