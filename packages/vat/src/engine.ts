/**
 * `@hob/vat/engine`: what a package needs that brings a store of another kind, such as `@hob/store-postgres`.
 *
 * Such a package gives a `Disk`: commits in order, each complete or not done, and reads of the last committed state. The
 * rules of a store (epochs, one unbroken ledger, refusal after a failed write) are in `@hob/vat` for every kind.
 */
export { bootClock } from './drivers/clock.ts';
export { newKey, type Signer, signerFrom } from './drivers/keys.ts';
export { lineHash } from './store/bound.ts';
export type { CommitOutcome, Disk, OpenedStore, Query, Write } from './store/disk.ts';
export { type Reached, type Sentinel, type StorePlace, sentinelOf } from './store/drivers/sentinel.ts';
export { serveThread, startThread, type Thread } from './store/drivers/thread.ts';
export { History, type Marks, type OpeningMarks, seenOf } from './store/history.ts';
export { packed, unpacked } from './store/parcel.ts';
export type { Args, Head, LedgerLine, StoredArgs, StoredLine } from './store/records.ts';
export type { Doubt, Era, StoreFacts } from './store/rows.ts';
export { storeOn } from './store/store.ts';
export { diskIn } from './store/threaded.ts';
