/**
 * The definitions that each part of the library needs in a durable vat, in bundles: what `openVats` takes. Goblins'
 * `cell-env`, `queue-env` and the others.
 */
import type { AnyDefinition } from '../core/types.ts';
import { Cell, ReadOnlyCell, WriteOnlyCell } from './cell.ts';
import { GHash, Seteq } from './collections.ts';
import { Facet } from './facet.ts';
import { InboxReader, InboxStopper, InboxWriter } from './inbox.ts';
import { Mint, Purse, Taker } from './mint.ts';
import { NonceLocator, NonceRegistry } from './nonce-registry.ts';
import { PubSub } from './pubsub.ts';
import { PdForwarder, PdStack } from './pushdown.ts';
import { Queue } from './queue.ts';
import { BrandCheck, SealedBox, Sealer, Unsealer } from './sealers.ts';
import { SwappableProxy, Swapper } from './swappable.ts';
import { Ticker } from './ticker.ts';
import { Enchanted, Incanter, Warden } from './ward.ts';

type Bundle = readonly AnyDefinition[];

/** The definitions behind `makeCell` and its views. */
export const cellDefinitions: Bundle = [Cell, ReadOnlyCell, WriteOnlyCell];
/** The definitions behind `makeSeteq` and `makeGHash`. */
export const collectionDefinitions: Bundle = [Seteq, GHash];
/** The definitions behind `facet`. */
export const facetDefinitions: Bundle = [Facet];
/** The definitions behind `makeQueue`. */
export const queueDefinitions: Bundle = [Queue];
/** The definitions behind `makeInbox`. */
export const inboxDefinitions: Bundle = [InboxReader, InboxWriter, InboxStopper, Queue, Cell];
/** The definitions behind `makeSealers`, and the boxes. */
export const sealersDefinitions: Bundle = [Sealer, Unsealer, BrandCheck, SealedBox, Cell];
/** The definitions behind `makeMint`, its purses and their sealers. */
export const mintDefinitions: Bundle = [Mint, Purse, Taker, ...sealersDefinitions];
/** The definitions behind `makeNonceRegistry`. */
export const nonceRegistryDefinitions: Bundle = [NonceRegistry, NonceLocator];
/** The definitions behind `makePubSub`. */
export const pubSubDefinitions: Bundle = [PubSub];
/** The definitions behind `makePushdown`. */
export const pushdownDefinitions: Bundle = [PdStack, PdForwarder, Cell];
/** The definitions behind `makeSwappable`. */
export const swappableDefinitions: Bundle = [SwappableProxy, Swapper, Cell];
/** The definitions behind `makeTicker`. */
export const tickerDefinitions: Bundle = [Ticker];
/** The definitions behind `makeWardingPair` and `enchant`. */
export const wardDefinitions: Bundle = [Warden, Incanter, Enchanted, ...sealersDefinitions];

/** Those of the whole library, each once. */
export const actorDefinitions: Bundle = [
  ...new Set([
    ...[...cellDefinitions, ...collectionDefinitions, ...facetDefinitions, ...queueDefinitions, ...inboxDefinitions],
    ...[...mintDefinitions, ...nonceRegistryDefinitions, ...pubSubDefinitions, ...pushdownDefinitions],
    ...[...swappableDefinitions, ...tickerDefinitions, ...wardDefinitions],
  ]),
];
