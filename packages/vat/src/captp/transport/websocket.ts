/** WebSockets as duplexes. Network access of the wire is only in this file. */
import type { Writable } from 'node:stream';
import { rootCertificates } from 'node:tls';
import { WebSocket } from 'ws';
import { CapError } from '../../core/errors.ts';
import { takeOptions } from '../../core/options.ts';
import { closeCodes, type Duplex, Inbox } from '../session/duplex.ts';
import { type BrowserSocket, closeText, fromBrowserSocket } from './browser-socket.ts';

/** The socket itself refuses larger frames, before they are in memory (close code 1009). */
export const largestFrame: number = 1 << 20;

/**
 * Time for a peer to answer a close before the socket is cut. It is longer than `longestPauseMs`, for which the peer
 * may not read. Otherwise frames that were sent before the close could be lost.
 */
const closeGraceMs = 3000;

/** Time for a host to complete the handshake. */
const handshakeMs = 10_000;

/** Interval of pings, and the number of unanswered pings after which a peer counts as gone. */
const pingMs = 10_000;
const unanswered = 2;

/**
 * Makes a duplex from a `ws` WebSocket of a server or a client (it sets TCP_NODELAY itself), or from a
 * browser's WebSocket.
 */
export function fromWebSocket(socket: object, options?: { readonly pingMs?: number }): Duplex {
  const given = takeOptions(options, 'fromWebSocket', { pingMs: true });
  if (socket instanceof WebSocket) return new NodeSocket(socket, given.pingMs ?? pingMs);
  if (typeof (socket as { addEventListener?: unknown }).addEventListener === 'function')
    return fromBrowserSocket(socket as BrowserSocket);
  throw new CapError('invalid', 'this is not a WebSocket: pass one of the ws package, or of a browser');
}

/**
 * A pause lasts at most this long, whatever the reasons for it. During a pause the peer does not count as gone, and its
 * own pings get no answer.
 */
const longestPauseMs = 2000;

class NodeSocket implements Duplex {
  readonly #socket: WebSocket;
  readonly #inbox = new Inbox();
  #pings: ReturnType<typeof setInterval> | undefined;
  #said: { readonly code: number; readonly reason: string } | undefined;
  #cut: ReturnType<typeof setTimeout> | undefined;
  #silent = 0;
  #gathers = false;
  #owedMs = 0;
  #isFull: () => boolean = () => false;
  #pausedAt = 0;
  #slowed: ReturnType<typeof setTimeout> | undefined;

