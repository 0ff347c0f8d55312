/** WebSockets as duplexes: the network's edge. */
import { WebSocket } from 'ws';
import type { Duplex } from '../captp/duplex.ts';
import { CapError } from '../errors.ts';

/** Larger frames are refused by the socket itself, before they are in memory (close code 1009). */
export const largestFrame: number = 1 << 20;

/** How long a peer may take to answer a close before the socket is cut. */
const closeGraceMs = 1000;

/** How long a host may take to let us in. */
const handshakeMs = 10_000;

/** At most 123 bytes of UTF-8 fit into a close frame; more would throw. */
const closeText = (reason: string): string => reason.replace(/[^\x20-\x7e]/g, '?').slice(0, 120);

/** A `ws` WebSocket, of a server or a client. */
export function fromWebSocket(socket: object): Duplex {
  if (!(socket instanceof WebSocket)) throw new CapError('invalid', 'this is no WebSocket of the ws package');
  // The first frame can come with the answer to the upgrade, before whoever dialled has heard that it is open.
  const early: (string | Uint8Array)[] = [];
  let onFrame = (frame: string | Uint8Array): void => void early.push(frame);
  let onClose: (why: { code: number; reason: string }) => void = () => {};
  let ended: { code: number; reason: string } | undefined;
  let said: { code: number; reason: string } | undefined;
  let cut: ReturnType<typeof setTimeout> | undefined;
  socket.on('message', (data: Buffer, binary: boolean) =>
    onFrame(binary ? new Uint8Array(data) : data.toString('utf8')),
  );
  // A frame over the limit or bytes that are no frame: ws closes with the right code by itself.
  socket.on('error', () => {});
  socket.on('close', (code: number, reason: Buffer) => {
    clearTimeout(cut);
    ended = said ?? { code, reason: reason.toString('utf8') };
    onClose(ended);
  });
  return Object.freeze({
    send: (frame: string | Uint8Array): void => {
      if (socket.readyState === WebSocket.OPEN) socket.send(frame, () => {});
    },
    get buffered(): number {
      return socket.bufferedAmount;
    },
    onFrame(then: (frame: string | Uint8Array) => void): void {
      onFrame = then;
      for (const frame of early.splice(0)) then(frame);
    },
    onClose(then: (why: { code: number; reason: string }) => void): void {
      onClose = then;
      if (ended !== undefined) then(ended);
    },
    close(code: number, reason: string): void {
      said ??= { code, reason };
      if (socket.readyState === WebSocket.CLOSED) return;
      socket.close(code, closeText(reason));
      // One that never answers must not hold a descriptor for ever.
      cut ??= setTimeout(() => socket.terminate(), closeGraceMs);
    },
  });
}

/** Dials a host and enters with `secret`. Breaks `denied` where the host does not let it in, `disconnected` where nobody answers, `invalid`. */
export function dial(url: string, secret: string, dialect: string): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const socket = socketTo(url, secret, dialect);
    const failed = (error: Error): void =>
      reject(
        error instanceof CapError
          ? error
          : new CapError('disconnected', 'no host answers there: is it running, and is the address right?'),
      );
    socket.once('unexpected-response', (request, response) => {
      failed(
        new CapError(
          'denied',
          response.statusCode === 401
            ? 'the host does not know this secret: ask for a new one'
            : `the host refused the connection (HTTP ${response.statusCode ?? 0})`,
        ),
      );
      request.destroy();
    });
    socket.once('error', failed);
    // Wrapped before it opens: the host's first frame may come with the answer to the upgrade.
    const duplex = fromWebSocket(socket);
    socket.once('open', () => resolve(duplex));
  });
}

function socketTo(url: string, secret: string, dialect: string): WebSocket {
  try {
    return new WebSocket(url, [dialect], {
      headers: { authorization: `Bearer ${secret}` },
      maxPayload: largestFrame,
      perMessageDeflate: false,
      handshakeTimeout: handshakeMs,
    });
  } catch {
    // What it says could quote the secret.
    throw new CapError('invalid', 'this is no address or no secret of a host: copy both from what it printed');
  }
}
