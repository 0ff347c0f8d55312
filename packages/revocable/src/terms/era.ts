/**
 * A store that was put back to an earlier state.
 *
 * A grant that was made before admits nothing until a person has confirmed it: its uses may have been spent
 * since, or it may have been revoked. It can still be revoked, and its time still ends.
 */
import { CapError } from '@hob/vat';
import { suspended } from '@hob/vat/forwarder';

// One error for all: making an error writes a stack, which costs more than revoking a grant.
const unconfirmed: CapError = Object.freeze(
  new CapError(
    'unavailable',
    'the store was restored to an earlier state, or may have been, so this grant may be spent or revoked: its granter has to confirm it (npm run -s hob -- trust)',
  ),
);

/** Whether a grant that was made in `era` waits for a person. */
export const needsConfirmation = (era: number): boolean => suspended(era);

export function checkEra(era: number): void {
  if (needsConfirmation(era)) throw unconfirmed;
}
