/** `captp` for a small bundle: it speaks `hob.1`, and not the dialect of Endo. */
import { CapError } from '../core/errors.ts';
import { takeOptions } from '../core/options.ts';
import { hob1 } from './dialects/hob.ts';
import { type Connected, openSession, type SessionOptions, sessionOptions } from './open-session.ts';
import type { Duplex } from './session/duplex.ts';

/** Options of a session in `hob.1`. */
export interface PeerOptions extends SessionOptions {
  readonly dialect?: 'hob.1';
}

/**
 * Opens a CapTP session over an open duplex, in the dialect `hob.1`. Both sides may offer a bootstrap. Errors: `invalid`,
 * `unavailable` for another dialect.
 */
export function captp<T extends object>(duplex: Duplex, options?: PeerOptions): Connected<T> {
  const given = takeOptions(options, 'captp', { dialect: true, ...sessionOptions });
  if (given.dialect !== undefined && given.dialect !== 'hob.1')
    throw new CapError(
      'unavailable',
      '@hob/vat/peer speaks hob.1 only: take captp of @hob/vat/wire for another dialect',
    );
  return openSession(hob1, duplex, given);
}
