/**
 * A long ledger is read in pages, and other work runs in between. So a host verifies and exports while it
 * serves.
 */
import { afterOthers } from '../drivers/loop.ts';

/** Lines in one page: about 1 ms of checking. */
export const PAGE = 256;

export function breathe(): Promise<void> {
  return new Promise((resolve) => afterOthers(resolve));
}
