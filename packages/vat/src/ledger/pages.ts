/** A long ledger is read in pages, and others get their turn in between: a host verifies and exports while it serves. */
import { afterOthers } from '../drivers/loop.ts';

/** Lines; about 1 ms of checking. */
export const PAGE = 256;

export function breathe(): Promise<void> {
  return new Promise((resolve) => afterOthers(resolve));
}
