/**
 * The two halves of a forwarder: the rules, which decide and are held by nobody outside, and its faces, which are handed out.
 *
 * Promise: a face has no method of its own and no state. It asks the rules in the turn of the call; nothing that a holder can do to it leads
 * to them.
 */
import { byMessage, type Definition, defineProcedure } from '@hob/vat';

/** The state of a forwarder and what it decides. Held by its faces and its granter. */
export interface Rules {
  /** A call on a face. `back` is a callback's: from what is behind to who holds the forwarder. */
  call(inner: object, back: boolean, method: string, args: readonly unknown[], byMessage: boolean): unknown;
  /** It was answered: what the caller gets. */
  land(back: boolean, method: string, value: unknown): unknown;
  fell(back: boolean, method: string, error: Error): void;
  /** A promise that was passed on became `value`. */
  pass(back: boolean, value: unknown): unknown;
  note(): void;
  /** Whether its faces may be called near. */
  near(): boolean;
  reveal(): string | undefined;
}

/** What a holder has. No state: all of it is with the rules. */
export const Face: Definition<object, [rules: Rules, inner: object, back: boolean]> = defineProcedure(
  'revocable.forwarder',
  (_bcom, rules, inner, back) => (method, args) => rules.call(inner, back, method, args, byMessage()),
);
