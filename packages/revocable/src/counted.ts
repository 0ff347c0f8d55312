/**
 * A number of uses.
 *
 * Promise: of any number of callers exactly so many pass, whatever the calls answer; a use is charged in the turn that sends the call
 * and never given back.
 */
import { CapError, mutant } from '@hob/vat';
import { type Forward, type FullPolicy, forwardFully } from './forward.ts';

const withoutLimit = mutant('limit');

// One for all: to make an error is to write down a stack, which costs more than revoking a grant.
export const exhausted: CapError = Object.freeze(
  new CapError('exhausted', 'this grant has been used up: ask for a new one'),
);

export const spend = (left: number): number => {
  if (left <= 0 && !withoutLimit) throw exhausted;
  return left - 1;
};

const policy: FullPolicy<readonly [left: number]> = { before: ([left]) => [spend(left)] };

/** `counted(inner, 3)`: what comes out spends of the same. Reached by `E` only. */
export const counted: Forward<readonly [uses: number]> = forwardFully('revocable.counted', policy);
