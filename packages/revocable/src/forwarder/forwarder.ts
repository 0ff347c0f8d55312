/**
 * The two actors behind every forwarder: the one that is handed out, and the state that decides.
 *
 * A `Forwarder` has no state and no method of its own. It passes each call to its `ForwarderState`, within
 * the turn of the call. Nobody outside holds the state, and no call of a holder leads to it.
 */
import { type Definition, defineProcedure } from '@hob/vat';
import { byMessage } from '@hob/vat/forwarder';
import type { Parts } from './parts.ts';

/** The object behind one forwarder, and how it may be called. */
export interface ForwardTarget {
  readonly inner: object;
  /** `inner` was passed inwards, as a callback: it belongs to the holder, and the object behind calls it. */
  readonly inward: boolean;
  /** `inner` may be called near. False for a forwarder of this vat that is reached by message only. */
  readonly callableNear: boolean;
  /** Counts the parts of `inner`, a stream that came out of a call of a grant. */
  readonly parts?: Parts | undefined;
}

/** A call that has ended: its method, the object that it was sent to, and whether it was the call of a callback. */
export interface EndedCall {
  readonly method: string;
  readonly inner: object;
  readonly inward: boolean;
  /** The call was a part of a stream and has no line of its own so far. */
  readonly parts?: Parts | undefined;
}

/** The state of a forwarder and its decisions. Held by its forwarders and by its granter. */
export interface ForwarderState {
  callByMessage(target: ForwardTarget, method: string, args: readonly unknown[]): unknown;
  callNear(target: ForwardTarget, method: string, args: readonly unknown[]): unknown;
  /**
   * A call by another forwarder of this vat that was itself reached by message. It joins the turn of that
   * one.
   */
  forwardInTurn(target: ForwardTarget, method: string, args: readonly unknown[]): unknown;
  /**
   * Throws if this forwarder, or one behind it, would refuse the call now. Called in a turn that is undone.
   */
  foresee(target: ForwardTarget, method: string, args: readonly unknown[]): void;
  /** The object behind returned `value`. Returns what the caller gets. */
  onFulfilled(call: EndedCall, value: unknown): unknown;
  onBroken(call: EndedCall, error: Error): void;
  /** A promise that was passed on became `value`. Returns what its holder gets. */
  passResult(inward: boolean, value: unknown): unknown;
  /** Keeps what time alone has decided. */
  latch(): void;
  /** Whether its forwarders may be called near. */
  near(): boolean;
  /** The causes that end its calls, the grant last. Empty if it has no end of its own. Throws `denied`. */
  reveal(): readonly string[];
}

/** The actor that a holder has. */
export const Forwarder: Definition<
  object,
  [state: ForwarderState, inner: object, inward: boolean, callableNear: boolean]
> = defineProcedure('revocable.forwarder', (_bcom, state, inner, inward, callableNear) => {
  const target = { inner, inward, callableNear };
  return (method, args) =>
    byMessage() ? state.callByMessage(target, method, args) : state.callNear(target, method, args);
});