  constructor(socket: WebSocket, everyMs: number) {
    this.#socket = socket;
    const on = (event: string, then: (...args: never[]) => void): void =>
      void socket.on(event, this.#inbox.guard(then as (...args: unknown[]) => void));
    // The first frame can come with the answer to the upgrade, before the dialler knows that the socket is
    // open.
    on('message', (data: Buffer, binary: boolean) => {
      this.#silent = 0;
      this.#inbox.frame(binary ? new Uint8Array(data.buffer, data.byteOffset, data.length) : data.toString('utf8'));
    });
    on('pong', () => {
      this.#silent = 0;
    });
    on('ping', () => this.#pinged());
    // A frame over the limit, or malformed bytes: `ws` closes with the right code by itself.
    on('error', () => {});
    on('close', (code: number, reason: Buffer) => {
      clearTimeout(this.#cut);
      clearInterval(this.#pings);
      clearTimeout(this.#slowed);
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

  /**
   * `ws` answers pings by itself. It cuts a peer that does not read the answers (60 may wait). Only the
   * reason of the close is set here.
   */
  #pinged(): void {
    if (this.#socket.readyState === WebSocket.OPEN) return;
    this.#said ??= { code: closeCodes.protocol, reason: 'the peer does not read what it asked for' };
  }

  /** If the machine of a peer is gone, no read fails for hours. So pings are sent. */
  #ping(): void {
    // A slowed peer gets no ping, because its pong would not be read.
    if (this.#socket.readyState !== WebSocket.OPEN || this.#slowed !== undefined) return;
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

  /** Bytes leave together with the frame that names them. In two pieces they would wake the peer twice. */
  #gather(): void {
    // A private member of `ws` that is always set.
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

  slow(ms: number): void {
    if (this.#isDialled) return;
    this.#owedMs += ms;
    this.#pause();
  }

  hold(isFull: () => boolean): void {
    if (this.#isDialled) return;
    this.#isFull = isFull;
    this.#pause();
  }

  /** A socket that this side dialled carries calls of all sessions of a host. One session must not slow the others. */
  get #isDialled(): boolean {
    return this.#socket.url !== undefined;
  }

  #pause(): void {
    if (this.#inbox.ended || this.#slowed !== undefined) return;
    this.#socket.pause();
    this.#pausedAt = performance.now();
    this.#readLater();
  }

  #readLater(): void {
    const owed = this.#owedMs;
    const leftMs = (): number => this.#pausedAt + longestPauseMs - performance.now();
    this.#slowed = setTimeout(
      this.#inbox.guard(() => {
        this.#owedMs -= owed;
        if (leftMs() > 0 && (this.#owedMs > 0 || this.#isFull())) return this.#readLater();
        this.#owedMs = 0;
        this.#slowed = undefined;
        this.#socket.resume();
      }),
      Math.max(Math.min(owed, leftMs()), 1),
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
    // A peer that never answers must not hold a descriptor for ever.
    this.#cut ??= setTimeout(
      this.#inbox.guard(() => this.#socket.terminate()),
      closeGraceMs,
    );
  }
}

/** How a program enters a host. `ca` has more certificates that may sign the host's (PEM). */
interface DialOptions {
  readonly secret: string;
  readonly dialect: string;
  readonly patienceMs?: number | undefined;
  readonly ca?: string | undefined;
}

/** The waits between two tries, while a host admits nobody (HTTP 503). */
const firstWaitMs = 100;
const longestWaitMs = 2000;
/** Default limit of all waits together. */
const patienceMs = 30_000;

/**
 * Dials a host and enters with `secret`.
 *
 * A host whose store fails cannot check the secret, and may be restarted soon. So the call tries again, with
 * growing waits of at most `patience` ms in all. Rejects with `unavailable` when the waits are used up,
 * `denied` if the host refuses the secret, `limit` if the session has too many connections, `disconnected` if
 * no host answers, and `invalid`.
 */
export async function dial(url: string, { patienceMs: patience = patienceMs, ...entry }: DialOptions): Promise<Duplex> {
  let waited = 0;
  for (let wait = firstWaitMs; ; wait = Math.min(2 * wait, longestWaitMs)) {
    try {
      return await dialOnce(url, entry);
    } catch (error) {
      const { code } = error as CapError;
      // A host that was there before and is gone now is probably being restarted.
      const mayPass = code === 'unavailable' || (code === 'disconnected' && waited > 0);
      if (!mayPass || waited >= patience) throw error;
    }
    const ms = Math.min(wait, patience - waited);
    await new Promise((resolve) => setTimeout(resolve, ms));
    waited += ms;
  }
}

function dialOnce(url: string, entry: DialOptions): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const socket = socketTo(url, entry);
    const failed = (error: Error): void =>
      reject(
        error instanceof CapError
          ? error
          : new CapError(
              'disconnected',
              'no host answers at this address: check that it runs, and that the address is right',
            ),
      );
    socket.once('unexpected-response', (request, response) => {
      failed(refusedWith(response.statusCode ?? 0));
      request.destroy();
    });
    socket.once('error', failed);
    // The socket is wrapped before it opens, because the first frame may come with the answer to the upgrade.
    const duplex = fromWebSocket(socket);
    socket.once('open', () => resolve(duplex));
  });
}

function refusedWith(status: number): CapError {
  if (status === 401) return new CapError('denied', 'the host does not know this secret: ask for a new one');
  if (status === 429)
    return new CapError('limit', 'this session has too many connections (those of its children count too): close some');
  if (status === 503)
    return new CapError(
      'unavailable',
      'the host accepts no connection now (its store fails, its machine is away, or it has too many): keep the secret, and ask whoever runs the host to look',
    );
  if (status === 404)
    return new CapError('denied', 'no host has this name at this address: check the last part of the address');
  return new CapError('denied', `the host refused the connection (HTTP ${status})`);
}

/**
 * A mask prevents proxies from taking frames for another protocol. To an address of this machine there are no
 * proxies, so the mask is zero. Making and removing a mask is a quarter of the cost of a call that carries 4
 * KB.
 */
function maskFor(url: string): { readonly generateMask?: (mask: Buffer) => void } {
  const { protocol, hostname } = new URL(url);
  const isHere = protocol === 'ws+unix:' || (protocol === 'ws:' && /^(?:127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname));
  return isHere ? { generateMask: (mask) => void mask.fill(0) } : {};
}

function socketTo(url: string, { secret, dialect, ca }: DialOptions): WebSocket {
  try {
    return new WebSocket(url, [dialect], {
      headers: { authorization: `Bearer ${secret}` },
      maxPayload: largestFrame,
      perMessageDeflate: false,
      handshakeTimeout: handshakeMs,
      // Node's own list ends where another one is given.
      ...(ca === undefined ? {} : { ca: [...rootCertificates, ca] }),
      ...maskFor(url),
    });
  } catch {
    // The error text is replaced, because it could quote the secret.
    throw new CapError('invalid', 'the address or the secret is malformed: copy both from what the host printed');
  }
}
