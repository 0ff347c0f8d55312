/** The WebSocket of a browser as a duplex. It imports nothing of Node, so it also runs there. */
import { closeCodes, type Duplex, Inbox } from '../session/duplex.ts';

/** A close frame holds at most 123 bytes of UTF-8. A longer reason would throw. */
export const closeText = (reason: string): string => reason.replace(/[^\x20-\x7e]/g, '?').slice(0, 120);

/** Two values of `readyState`. */
const connecting = 0;
const open = 1;

/** The part of the `WebSocket` of the web platform that is used. */
export interface BrowserSocket {
  binaryType: string;
  readonly readyState: number;
  readonly bufferedAmount: number;
  send(frame: string | Uint8Array<ArrayBuffer>): void;
  close(code: number, reason: string): void;
  addEventListener(kind: string, then: (event: { data?: unknown; code?: number; reason?: string }) => void): void;
}

/**
 * Makes a duplex from the `WebSocket` of a browser. The socket may still be connecting: frames wait until it
 * is open. A connection that fails closes the session like any other.
 *
 * A browser answers pings and cannot send any. So only the other side notices a peer that is gone.
 */
export function fromBrowserSocket(socket: BrowserSocket): Duplex {
  const inbox = new Inbox();
  socket.binaryType = 'arraybuffer';
  socket.addEventListener(
    'message',
    inbox.guard(({ data }) => inbox.frame(typeof data === 'string' ? data : new Uint8Array(data as ArrayBuffer))),
  );
  let said: { readonly code: number; readonly reason: string } | undefined;
  socket.addEventListener(
    'close',
    inbox.guard(({ code = closeCodes.lost, reason = '' }) => inbox.end(said?.code ?? code, said?.reason ?? reason)),
  );
  // A frame of ours is never in shared memory, which a browser would refuse.
  const early: (string | Uint8Array<ArrayBuffer>)[] = [];
  socket.addEventListener(
    'open',
    inbox.guard(() => {
      for (const frame of early.splice(0)) socket.send(frame);
    }),
  );
  return Object.freeze({
    send: (frame: string | Uint8Array): void => {
      const own = frame as string | Uint8Array<ArrayBuffer>;
      if (socket.readyState === connecting) early.push(own);
      else if (socket.readyState === open) socket.send(own);
    },
    get buffered(): number {
      return early.reduce((sum, frame) => sum + frame.length, socket.bufferedAmount);
    },
    onFrame: (then: (frame: string | Uint8Array) => void) => inbox.onFrame(then),
    onClose: (then: (why: { code: number; reason: string }) => void) => inbox.onClose(then),
    onFault: (then: (error: unknown) => void) => inbox.onFault(then),
    close: (code: number, reason: string): void => {
      said ??= { code, reason };
      // A browser accepts no other standard code here.
      socket.close(code === 1000 || code >= 3000 ? code : closeCodes.protocol, closeText(reason));
    },
  });
}
