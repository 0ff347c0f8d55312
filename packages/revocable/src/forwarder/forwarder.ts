/**
 * The two halves of a forwarder: the rules, which decide and are held by nobody outside, and its faces, which are handed out.
 *
 * Promise: a face has no method of its own and no state. It asks the rules in the turn of the call; nothing that a holder can do to it leads
 * to them.
 */
import { byMessage, type Definition, defineProcedure } from '@hob/vat';

/** What a face stands for. */
export interface ForwardTarget {
  readonly inner: object;
  /** Of a callback: from what is behind to who holds the forwarder. */
  readonly back: boolean;
  /** It may be called near, where it is near: not a forwarder that is reached by message only. */
  readonly direct: boolean;
}

/** The state of a forwarder and what it decides. Held by its faces and its granter. */
export interface ForwarderState {
  /** A call on a face. */
  call(via: ForwardTarget, method: string, args: readonly unknown[], byMessage: boolean): unknown;
  /** A call of another forwarder of this vat, which was itself reached by message: part of that one's turn. */
  forwardInTurn(via: ForwardTarget, method: string, args: readonly unknown[]): unknown;
  /** It was answered: what the caller gets. */
  onFulfilled(back: boolean, method: string, value: unknown): unknown;
  onBroken(back: boolean, method: string, error: Error): void;
  /** A promise that was passed on became `value`. */
  pass(back: boolean, value: unknown): unknown;
  note(): void;
  /** Whether its faces may be called near. */
  near(): boolean;
  /** What its calls are cut by, the grant last; none where it has no end of its own. */
  reveal(): readonly string[];
}

/** What a holder has. No state: all of it is with the rules. */
export const Forwarder: Definition<object, [rules: ForwarderState, inner: object, back: boolean, direct: boolean]> =
  defineProcedure('revocable.forwarder', (_bcom, rules, inner, back, direct) => {
    const via = { inner, back, direct };
    return (method, args) => rules.call(via, method, args, byMessage());
  });
