/**
 * A store that was put back to an earlier state.
 *
 * Promise: what was granted with a limit before that admits nothing until a person has looked: its uses may have been spent since, and it
 * may have been revoked. It can still be revoked, and still runs out.
 */
import { CapError, suspended } from '@hob/vat';

// One for all: to make an error is to write down a stack, which costs more than revoking a grant.
export const waits: CapError = Object.freeze(
  new CapError(
    'unavailable',
    'the store was put back to an earlier state, or nobody can tell, so this grant may be spent or revoked: its granter has to confirm it (npm run -s hob -- trust)',
  ),
);

/** Whether what was granted in `era` waits for a person. */
export const waitsIn = (era: number): boolean => suspended(era);

export function checkEra(era: number): void {
  if (waitsIn(era)) throw waits;
}
