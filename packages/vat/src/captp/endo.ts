/**
 * One connection that speaks the wire of `@endo/captp` 4.x, by that package, behind a frame check and our own values.
 *
 * Promise: junk, oversized frames and calls of what was never offered close the connection with a reason, and nothing else
 * of the host is touched. When the connection is gone, what it waited for breaks with `disconnected`.
 *
 * For now: the package keeps every answer until the connection closes. Our own session core replaces it.
 */
import { makeCapTP } from '@endo/captp';
import { CapError } from '../errors.ts';
import { Account } from '../meter.ts';
import { isReference } from '../reference.ts';
import type { Far, Meter } from '../types.ts';
import { closeCodes, type Duplex } from './duplex.ts';
import { EndoValues } from './endo-values.ts';
import { checkFrame } from './frame.ts';

export interface EndoOptions {
  /** Offered to the peer. */
  readonly bootstrap?: object;
  /** Pays for what the peer sends. */
  readonly meter?: Meter;
  /** Bytes that may wait in the socket before the peer counts as one that does not read. */
  readonly bufferedBytes?: number;
}

export interface EndoConnection<T> {
  /** The peer's bootstrap: messages to it are pipelined. */
  readonly bootstrap: Far<T>;
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  /** Says why with one of `closeCodes`. */
  close(reason?: string, code?: number): void;
}

export function endoConnection<T extends object>(duplex: Duplex, options: EndoOptions = {}): EndoConnection<T> {
  const { bootstrap, meter = new Account('connection'), bufferedBytes = 8 << 20 } = options;
  if (bootstrap !== undefined && !isReference(bootstrap))
    throw new CapError('invalid', 'a bootstrap is a reference: spawn an actor or make a driver');
  const values = new EndoValues(meter as Account);
  let open = true;

  const close = (code: number, reason: string): void => {
    if (!open) return;
    open = false;
    duplex.close(code, reason);
    captp.abort(gone);
  };
  const send = (message: Record<string, unknown>): void => {
    if (!open || message['type'] === 'CTP_DISCONNECT') return;
    if (duplex.buffered > bufferedBytes) return close(closeCodes.protocol, 'the peer does not read what it asked for');
    duplex.send(JSON.stringify(asErrors(message)));
  };
  const captp = makeCapTP('hob', send, bootstrap === undefined ? undefined : values.out(bootstrap), {
    onReject: () => {},
  });

  duplex.onFrame((frame) => {
    if (!open) return;
    const checked = checkFrame(frame);
    if (!checked.ok) return close(checked.code, checked.reason);
    const { message } = checked;
    if (message.type === 'CTP_DISCONNECT') return close(closeCodes.normal, 'the peer is done');
    // Resolutions and drops may name what is gone already: they cross with ours. A call may not.
    if (!captp.dispatch(message) && message.type !== 'CTP_RESOLVE' && message.type !== 'CTP_DROP')
      close(closeCodes.protocol, `${message.type} names what was never offered`);
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

/** The text of an error becomes an Error of the peer's: both of Endo's ways of saying that something failed. */
function asErrors(message: Record<string, unknown>): Record<string, unknown> {
  for (const field of ['exception', 'rej']) {
    const said = message[field] as { readonly body: string; readonly slots: readonly unknown[] } | undefined;
    if (said === undefined) continue;
    let text: unknown;
    try {
      text = JSON.parse(said.body);
    } catch {}
    const known = typeof text === 'string' ? text : 'error: the call could not be answered';
    return {
      ...message,
      [field]: {
        body: JSON.stringify({ '@qclass': 'error', errorId: 'error:hob', message: known, name: 'Error' }),
        slots: [],
      },
    };
  }
  return message;
}
