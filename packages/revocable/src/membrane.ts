/**
 * A membrane around everything that can be reached from an object. It wraps references in both directions.
 *
 * No reference passes unwrapped. An object has one forwarder on the other side, by whichever way it gets
 * there, and a forwarder that comes home is unwrapped. The revoker closes all forwarders of both directions,
 * also those of callbacks. Calls on a pending promise pass at once.
 *
 * See Miller, Robust Composition (2006), section 9; Van Cutsem and Miller, Trustworthy Proxies (2013).
 */
import { type Far, table } from '@hob/vat';
import { type Forwarded, forwarded, grantOf } from './revocable.ts';
import type { Terms } from './terms/terms.ts';

/** Like `revocable`, in both directions. */
export const membrane = <T extends object>(inner: T | Far<T>, terms: Terms): Forwarded<T> =>
  forwarded(inner, terms, (read) => grantOf(inner, read, undefined, { wrapped: table<object>() }));
