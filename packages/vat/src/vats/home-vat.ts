/**
 * A live vat as connections see it. A peer has connections and no vats, so it must not load them.
 */
import type { Account } from '../core/meter.ts';
import type { Vats } from './interface.ts';

/** The base class of every live vat. An object that only looks like a vat is none. */
export abstract class HomeVat {
  /** Pays for messages to this vat for which nobody else pays. */
  abstract account: Account;
  abstract readonly vats: Vats;
}
