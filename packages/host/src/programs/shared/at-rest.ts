/**
 * Commands on the ledger of a state that no host serves. They ask for no secret: a person who may read the state needs
 * none.
 *
 * Promise: looking writes nothing, so a state on which no host starts can be checked, too. Lines are dropped only from
 * a ledger that is whole, in a state that was not put back.
 */
import { CapError, exportLedger, type LedgerVerdict, openStore, openVats, type Store, verifyLedger } from '@hob/vat';
import { checkpointsIn, lookAtStore, retainLedger } from '@hob/vat/store';
import { readText } from '../../drivers/export-file.ts';
import { holderOf } from '../../drivers/life.ts';
import { isElsewhere, isState } from '../../drivers/state-dir.ts';
import { sentinelHome } from '../../drivers/state-home.ts';
import type { Out } from '../commands.ts';
import { verdictLines } from '../listings.ts';

/** A state, and the folder of its sentinel if that is not the usual one. Both are whole paths. */
export interface AtRest {
  readonly state: string;
  readonly sentinel?: string | undefined;
  /** Opens the store if it lies in a database. */
  readonly open?:
    | ((how: { readonly look: boolean; readonly sentinel: string | undefined }) => Promise<Store>)
    | undefined;
}

/**
 * Opens the store of a state on which no host runs, and closes it after `act`. `openHere` opens a store in the folder.
 * It is an argument so that a bundle that only reads a store has no code that writes one.
 */
async function withStore<R>(
  { state, sentinel = sentinelHome(), open }: AtRest,
  look: boolean,
  openHere: (where: { readonly path: string; readonly sentinel?: string }) => Store | Promise<Store>,
  act: (store: Store) => Promise<R>,
): Promise<R> {
  if (open === undefined && !isState(state))
    throw new CapError('unavailable', 'that folder is not the state of a host: name another with --state');
  if (open === undefined && isElsewhere(state))
    throw new CapError('unavailable', 'the store of this state lies in a database: name its file with --store FILE');
  const store = await (open?.({ look, sentinel }) ??
    openHere({ path: state, ...(sentinel === undefined ? {} : { sentinel }) }));
  try {
    return await act(store);
  } finally {
    await store.close();
  }
}

/** Checks the whole ledger. `against` are checkpoints that were kept elsewhere. Errors: `unavailable`, `invalid`. */
export const verifyAtRest = (at: AtRest, against?: readonly string[]): Promise<LedgerVerdict> =>
  withStore(at, true, lookAtStore, (store) => verifyLedger(store, against === undefined ? {} : { against }));

/** Calls `write` with all lines, and returns its result. Errors: `unavailable`, `invalid`. */
export const exportAtRest = <R>(at: AtRest, write: (lines: AsyncIterable<string>) => Promise<R>): Promise<R> =>
  withStore(at, true, lookAtStore, (store) => write(exportLedger(store)));

/** The checkpoints in a file that the person named. Errors: `invalid`. */
export function checkpointsOf(file: string): readonly string[] {
  const found = checkpointsIn(readText(file));
  if (found.length === 0)
    throw new CapError('invalid', 'that file holds no checkpoint: name the one that npm start --checkpoints writes');
  return found;
}

/** The lines that are dropped, and the person who says so. */
export interface Retention {
  readonly days: number;
  readonly by: string;
  /** Now, in ms since 1970. */
  readonly wall: number;
}

/** Drops the lines that are older than `days`. Returns the exit code. Errors: `unavailable`, `invalid`. */
export async function retainAtRest(at: AtRest, { days, by, wall }: Retention, out: Out): Promise<number> {
  if (!Number.isInteger(days) || days < 1 || days > 100_000)
    throw new CapError('invalid', 'say how many days of the ledger stay: --days N, a whole number from 1 to 100,000');
  if (holderOf(at.state) !== 'nobody')
    throw new CapError('unavailable', 'a host is running on this state: end its process first (Ctrl-C, SIGTERM)');
  // Verified first, and without writing: opening for writing records a state whose sentinel is missing as
  // restored.
  const verdict = await verifyAtRest(at);
  if (!verdict.ok) {
    for (const line of verdictLines(verdict)) out(line);
    return 1;
  }
  if (verdict.putBack !== undefined)
    throw new CapError(
      'unavailable',
      'the sentinel of this state is not in its folder, or the state is from a backup: name the folder with --sentinel DIR, or start the host first',
    );
  const done = await withStore(at, false, openStore, async (store) => {
    const vats = await openVats({ store });
    try {
      return await retainLedger(store, { before: wall - days * 86_400_000, by });
    } finally {
      await vats.close();
    }
  });
  out(
    done.dropped === 0
      ? `nothing was dropped: no checkpoint is older than ${days} ${days === 1 ? 'day' : 'days'}`
      : `dropped ${done.dropped} lines: the ledger continues at line ${done.from}. The store uses their space again`,
  );
  return 0;
}
