/**
 * Room that is left on the disk.
 *
 * Promise: no holder of a directory can fill the disk that the host itself and its revocations live on: below a floor of
 * free space every write is refused. On a small disk the floor is a twentieth of it.
 */
import { refusal } from '../base/errors.ts';
import type { Place } from './place.ts';

export function refuseIfFull({ root }: Place, fd: number, bytes: number): void {
  const room = root.kernel.roomOf(fd);
  // Some file systems do not say.
  if (room.total === 0) return;
  if (room.free - bytes < Math.min(root.limits.minFreeBytes, room.total / 20)) {
    throw refusal('NO_SPACE', 'what is left of the disk is kept free');
  }
}
