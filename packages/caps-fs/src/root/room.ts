/**
 * The free space of the disk.
 *
 * Promise: no holder of a directory can fill the disk, on which the host may also store its revocations. When
 * the free space would fall below a floor, the write is refused. On a small disk the floor is a twentieth of
 * the disk.
 */
import { refusal } from '../base/errors.ts';
import type { Place } from './place.ts';

export function refuseIfFull({ root }: Place, fd: number, bytes: number): void {
  const room = root.kernel.roomOf(fd);
  // Some file systems do not report it.
  if (room.total === 0) return;
  if (room.free - bytes < Math.min(root.limits.minFreeBytes, room.total / 20)) {
    throw refusal('NO_SPACE', 'what is left of the disk is kept free');
  }
}
