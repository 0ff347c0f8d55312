/**
 * A border around all that can be reached from an object: what comes out is wrapped, what goes in inversely.
 *
 * Promise: nothing passes from one side to the other bare. An object has one face on the other side, however often and by whichever way it
 * comes there; a face that comes home is what it stood for. When the border is closed, all faces are, both ways: also those of callbacks
 * that what is behind was given. Calls on answers that are not there yet go on at once.
 *
 * After Miller, Robust Composition, §9; and Van Cutsem and Miller, Trustworthy Proxies (2013).
 */
import { type Far, table } from '@hob/vat';
import { type Forwarded, forwarded, grantOf } from './revocable.ts';
import type { Terms } from './terms/terms.ts';

/** As `revocable`, and two-way. */
export const membrane = <T extends object>(inner: T | Far<T>, terms: Terms): Forwarded<T> =>
  forwarded(inner, terms, (read) => grantOf(inner, read, undefined, { members: table<object>() }));
