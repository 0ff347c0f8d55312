/** The actor library: small actors to build programs from, named as in Goblins. */
export { Cell, makeCell, ReadOnlyCell, readOnly, WriteOnlyCell, writeOnly } from './cell.ts';
export { GHash, makeGHash, makeSeteq, Seteq } from './collections.ts';
export {
  actorDefinitions,
  cellDefinitions,
  collectionDefinitions,
  facetDefinitions,
  inboxDefinitions,
  mintDefinitions,
  nonceRegistryDefinitions,
  pubSubDefinitions,
  pushdownDefinitions,
  queueDefinitions,
  sealersDefinitions,
  swappableDefinitions,
  tickerDefinitions,
  wardDefinitions,
} from './definitions.ts';
export { Facet, facet } from './facet.ts';
export { type Inbox, InboxReader, InboxStopper, InboxWriter, makeInbox } from './inbox.ts';
export { allOf, race } from './joiners.ts';
export { Mint, makeMint, Purse, Taker } from './mint.ts';
export {
  makeNonceRegistry,
  makeRandomSource,
  NonceLocator,
  NonceRegistry,
  type RandomSource,
} from './nonce-registry.ts';
export { callOrSend, isNear } from './opportunistic.ts';
export { makePubSub, PubSub, type Subscriber } from './pubsub.ts';
export { makePushdown, PdForwarder, PdStack } from './pushdown.ts';
export { makeQueue, Queue } from './queue.ts';
export {
  BrandCheck,
  type IsSealed,
  makeSealers,
  type Seal,
  type Sealed,
  SealedBox,
  Sealer,
  type SealerTriplet,
  type Unseal,
  Unsealer,
} from './sealers.ts';
export { makeSwappable, SwappableProxy, Swapper } from './swappable.ts';
export { makeTicker, type Tickable, Ticker } from './ticker.ts';
export { makeTimer, type Timer } from './timer.ts';
export { Enchanted, enchant, Incanter, makeWardingPair, Warden, ward } from './ward.ts';
