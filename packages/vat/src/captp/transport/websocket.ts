/** WebSockets as duplexes: the network's edge. */
import type { Writable } from 'node:stream';
import { WebSocket } from 'ws';
import { CapError } from '../../core/errors.ts';
import { closeCodes, type Duplex, Inbox } from '../session/duplex.ts';

/** Larger frames are refused by the socket itself, before they are in memory (close code 1009). */
export const largestFrame: number = 1 << 20;

/** How long a peer may take to answer a close before the socket is cut. */
const closeGraceMs = 1000;

/** How long a host may take to let us in. */
const handshakeMs = 10_000;

/** At most 123 bytes of UTF-8 fit into a close frame; more would throw. */
const closeText = (reason: string): string => reason.replace(/[^\x20-\x7e]/g, '?').slice(0, 120);

/** How often a peer is asked whether it is there, and after how many questions without any sign of it it counts as gone. */
const pingMs = 10_000;
const unanswered = 2;

/** A `ws` WebSocket, of a server or a client (it sets TCP_NODELAY itself), or one of a browser's kind. */
export function fromWebSocket(socket: object, options: { readonly pingMs?: number } = {}): Duplex {
  if (socket instanceof WebSocket) return new NodeSocket(socket, options.pingMs ?? pingMs);
  if (typeof (socket as { addEventListener?: unknown }).addEventListener === 'function')
    return fromBrowserSocket(socket as BrowserSocket);
  throw new CapError('invalid', 'this is no WebSocket: give one of the ws package, or of a browser');
}

class NodeSocket implements Duplex {
  readonly #socket: WebSocket;
  readonly #inbox = new Inbox();
  #pings: ReturnType<typeof setInterval> | undefined;
  #said: { readonly code: number; readonly reason: string } | undefined;
  #cut: ReturnType<typeof setTimeout> | undefined;
  #silent = 0;
  #gathers = false;

  constructor(socket: WebSocket, everyMs: number) {
    this.#socket = socket;
    const on = (event: string, then: (...args: never[]) => void): void =>
      void socket.on(event, this.#inbox.guard(then as (...args: unknown[]) => void));
    // The first frame can come with the answer to the upgrade, before whoever dialled has heard that it is open.
    on('message', (data: Buffer, binary: boolean) => {
      this.#silent = 0;
      this.#inbox.frame(binary ? new Uint8Array(data.buffer, data.byteOffset, data.length) : data.toString('utf8'));
    });
    on('pong', () => {
      this.#silent = 0;
    });
    on('ping', () => this.#pinged());
    // A frame over the limit or bytes that are no frame: ws closes with the right code by itself.
    on('error', () => {});
    on('close', (code: number, reason: Buffer) => {
      clearTimeout(this.#cut);
      clearInterval(this.#pings);
      this.#inbox.end(this.#said?.code ?? code, this.#said?.reason ?? reason.toString('utf8'));
    });
    const watch = this.#inbox.guard(() => {
      this.#pings = setInterval(
        this.#inbox.guard(() => this.#ping()),
        everyMs,
      );
      this.#pings.unref();
    });
    if (socket.readyState === WebSocket.CONNECTING) socket.once('open', watch);
    else watch();
  }

  /** `ws` answers pings by itself, and cuts who does not read the answers (60 of them may wait): only the reason is ours. */
  #pinged(): void {
    if (this.#socket.readyState === WebSocket.OPEN) return;
    this.#said ??= { code: closeCodes.protocol, reason: 'the peer does not read what it asked for' };
  }

  /** A peer whose machine is gone says nothing at all, for hours: no read ever fails. */
  #ping(): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    if (this.#silent >= unanswered) {
      this.#said ??= { code: closeCodes.halfOpen, reason: 'the peer does not answer: it, or the way to it, is gone' };
      return this.#socket.terminate();
    }
    this.#silent += 1;
    this.#socket.ping();
  }

  send(frame: string | Uint8Array, written?: () => void): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    if (typeof frame !== 'string') this.#gather();
    this.#socket.send(frame, written);
  }

  /** Bytes leave together with the frame behind them that names them: in two pieces they would wake the peer twice. */
  #gather(): void {
    // `ws` shows it to nobody, and always has it.
    const stream = (this.#socket as unknown as { readonly _socket?: Writable })._socket;
    if (this.#gathers || stream === undefined) return;
    this.#gathers = true;
    stream.cork();
    queueMicrotask(
      this.#inbox.guard(() => {
        this.#gathers = false;
        stream.uncork();
      }),
    );
  }

  get buffered(): number {
    return this.#socket.bufferedAmount;
  }

  onFrame(then: (frame: string | Uint8Array) => void): void {
    this.#inbox.onFrame(then);
  }

  onClose(then: (why: { code: number; reason: string }) => void): void {
    this.#inbox.onClose(then);
  }

  onFault(then: (error: unknown) => void): void {
    this.#inbox.onFault(then);
  }

  close(code: number, reason: string): void {
    this.#said ??= { code, reason };
    if (this.#socket.readyState === WebSocket.CLOSED) return;
    this.#socket.close(code, closeText(reason));
    // One that never answers must not hold a descriptor for ever.
    this.#cut ??= setTimeout(
      this.#inbox.guard(() => this.#socket.terminate()),
      closeGraceMs,
    );
  }
}

