/**
 * Removes what a killed process left: temporaries of writes, and directories that were being removed.
 *
 * Promise: such a leftover is removed when a cap that may remove lists its directory, at least an hour after
 * its last change. A temporary in use is never removed, because an idle draft ends after `maxIdleMs`.
 */
import { isTemporary } from '../base/names.ts';
import type { HeldDirectory } from '../root/held-directory.ts';
import { permits } from '../root/terms.ts';
import { Removal } from './removal.ts';

const hour = 3_600_000;
// Limits the extra work of one listing.
const atOnce = 64;

export async function sweep(held: HeldDirectory, dir: number, names: readonly string[]): Promise<void> {
  const { kernel, limits } = held.root;
  if (!permits(held.terms, 'remove')) return;
  for (const name of names.filter(isTemporary).slice(0, atOnce)) {
    try {
      const status = kernel.lstat(dir, name);
      // ctime, because anybody can set the mtime of a file.
      if (!status || kernel.now() - status.ctime < hour + limits.maxIdleMs) continue;
      if (status.kind === 'dir') await new Removal(held).removeDirectory(dir, name, 1);
      else kernel.unlink(dir, name);
    } catch {
      // Somebody else removed it, or we may not remove it. Neither is an error of the listing.
    }
  }
}
