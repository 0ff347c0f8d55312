/**
 * The last line of the ledger, recorded a second time in a cell of the state and sealed with the store's key.
 *
 * Promise: somebody who writes the file without the key cannot cut the end of the ledger, put its tables back
 * to an earlier state, or put in the ledger of another store, also if they correct the head. They could put
 * back this cell too, but only together with the count of commits. Then the store is behind its sentinel.
 */
import { sha256 } from '../drivers/hash.ts';
import type { Signer } from '../drivers/keys.ts';
import type { Doubt, StoreFacts } from './rows.ts';

/** The hash of a line as stored; '' for none. */
export const lineHash = (bytes: Uint8Array | undefined): string => (bytes === undefined ? '' : sha256(bytes));

/** No other cell has this key: theirs contain a slash. */
export const BOUND_KEY = 'bound';

interface Bound {
  /** The hash of the first line, which holds the stream and the key. */
  readonly stream: string;
  readonly commits: number;
  readonly seq: number;
  readonly hash: string;
  /** Lines 2 to this one were dropped. Absent if none were, so that the seals of older cells still hold. */
  readonly cut?: number | undefined;
}

const textOf = ({ stream, commits, seq, hash, cut }: Bound): string =>
  `${stream} ${commits} ${seq} ${hash}${cut === undefined ? '' : ` ${cut}`}`;

/** The text of the cell, which a commit writes. */
export const boundCell = (signer: Signer, bound: Bound): string =>
  JSON.stringify({ ...bound, seal: signer.seal(textOf(bound)) });

/** Returns the last dropped line according to the cell; 0 if none were dropped. */
export const cutOf = ({ bound }: StoreFacts): number => Number(boundFrom(bound)?.cut ?? 0);

/** Compares the ledger of a store to the cell. Returns the fault, if there is one. */
export function doubtOf({ head, commits, bound, ledger }: StoreFacts, signer: Signer): Doubt | undefined {
  const { last } = ledger;
  const doubt = (line: number, why: string): Doubt => ({ line, why, refused: true });
  const said = boundFrom(bound);
  if (said === undefined) return doubt(last + 1, 'the state does not say any more which line is the last');
  if (said.seal !== signer.seal(textOf(said)))
    return doubt(last + 1, "what the state says of the last line is not sealed with this store's key");
  if (said.seq > 0 && last > 0 && said.stream !== ledger.firstHash)
    return doubt(1, 'it is not the first line of this store: another ledger was put here');
  if (said.seq > Math.min(last, head.seq))
    return doubt(
      Math.min(last, head.seq) + 1,
      `it is missing: the state was written with ${said.seq} lines. The end was cut off, or the ledger was put back to an earlier state`,
    );
  if (said.seq !== last || said.seq !== head.seq)
    return doubt(said.seq + 1, 'it was put in after the last line that the state was written with');
  if (said.hash !== head.hash || (last > 0 && said.hash !== ledger.lastHash))
    return doubt(last, 'it is not the line that the state was written with: it was changed');
  if (last > 1 && ledger.second !== Math.max(1, said.cut ?? 0) + 1)
    return doubt(2, 'the lines after it are not those that the state was written with: some were dropped or put in');
  if (said.commits !== commits) return doubt(last + 1, 'state and ledger are of different commits: one was put back');
  return undefined;
}

function boundFrom(text: unknown): (Bound & { readonly seal: unknown }) | undefined {
  try {
    return Object(JSON.parse(text as string)) as Bound & { readonly seal: unknown };
  } catch {
    return undefined;
  }
}
