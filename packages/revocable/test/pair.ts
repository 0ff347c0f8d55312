/** A CapTP session over a wire in memory. */
import { captp, type Duplex, type Far } from '@hob/vat';
import { onTestFinished } from 'vitest';

type Frame = string | Uint8Array;
interface Why {
  readonly code: number;
  readonly reason: string;
}

/** A wire that records the frames of each direction, in order. */
export interface Wire {
  readonly ends: readonly [Duplex, Duplex];
  readonly sent: { readonly from: 0 | 1; readonly frame: Frame }[];
}

export function wire(): Wire {
  const sent: { readonly from: 0 | 1; readonly frame: Frame }[] = [];
  const onFrame: ((frame: Frame) => void)[] = [];
  const onClose: ((why: Why) => void)[] = [];
  let closed = false;
  const end = (from: 0 | 1): Duplex => ({
    buffered: 0,
    send(frame) {
      sent.push({ from, frame });
      queueMicrotask(() => void (closed || onFrame[1 - from]?.(frame)));
    },
    onFrame: (then) => void (onFrame[from] = then),
    onClose: (then) => void (onClose[from] = then),
    close(code, reason) {
      if (closed) return;
      closed = true;
      queueMicrotask(() => onClose.forEach((then) => void then({ code, reason })));
    },
  });
  return { ends: [end(0), end(1)], sent };
}

/** Offers `bootstrap` at the first end, to a peer that writes frames by hand. Ends with the test. */
export function serve(bootstrap: Far<object>, over: Wire): void {
  const host = captp(over.ends[0], { bootstrap, dialect: 'captp' });
  onTestFinished(async () => {
    host.close();
    await host.closed;
  });
}

/** Returns the bootstrap as a peer has it. Ends with the test. */
export function enter<T extends object>(bootstrap: Far<T>, over: Wire = wire()): Far<T> {
  const host = captp(over.ends[0], { bootstrap: bootstrap as Far<object> });
  const peer = captp<T>(over.ends[1]);
  onTestFinished(async () => {
    peer.close();
    host.close();
    await Promise.all([peer.closed, host.closed]);
  });
  return peer.bootstrap;
}
