/** The definitions that a store needs to keep forwarders of this package. Give them to `openVats`. */
import type { AnyDefinition } from '@hob/vat';
import { bounds, facets } from './aliases.ts';
import { Forwarder } from './forwarder/forwarder.ts';
import { gates } from './gated.ts';
import { GrantActor } from './grant.ts';
import { RevokerActor } from './revocable.ts';

/** Every definition of this package. Pass them to `openVats`, so that a store can hold grants. */
export const definitions: readonly AnyDefinition[] = Object.freeze([
  Forwarder,
  GrantActor,
  RevokerActor,
  bounds.definition,
  facets.definition,
  gates.definition,
]);
