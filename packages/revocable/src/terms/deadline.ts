/**
 * Whether the time of a grant is over.
 *
 * It is over at the deadline of the clock since boot or of the wall clock, whichever comes first. A grant for
 * so many ms also ends with its boot.
 */
import { bootId, hasPassed } from '@hob/vat/forwarder';
import type { GrantLimits } from './terms.ts';

type Deadlines = Pick<GrantLimits, 'deadline' | 'wallDeadline' | 'boot'>;

/** Whether `grace` ms after its deadline have passed. */
export function isOver({ deadline, wallDeadline, boot }: Deadlines, grace: number): boolean {
  if (boot !== undefined && boot !== bootId()) return true;
  return hasPassed({ vat: deadline + grace, wall: wallDeadline + grace });
}
