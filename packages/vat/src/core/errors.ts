/**
 * The one error class of Hob.
 *
 * Promise: a `CapError` carries a code from a closed set and a message that names the remedy. It never
 * carries a path of the host, a stack of another party, a secret, or anything about another session.
 */

/** Codes about the life of a capability. Any package may throw them. */
export type LifecycleCode =
  | 'revoked'
  | 'expired'
  | 'exhausted'
  | 'denied'
  | 'no-such-object'
  | 'unavailable'
  | 'unknown-outcome'
  | 'disconnected'
  | 'restarted'
  | 'limit'
  | 'invalid';

/** Codes of the vat itself. */
export type VatCode = 'async-behaviour' | 'not-callable' | 'become-failure' | 'vat-halted' | 'cycle' | 'no-such-method';

/**
 * An error with a code that a program can decide by, and a message that says what to do. `code` survives
 * every wire.
 */
export class CapError extends Error {
  readonly code: string;

  constructor(code: LifecycleCode | VatCode | (string & {}), message: string) {
    super(message);
    this.code = code;
  }

  static {
    // `name` is on the prototype: a copy of an instance then needs only its own `message` and `code`.
    Object.defineProperty(CapError.prototype, 'name', { value: 'CapError', configurable: true });
  }
}
