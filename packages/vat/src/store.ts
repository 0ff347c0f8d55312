/** `@hob/vat/store`: the store on the disk, its backups, and its ledger. */
export { CallEnds } from './ledger/ends.ts';
export { exportLedger } from './ledger/export.ts';
export { checkpointsIn } from './ledger/note.ts';
export { ledgerArguments, redactLedger } from './ledger/redact.ts';
export { type Retained, retainLedger } from './ledger/retain.ts';
export { type LedgerVerdict, type VerifyOptions, verifyLedger } from './ledger/verify.ts';
export { restoreStore } from './store/drivers/backup.ts';
export { draftOf, processMark, removeDrafts, removeLeft } from './store/drivers/drafts.ts';
export { heldFile, holdElsewhere, isStoreHeld } from './store/drivers/sqlite.ts';
export { backup, lookAtStore, openStore, type Store } from './store/store.ts';
