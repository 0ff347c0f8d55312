/** What a store needs to know to keep forwarders of this package: among the `definitions` that are given to `openVats`. */
import type { AnyDefinition } from '@hob/vat';
import { auditedDefinition } from './aliases/audited.ts';
import { boundDefinition } from './aliases/bound.ts';
import { countedDefinition } from './aliases/counted.ts';
import { facetDefinition } from './aliases/facet.ts';
import { gatedDefinition } from './aliases/gated.ts';
import { timedDefinition } from './aliases/timed.ts';
import { Forwarder } from './forwarder/forwarder.ts';
import { Gate } from './grant.ts';
import { RevokerActor } from './revocable.ts';

export const definitions: readonly AnyDefinition[] = Object.freeze([
  Forwarder,
  Gate,
  RevokerActor,
  auditedDefinition,
  boundDefinition,
  countedDefinition,
  facetDefinition,
  gatedDefinition,
  timedDefinition,
]);
