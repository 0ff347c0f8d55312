/**
 * A time.
 *
 * Promise: at the deadline it is over, by the clock since boot or by the wall clock, whichever comes first; what is over stays over,
 * whoever sets a clock back. A time that was given in ms dies with its boot; one that was given as a date does not.
 */
import { type AnyDefinition, bootId, CapError, type Far, vatTime, wallTime } from '@hob/vat';
import { type Forward, type FullPolicy, forwardFully, inItsVat } from '../forwarder/forward.ts';
import { checkEra } from '../terms/era.ts';
import { clocks, type Limits, limitsOf, readTerms, type Terms } from '../terms/terms.ts';

/** Only what of the limits is time. */
export type Times = Pick<Limits, 'deadline' | 'wallDeadline' | 'boot' | 'era' | 'grace'>;

/** Whether so many ms after its deadline it is over now. */
export function isOver({ deadline, wallDeadline, boot }: Times, grace: number): boolean {
  if (boot !== undefined && boot !== bootId()) return true;
  // Asked this way round, a number that is none counts as over.
  const left = vatTime() < deadline + grace && wallTime() < wallDeadline + grace;
  return !left;
}

// One for all: to make an error is to write down a stack, which costs more than revoking a grant.
export const expired: CapError = Object.freeze(
  new CapError('expired', 'this grant has run out of time: ask for a new one'),
);

const policy: FullPolicy<readonly [times: Times, over: boolean]> = {
  near: true,
  timeless: true,
  note: ([times, over]) => (!over && isOver(times, 0) ? [times, true] : undefined),
  before: ([times, over]) => {
    if (over) throw expired;
    checkEra(times.era);
  },
  live: ([times, over]) => {
    if (over) throw expired;
    checkEra(times.era);
  },
  pass: ([times]) => {
    if (isOver(times, times.grace)) throw expired;
  },
  reveal: ([times, over]) => {
    if (over || isOver(times, 0)) throw expired;
    checkEra(times.era);
    return undefined;
  },
};

const made: Forward<readonly [times: Times, over: boolean]> = forwardFully('revocable.timed', policy);

/** `inner` until then. Without a revoker: for one that can be ended earlier, and that says its end to the ledger, see `revocable`. */
export function timed<T extends object>(inner: T | Far<T>, terms: Pick<Terms, 'for' | 'until'>): Far<T> {
  const { for: ms, until } = readTerms(terms);
  if (ms === undefined && until === undefined)
    throw new CapError('invalid', 'give for, in ms, or until, in ms since 1970');
  return inItsVat(inner, () => {
    const { deadline, wallDeadline, boot, era, grace } = limitsOf(ms === undefined ? { until: until as number } : { for: ms }, clocks()); // biome-ignore format: one line
    return made(inner, { deadline, wallDeadline, boot, era, grace }, false);
  });
}
export const timedDefinition: AnyDefinition = made.definition;
