/**
 * Finds out when the messages sent along a path have arrived.
 *
 * A promise of a peer may resolve to an object of ours. Messages sent to the promise before went to the peer
 * and are on their way back. Messages sent from now on must not overtake them. So a last message follows them
 * along the same path and comes back behind them: a call of the method `__flush__`, which no object ever
 * receives. Every CapTP peer forwards it like any other call.
 */
import { noChain } from '../../core/causes.ts';
import { Message, type ResultSink, type Target } from '../../core/message.ts';
import type { Account } from '../../core/meter.ts';
import { VatPromise } from '../../core/promise.ts';
import { targetOf } from '../../core/reference.ts';
import { type ActorHome, Runnable, Thunk } from '../../turn/runnable.ts';
import type { Fence } from './fence.ts';
import { Remote } from './imports.ts';

/**
 * A reserved method. Its call returns when all messages sent before it on the same path were delivered or
 * forwarded.
 */
export const flushMethod = '__flush__';
const nothing: readonly unknown[] = Object.freeze([]);

export function flushMessage(to: Target, answer: ResultSink, account: Account): Message {
  account.charge('messages', 1);
  return new Message({ to, method: flushMethod, args: nothing, answer, account, chain: noChain });
}

/** Fulfils `answer` when the earlier messages of `account` to `target` have gone on. */
export function flush(fence: Fence, target: Target, answer: ResultSink, account: Account): void {
  try {
    if (target instanceof VatPromise) return flushPromise(fence, target, answer, account);
    if (target instanceof Remote) return target.post(flushMessage(target, answer, account));
    // The marker goes into the same queue as the calls before it.
    if (target instanceof Runnable) {
      const marker = new Thunk(target.home as ActorHome, 'flush', () => undefined);
      return marker.post(flushMessage(marker, answer, account));
    }
  } catch (error) {
    return answer.break(error);
  }
  answer.fulfil(undefined);
}

function flushPromise(fence: Fence, promise: VatPromise, answer: ResultSink, account: Account): void {
  const { path } = promise;
  if (path !== undefined) return flush(fence, path, answer, account);
  fence.watch(
    promise,
    (value) => {
      const target = targetOf(value);
      if (target === undefined) answer.fulfil(undefined);
      else flush(fence, target, answer, account);
    },
    () => answer.fulfil(undefined),
  );
}
