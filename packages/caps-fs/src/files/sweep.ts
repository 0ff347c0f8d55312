/**
 * What a killed process left: temporaries of writes, and directories on their way out.
 *
 * Promise: they go when their directory is next listed by a cap that may remove, an hour after they were last touched; never
 * one that is in use, since a draft that nobody writes to ends before.
 */
import { isTemporary } from '../base/names.ts';
import type { Place } from '../root/place.ts';
import { permits } from '../root/terms.ts';
import { Removal } from './tree.ts';

const hour = 3_600_000;
// So that a listing stays a listing.
const atOnce = 64;

export async function sweep(place: Place, dir: number, names: readonly string[]): Promise<void> {
  const { kernel, limits } = place.root;
  if (!permits(place.terms, 'remove')) return;
  for (const name of names.filter(isTemporary).slice(0, atOnce)) {
    try {
      const status = kernel.lstat(dir, name);
      // Of the change of its name or content: the time of a file's content can be set by anybody.
      if (!status || kernel.now() - status.ctime < hour + limits.maxIdleMs) continue;
      if (status.kind === 'dir') await new Removal(place).removeDirectory(dir, name, 1);
      else kernel.unlink(dir, name);
    } catch {
      // Another one was quicker, or it is not ours to remove: it is nobody's concern here.
    }
  }
}
