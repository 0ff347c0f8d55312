/**
 * A number of uses.
 *
 * Promise: of any number of callers exactly so many pass, whatever the calls answer; a use is charged in the turn that sends the call
 * and never given back.
 */
import { type AnyDefinition, CapError, type Far, storeEra } from '@hob/vat';
import { type Forward, type FullPolicy, forwardFully, inItsVat } from '../forwarder/forward.ts';
import { checkEra } from '../terms/era.ts';

// One for all: to make an error is to write down a stack, which costs more than revoking a grant.
export const exhausted: CapError = Object.freeze(
  new CapError('exhausted', 'this grant has been used up: ask for a new one'),
);

export const spend = (left: number): number => {
  if (left <= 0) throw exhausted;
  return left - 1;
};

type State = readonly [left: number, era: number];
const policy: FullPolicy<State> = {
  before([left, era]) {
    checkEra(era);
    return [spend(left), era];
  },
};
const made: Forward<State> = forwardFully('revocable.counted', policy);

/** `counted(inner, 3)`: what comes out spends of the same. Reached by `E` only. */
export const counted = <T extends object>(inner: T | Far<T>, uses: number): Far<T> =>
  inItsVat(inner, () => made(inner, uses, storeEra()));
export const countedDefinition: AnyDefinition = made.definition;
