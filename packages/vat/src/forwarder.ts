/**
 * `@hob/vat/forwarder`: what forwarders, hosts and drivers with a lifetime are built on.
 *
 * These names reveal or decide more than an actor may: whose call it is, which object is behind a reference,
 * when a cause ends. A writer of ordinary actors needs none of them.
 */

// To pass a call on, or to refuse it.
export { ephemeral } from './actor/ephemeral.ts';
export { breakAnswer, foresee, frozenCopy, frozenData, tellAnyway } from './actor/forwarding.ts';
// The object behind a reference.
export { actorBehind, argumentsOf, became, becomes, endOf, lastingName, refusalOf } from './actor/identity.ts';
// Causes: the grants that work runs under, and how it ends with them.
export type { Group } from './core/causes.ts';
export { type OptionNames, takeOptions, takeRecord } from './core/options.ts';
export { forwardsTo, hasMethods } from './core/outside.ts';
export { symbolKey } from './core/symbols.ts';
export { sha256 } from './drivers/hash.ts';
export { type Passing, passOn } from './eventual/passing.ts';
export { farOf } from './eventual/resolver.ts';
export { cut } from './turn/cut.ts';
export { shownMethods } from './turn/driver.ts';
export { drivenBy, lastsUnder, objectOf } from './turn/driver-of.ts';
export { type Effect, type Effects, effectsOf, withEffects } from './turn/effects.ts';
export { named } from './turn/named-driver.ts';
export { type Place, placeOf, withPlace } from './turn/place.ts';
export {
  bootId,
  byMessage,
  currentCauses,
  freshName,
  hasPassed,
  inTurn,
  storeEra,
  suspended,
  under,
} from './turn/turn.ts';
export { type Watch, watch } from './turn/watch.ts';
// Text of data, for digests.
export { canonicalText } from './vats/canonical-text.ts';
// Secrets, and the vats that a reference belongs to.
export { base32, hashSecret, newSecret } from './vats/sturdyrefs.ts';
export { onlyVats, vatOf, vatsOf } from './vats/which-vats.ts';
