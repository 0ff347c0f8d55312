/**
 * The free space of the disk.
 *
 * Promise: no holder of a directory can fill the disk, on which the host may also store its revocations. When
 * the free space would fall below a floor, the write is refused. On a small disk the floor is a twentieth of
 * the disk.
 */
import { refusal } from '../base/errors.ts';
import type { HeldDirectory } from './held-directory.ts';

export function refuseIfFull({ root }: HeldDirectory, fd: number, bytes: number): void {
  const space = root.kernel.freeSpaceOf(fd);
  // Some file systems do not report it.
  if (space.total === 0) return;
  if (space.free - bytes < Math.min(root.limits.minFreeBytes, space.total / 20)) {
    throw refusal('NO_SPACE', 'the rest of the disk is kept free');
  }
}
