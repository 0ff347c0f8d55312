/** What a store needs to know to keep forwarders of this package: among the `definitions` that are given to `openVats`. */
import type { AnyDefinition } from '@hob/vat';
import { auditedDefinition } from './audited.ts';
import { boundDefinition } from './bound.ts';
import { countedDefinition } from './counted.ts';
import { Face } from './face.ts';
import { facetDefinition } from './facet.ts';
import { gatedDefinition } from './gated.ts';
import { Gate } from './grant.ts';
import { RevokerActor } from './revocable.ts';
import { timedDefinition } from './timed.ts';

export const definitions: readonly AnyDefinition[] = Object.freeze([
  Face,
  Gate,
  RevokerActor,
  auditedDefinition,
  boundDefinition,
  countedDefinition,
  facetDefinition,
  gatedDefinition,
  timedDefinition,
]);