interface BrowserSocket {
  binaryType: string;
  readonly readyState: number;
  readonly bufferedAmount: number;
  send(frame: string | Uint8Array): void;
  close(code: number, reason: string): void;
  addEventListener(kind: string, then: (event: { data?: unknown; code?: number; reason?: string }) => void): void;
}

/** It answers pings by itself and cannot send any: the other side notices who is gone. */
function fromBrowserSocket(socket: BrowserSocket): Duplex {
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
  return Object.freeze({
    send: (frame: string | Uint8Array): void => {
      if (socket.readyState === 1) socket.send(frame);
    },
    get buffered(): number {
      return socket.bufferedAmount;
    },
    onFrame: (then: (frame: string | Uint8Array) => void) => inbox.onFrame(then),
    onClose: (then: (why: { code: number; reason: string }) => void) => inbox.onClose(then),
    onFault: (then: (error: unknown) => void) => inbox.onFault(then),
    close: (code: number, reason: string): void => {
      said ??= { code, reason };
      // A browser takes no other code of the protocol's own.
      socket.close(code === 1000 || code >= 3000 ? code : closeCodes.protocol, closeText(reason));
    },
  });
}

/** The waits between two tries, while a host says that it cannot let anybody in now. */
const firstWaitMs = 100;
const longestWaitMs = 2000;
/** All waits together, where the caller names no other time. */
const patienceMs = 30_000;

/**
 * Dials a host and enters with `secret`. A host whose store fails is asked again, with growing waits of `patience` ms together: it does not
 * know whether the secret is right, and may be started again meanwhile. Rejects with `unavailable` when the waits are used up, `denied` where
 * the host does not let this secret in, `limit` where its session has too many connections, `disconnected` where nobody answers, `invalid`.
 */
export async function dial(
  url: string,
  secret: string,
  dialect: string,
  patience: number = patienceMs,
): Promise<Duplex> {
  let waited = 0;
  for (let wait = firstWaitMs; ; wait = Math.min(2 * wait, longestWaitMs)) {
    try {
      return await dialOnce(url, secret, dialect);
    } catch (error) {
      const { code } = error as CapError;
      // A host that was there a moment ago and is gone now is probably being started again.
      const mayPass = code === 'unavailable' || (code === 'disconnected' && waited > 0);
      if (!mayPass || waited >= patience) throw error;
    }
    const ms = Math.min(wait, patience - waited);
    await new Promise((resolve) => setTimeout(resolve, ms));
    waited += ms;
  }
}

function dialOnce(url: string, secret: string, dialect: string): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const socket = socketTo(url, secret, dialect);
    const failed = (error: Error): void =>
      reject(
        error instanceof CapError
          ? error
          : new CapError('disconnected', 'no host answers there: is it running, and is the address right?'),
      );
    socket.once('unexpected-response', (request, response) => {
      failed(refusedWith(response.statusCode ?? 0));
      request.destroy();
    });
    socket.once('error', failed);
    // Wrapped before it opens: the host's first frame may come with the answer to the upgrade.
    const duplex = fromWebSocket(socket);
    socket.once('open', () => resolve(duplex));
  });
}

function refusedWith(status: number): CapError {
  if (status === 401) return new CapError('denied', 'the host does not know this secret: ask for a new one');
  if (status === 429)
    return new CapError('limit', 'this session has too many connections: close some, those of its children count too');
  if (status === 503)
    return new CapError(
      'unavailable',
      'the host is there and lets nobody in now (its store fails, or it is overrun): the secret may be right, ask whoever runs the host to look',
    );
  return new CapError('denied', `the host refused the connection (HTTP ${status})`);
}

/**
 * A mask keeps machines between from taking what is said for something else. To an address of this machine there are none, and
 * the mask is zero: making one and taking it off again is a quarter of a call that carries 4 KB.
 */
function maskFor(url: string): { readonly generateMask?: (mask: Buffer) => void } {
  const isHere = /^(?:127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(url).hostname);
  return isHere ? { generateMask: (mask) => void mask.fill(0) } : {};
}

function socketTo(url: string, secret: string, dialect: string): WebSocket {
  try {
    return new WebSocket(url, [dialect], {
      headers: { authorization: `Bearer ${secret}` },
      maxPayload: largestFrame,
      perMessageDeflate: false,
      handshakeTimeout: handshakeMs,
      ...maskFor(url),
    });
  } catch {
    // What it says could quote the secret.
    throw new CapError('invalid', 'this is no address or no secret of a host: copy both from what it printed');
  }
}
