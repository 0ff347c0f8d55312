/**
 * One connection that speaks the wire of `@endo/captp` 4.x, by that package, behind a frame check and our own values.
 *
 * Promise: junk, oversized frames and calls of what was never offered close the connection with a reason, and nothing else
 * of the host is touched. A call is answered, or the connection closes. When it is gone, what it waited for breaks with
 * `disconnected`.
 *
 * For now: the package keeps every answer until the connection closes. Our own session core replaces it.
 */
/// <reference path="./endo-captp.d.ts" />
import { makeCapTP } from '@endo/captp';
import { CapError } from '../errors.ts';
import { Account } from '../meter.ts';
import { isReference } from '../reference.ts';
import type { Far, Meter } from '../types.ts';
import { type CallLimits, Calls, type Fate } from './calls.ts';
import { closeCodes, type Duplex } from './duplex.ts';
import { EndoValues } from './endo-values.ts';
import { checkFrame, fits, type WireMessage } from './frame.ts';

export interface EndoOptions {
  /** Offered to the peer. */
  readonly bootstrap?: object;
  /** Pays for what the peer sends. */
  readonly meter?: Meter;
  /** Bytes that may wait in the socket before the peer counts as one that does not read. */
  readonly bufferedBytes?: number;
  readonly limits?: CallLimits;
}

export interface EndoConnection<T> {
  /** The peer's bootstrap: messages to it are pipelined. */
  readonly bootstrap: Far<T>;
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  /** Says why with one of `closeCodes`. */
  close(reason?: string, code?: number): void;
}

export function endoConnection<T extends object>(duplex: Duplex, options: EndoOptions = {}): EndoConnection<T> {
  const { bootstrap, meter = new Account('connection'), bufferedBytes = 8 << 20, limits } = options;
  if (bootstrap !== undefined && !isReference(bootstrap))
    throw new CapError('invalid', 'a bootstrap is a reference: spawn an actor or make a driver');
  const values = new EndoValues(meter as Account);
  const calls = new Calls(limits);
  let open = true;

  const close = (code: number, reason: string): void => {
    if (!open) return;
    open = false;
    duplex.close(code, reason);
    captp.abort(gone);
  };
  const send = (said: Record<string, unknown>): void => {
    if (!open || said['type'] === 'CTP_DISCONNECT') return;
    if (duplex.buffered > bufferedBytes) return close(closeCodes.protocol, 'the peer does not read what it asked for');
    let message = asErrors(said);
    let text = JSON.stringify(message);
    if (!fits(text, message)) {
      if (message['type'] === 'CTP_CALL') return notSent(message['questionID'] as string);
      message = tooLarge(message);
      text = JSON.stringify(message);
    }
    duplex.send(text);
    ready.push(...calls.sent(message, text.length));
    release();
  };
  // One after the other, not each inside the one before: a chain of ten thousand refused calls would run out of stack.
  const ready: WireMessage[] = [];
  let releasing = false;
  const release = (): void => {
    if (releasing) return;
    releasing = true;
    for (let next = ready.shift(); next !== undefined; next = ready.shift()) meet(next, calls.released(next));
    releasing = false;
  };
  /** A call of ours that is larger than the wire allows breaks here. */
  const notSent = (answerID: string): void =>
    queueMicrotask(() => void captp.dispatch({ type: 'CTP_RETURN', answerID, exception: errorData(oversized) }));
  const captp = makeCapTP('hob', send, bootstrap === undefined ? undefined : values.out(bootstrap), {
    onReject: () => {},
    exportHook: (_value, slot) => {
      if (slot[0] === 'p') calls.gavePromise(slot);
    },
  });

  const meet = (message: WireMessage, fate: Fate): void => {
    if (!open || fate.go === 'wait') return;
    if (fate.go === 'close') return close(closeCodes.protocol, fate.reason);
    if (fate.go === 'refuse')
      return send({
        type: 'CTP_RETURN',
        epoch: 0,
        answerID: message['questionID'],
        exception: { body: JSON.stringify(fate.text), slots: [] },
      });
    // The resolution of a promise may name what is gone already: it crosses with ours. A call may not.
    if (!captp.dispatch(message) && message.type !== 'CTP_RESOLVE')
      close(closeCodes.protocol, `${message.type} names what was never offered`);
  };

  duplex.onFrame((frame) => {
    if (!open) return;
    const checked = checkFrame(frame);
    if (!checked.ok) return close(checked.code, checked.reason);
    const { message } = checked;
    if (message.type === 'CTP_DISCONNECT') return close(closeCodes.normal, 'the peer is done');
    // The package forgets a dropped object for good, also one that is on its way to the peer once more; and honest peers count
    // too high. What was given out stays until the connection closes.
    if (message.type === 'CTP_DROP') return;
    meet(message, calls.received(message, frame.length));
  });
  const closed = new Promise<{ readonly code: number; readonly reason: string }>((resolve) => {
    duplex.onClose((why) => {
      if (open) {
        open = false;
        captp.abort(gone);
      }
      resolve(why);
    });
  });

  const theirs = captp.getBootstrap();
  theirs.catch(() => {});
  return Object.freeze({
    bootstrap: values.theirs(theirs) as Far<T>,
    closed,
    close: (reason = 'done', code: number = closeCodes.normal): void => close(code, reason),
  });
}

const gone = 'disconnected: the connection is closed: connect again';
const oversized = 'limit: this is larger than a frame may be: send it in parts';

/** Both of Endo's ways of saying that something failed. */
const failures = ['exception', 'rej'] as const;

const errorData = (message: string): { readonly body: string; readonly slots: readonly never[] } => ({
  body: JSON.stringify({ '@qclass': 'error', errorId: 'error:hob', message, name: 'Error' }),
  slots: [],
});

/** The text of an error becomes an Error of the peer's. */
function asErrors(message: Record<string, unknown>): Record<string, unknown> {
  for (const field of failures) {
    const said = message[field] as { readonly body: string } | undefined;
    if (said === undefined) continue;
    let text: unknown;
    try {
      text = JSON.parse(said.body);
    } catch {}
    return {
      ...message,
      [field]: errorData(typeof text === 'string' ? text : 'error: the call could not be answered'),
    };
  }
  return message;
}

/** The same message, but it says that what it said was too large. */
function tooLarge(message: Record<string, unknown>): Record<string, unknown> {
  const { result: _, res: __, ...rest } = message;
  return { ...rest, [message['type'] === 'CTP_RETURN' ? 'exception' : 'rej']: errorData(oversized) };
}
