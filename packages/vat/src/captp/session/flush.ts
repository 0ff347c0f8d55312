/**
 * Finding out that what was sent along a path has arrived.
 *
 * A promise of a peer's may turn out to be an object of ours. What was sent to it before went to the peer and is on its way
 * back; what is sent from now on must not overtake it. So a last message goes along the same path and comes home behind the
 * others: a call of the method `__flush__`, which no object ever gets. Whatever speaks CapTP sends it home like any other call.
 */
import { noChain } from '../../core/causes.ts';
import { type Answer, Message, type Target } from '../../core/message.ts';
import type { Account } from '../../core/meter.ts';
import { VatPromise } from '../../core/promise.ts';
import { targetOf } from '../../core/reference.ts';
import { type Household, Runnable, Thunk } from '../../turn/runnable.ts';
import type { Fence } from './fence.ts';
import { Remote } from './imports.ts';

/** Reserved: a call of it is answered once everything sent before it, by the same way, was delivered or sent on. */
export const flushMethod = '__flush__';
const nothing: readonly unknown[] = Object.freeze([]);

export function flushMessage(to: Target, answer: Answer, account: Account): Message {
  account.charge('messages', 1);
  return new Message(to, flushMethod, nothing, false, answer, account, noChain, undefined, undefined);
}

/** Answers when what `account` sent to `target` before has gone on. */
export function flush(fence: Fence, target: Target, answer: Answer, account: Account): void {
  try {
    if (target instanceof VatPromise) return flushPromise(fence, target, answer, account);
    if (target instanceof Remote) return target.post(flushMessage(target, answer, account));
    // In the same queue as the calls before it.
    if (target instanceof Runnable) {
      const marker = new Thunk(target.home as Household, 'flush', () => undefined);
      return marker.post(flushMessage(marker, answer, account));
    }
  } catch (error) {
    return answer.break(error);
  }
  answer.fulfil(undefined);
}

function flushPromise(fence: Fence, vow: VatPromise, answer: Answer, account: Account): void {
  const { path } = vow;
  if (path !== undefined) return flush(fence, path, answer, account);
  fence.watch(
    vow,
    (value) => {
      const target = targetOf(value);
      if (target === undefined) answer.fulfil(undefined);
      else flush(fence, target, answer, account);
    },
    () => answer.fulfil(undefined),
  );
}
