/**
 * One place where a host listens: WebSockets, object calls, and other protocols at paths of their own.
 *
 * Promise: without TLS it is on loopback or a Unix socket only. A request that is neither a WebSocket with a
 * known secret, nor an object call, nor for a face, gets a short HTTP reply and nothing else. Unknown
 * clients, sessions and granters have separate limits, so none keeps another out. Closing ends every socket
 * and frees the port.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex as Stream } from 'node:stream';
import { CapError, type Dialect, type Duplex, fromWebSocket } from '@hob/vat';
import { largestFrame } from '@hob/vat/wire';
import { WebSocketServer } from 'ws';
import { admit, chosenDialect, secretOf, wrongOrigin } from '../admission.ts';
import type { SlotResult } from '../connection-slots.ts';
import type { HttpFace, HttpSession, OutsideFace } from '../http-face.ts';
import { type HttpPage, PAGE_HEADERS } from '../http-pages.ts';
import { type HttpReply, type ObjectCall, parseCall, storeFails, unknownSecret } from '../object-call.ts';
import type { HostNames, ListenPlace } from '../where.ts';
import { callFace, headersOf } from './face-call.ts';
import { http, https } from './node-http.ts';
import { OutsideCallers } from './outside-callers.ts';
import { forbidden, noSlot, onlyRead, sendReply, tooMany } from './replies.ts';
import { limitHandshakes } from './tls-handshakes.ts';
import { UnauthenticatedSockets } from './unauthenticated-sockets.ts';
import { listenOn, type SocketFile } from './unix-socket.ts';

export interface Listener {
  readonly url: string;
  /** Values of `Origin`: of its own pages. */
  origins(): readonly string[];
  close(): Promise<void>;
}

/** The time for a whole request to arrive, headers and body, and the interval of that check. */
const requestMs = 5000;
const checkIntervalMs = 1000;

/** A request about an object. `who` is undefined for an unknown secret, `call` where the body is no call. */
export interface ObjectRequest<Who> {
  readonly who: Who | undefined;
  readonly url: string;
  readonly call: ObjectCall | undefined;
  /** Fires when the caller hangs up. */
  readonly gone: AbortSignal;
  readonly post: boolean;
}

/** The functions that the host gives to the listener. */
export interface DoorHandlers<Who> {
  /** `beside`: the connection leaves the others of its session open. */
  find(secret: string, beside?: boolean): Promise<Who | undefined>;
  /** Takes a slot for a socket. `end` closes the socket. */
  slot(who: Who, end: () => void): SlotResult;
  /** Takes a slot for an HTTP call. */
  slotForCall(who: Who, gone: AbortSignal): Promise<SlotResult>;
  welcome(who: Who, duplex: Duplex, dialect: Dialect): void;
  callObject(request: ObjectRequest<Who>): Promise<HttpReply>;
  /** Other protocols, by their paths. */
  readonly faces?: ReadonlyMap<string, HttpFace | OutsideFace>;
  /** Texts that everybody may read, by their paths. */
  readonly pages?: ReadonlyMap<string, HttpPage>;
  /** The session of a caller, for a face. Undefined if the caller is none. */
  session?(who: Who): HttpSession | undefined;
  /** Logs an error of ours. Nobody outside sees it. */
  fault(error: unknown): void;
}

/** Listens at a place. Errors: `unavailable` (the port is taken), `invalid` (certificate or key). */
export function listen<Who>(place: ListenPlace, handlers: DoorHandlers<Who>): Promise<Listener> {
  return new Door(place, handlers).listen();
}

class Door<Who> {
  readonly #place: ListenPlace;
  readonly #handlers: DoorHandlers<Who>;
  readonly #unauthenticated = new UnauthenticatedSockets();
  readonly #server: Server;
  #beside: Server | undefined;
  readonly #outside = new OutsideCallers();
  readonly #sockets: WebSocketServer;
  readonly #endHandshakes: () => void = () => {};
  #file: SocketFile | undefined;
  #closed = false;

  constructor(place: ListenPlace, handlers: DoorHandlers<Who>) {
    this.#place = place;
    this.#handlers = handlers;
    this.#sockets = new WebSocketServer({
      noServer: true,
      maxPayload: largestFrame,
      perMessageDeflate: false,
      // Frames of all connections take turns. Otherwise a connection that floods is read to its end first.
      allowSynchronousEvents: false,
      // `ws` sends the chosen subprotocol back, so it must not be the one that carries the secret.
      handleProtocols: (offered) => chosenDialect([...offered]) ?? false,
    });
    this.#server = this.#newServer();
    if (place.tls !== undefined) this.#endHandshakes = limitHandshakes(this.#server);
  }

  #newServer(): Server {
    const { tls } = this.#place;
    const server = serverFor(tls, (request, response) =>
      this.#fenced(response, () => this.#requested(request, response)),
    );
    // With TLS this is after the handshake, which has a time limit of its own.
    server.on(tls === undefined ? 'connection' : 'secureConnection', (socket: Socket) =>
      this.#fenced(socket, () => this.#unauthenticated.opened(socket)),
    );
    server.on('upgrade', (request: IncomingMessage, stream: Stream, head: Buffer) => {
      stream.on('error', () => {});
      this.#fenced(stream, () => this.#upgraded(request, stream, head));
    });
    return server;
  }

  async listen(): Promise<Listener> {
    const { at } = this.#place;
    if ('path' in at) this.#file = await listenOn(this.#server, at.path);
    else await this.#listenAt(at);
    return { url: this.#place.url(this.#port), origins: () => this.#names.origins, close: () => this.#close() };
  }

  /** With pages, it is the only program at both addresses of `localhost`: a browser may take either. */
  async #listenAt(at: { readonly host: string; readonly port: number }): Promise<void> {
    const { besideHost } = this.#place;
    for (let tries = 1; ; tries += 1) {
      await listening(this.#server, at.port, at.host).catch((error) => {
        throw listenError(error, at);
      });
      if (besideHost === undefined || (this.#handlers.pages?.size ?? 0) === 0) return;
      const beside = this.#newServer();
      try {
        await listening(beside, this.#port, besideHost);
        this.#beside = beside;
        return;
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        // A machine without IPv6: nobody else can listen there either.
        if (code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT') return;
        const port = this.#port;
        await new Promise((done) => this.#server.close(done));
        if (at.port !== 0 || tries === 5) throw listenError(error as NodeJS.ErrnoException, { host: besideHost, port });
      }
    }
  }

  /** 0 for a Unix socket. */
  get #port(): number {
    const address = this.#server.address();
    return typeof address === 'object' ? ((address as AddressInfo | null)?.port ?? 0) : 0;
  }

  get #names(): HostNames {
    return this.#place.names(this.#port);
  }

  #close(): Promise<void> {
    return new Promise((done) => {
      this.#closed = true;
      for (const socket of this.#sockets.clients) socket.terminate();
      this.#sockets.close();
      const closeMain = (): void => void this.#server.close(() => done());
      const beside = this.#beside;
      const close = (): void => void (beside === undefined ? closeMain() : beside.close(closeMain));
      if (this.#file === undefined) close();
      else this.#file.closing(close);
      this.#server.closeAllConnections();
      this.#beside?.closeAllConnections();
      this.#endHandshakes();
    });
  }

  /** Runs what a socket brings about. An error of ours ends that socket, and not the process. */
  #fenced(socket: { destroy(): unknown }, body: () => void | Promise<void>): void {
    const faulty = (error: unknown): void => {
      this.#handlers.fault(error);
      socket.destroy();
    };
    try {
      body()?.catch(faulty);
    } catch (error) {
      faulty(error);
    }
  }

  #requested(request: IncomingMessage, response: ServerResponse): Promise<void> | undefined {
    this.#unauthenticated.requestArrived(request.socket);
    response.sendDate = false;
    const page = this.#handlers.pages?.get(request.url ?? '');
    if (page !== undefined) return void this.#pageAsked(request, response, page);
    const face = this.#handlers.faces?.get(request.url ?? '');
    if (face === undefined && !isObject.test(request.url ?? '')) {
      response
        .writeHead(426, { 'content-type': 'text/plain', connection: 'close' })
        .end('Hob speaks CapTP over WebSocket.\n');
      return undefined;
    }
    const { host, origin } = request.headers;
    const misplaced = wrongOrigin({ host, origin }, this.#names);
    const reply: Promise<HttpReply | undefined> =
      misplaced !== undefined
        ? Promise.resolve(forbidden(misplaced))
        : face === undefined
          ? this.#objectCalled(request, response)
          : typeof face === 'function'
            ? this.#faceCalled(request, response, face)
            : this.#outsideCalled(request, response, face);
    return reply
      .catch(() => storeFails)
      .then((answer) => {
        if (answer !== undefined) sendReply(response, answer.status, answer.body);
      });
  }

  #pageAsked(request: IncomingMessage, response: ServerResponse, { type, body }: HttpPage): void {
    const { host, origin } = request.headers;
    const misplaced = wrongOrigin({ host, origin }, this.#names);
    if (misplaced !== undefined) return sendReply(response, 403, forbidden(misplaced).body);
    if (request.method !== 'GET' && request.method !== 'HEAD') return sendReply(response, 405, onlyRead);
    response
      .writeHead(200, { ...PAGE_HEADERS, 'content-type': type, 'content-length': body.length, connection: 'close' })
      .end(request.method === 'HEAD' ? undefined : body);
  }

  /** Returns a refusal, or undefined if the face has answered. */
  async #faceCalled(
    request: IncomingMessage,
    response: ServerResponse,
    face: HttpFace,
  ): Promise<HttpReply | undefined> {
    const { find, slotForCall, session: sessionOf } = this.#handlers;
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const secret = secretOf({ authorization: request.headers.authorization, protocols: [] });
    const who = secret === undefined ? undefined : await find(secret, true);
    const session = who === undefined ? undefined : sessionOf?.(who);
    if (who === undefined || session === undefined) return unknownSecret;
    this.#unauthenticated.remove(request.socket);
    const slot = await slotForCall(who, gone.signal);
    if (!slot.ok) return noSlot(slot);
    releasedWith(response, slot.release);
    return await callFace({ request, response, gone: gone.signal, fault: this.#handlers.fault }, (given) => face(given, session)); // biome-ignore format: one line
  }

  /** Returns a refusal, or undefined if the face has answered. */
  async #outsideCalled(
    request: IncomingMessage,
    response: ServerResponse,
    face: OutsideFace,
  ): Promise<HttpReply | undefined> {
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const caller = await face.know(headersOf(request));
    if (caller === undefined) return unknownSecret;
    const { proofInBody } = face;
    // A caller whose proof is in the body is a stranger until its answer: it takes no place of a known one.
    if (proofInBody === undefined) {
      this.#unauthenticated.remove(request.socket);
      const release = this.#outside.take(request.url ?? '', caller);
      if (release === undefined) return tooMany;
      releasedWith(response, release);
    }
    return await callFace({ request, response, gone: gone.signal, fault: this.#handlers.fault }, (given) => face.answer(given, caller), proofInBody); // biome-ignore format: one line
  }

  async #objectCalled(request: IncomingMessage, response: ServerResponse): Promise<HttpReply> {
    const { find, slotForCall, callObject } = this.#handlers;
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const post = request.method === 'POST';
    const secret = secretOf({ authorization: request.headers.authorization, protocols: [] });
    // Before the body is read: only a caller with a known secret has a slot to wait in.
    const who = secret === undefined ? undefined : await find(secret);
    if (who === undefined)
      return post ? unknownSecret : callObject({ who: undefined, url: '', call: undefined, gone: gone.signal, post });
    this.#unauthenticated.remove(request.socket);
    const slot = await slotForCall(who, gone.signal);
    if (!slot.ok) return noSlot(slot);
    releasedWith(response, slot.release);
    // The whole body is read before the object is looked up. An error in a call then says nothing about its
    // object.
    const body = post ? await bodyOf(request) : undefined;
    const call = body === undefined ? undefined : parseCall(body);
    return callObject({ who, url: request.url ?? '', call, gone: gone.signal, post });
  }

  async #upgraded(request: IncomingMessage, stream: Stream, head: Buffer): Promise<void> {
    const { find, slot: takeSlot, welcome } = this.#handlers;
    this.#unauthenticated.requestArrived(request.socket);
    const { host, origin, authorization } = request.headers;
    const protocols = (request.headers['sec-websocket-protocol'] ?? '')
      .split(',')
      .map((protocol) => protocol.trim())
      .filter((protocol) => protocol !== '');
    const beside = request.url === BESIDE;
    const knock = { host, origin, authorization, protocols };
    const admission = await admit(knock, this.#names, (secret) => find(secret, beside));
    if (this.#closed) return void stream.destroy();
    if (!admission.ok) return refuse(stream, admission.status, admission.reason);
    if (stream.destroyed) return;
    const slot = takeSlot(admission.who, () => stream.destroy());
    if (!slot.ok) return refuse(stream, slot.status, slot.reason);
    stream.once('close', slot.release);
    this.#unauthenticated.remove(request.socket);
    (stream as Socket).setNoDelay?.(true);
    this.#sockets.handleUpgrade(request, stream, head, (socket) =>
      welcome(admission.who, fromWebSocket(socket), admission.dialect),
    );
  }
}

/** Gives a slot back when its response is over. */
function releasedWith(response: ServerResponse, release: () => void): void {
  if (response.destroyed) release();
  else response.once('close', release);
}

function listening(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host, ipv6Only: true }, () => {
      server.removeListener('error', reject);
      resolve();
    });
  });
}

/** Its requests have to arrive in time. Errors: `invalid`. */
function serverFor(
  tls: ListenPlace['tls'],
  then: (request: IncomingMessage, response: ServerResponse) => void,
): Server {
  const limits = { connectionsCheckingInterval: checkIntervalMs, headersTimeout: requestMs, requestTimeout: requestMs };
  if (tls === undefined) return http.createServer(limits, then);
  try {
    return https.createServer({ ...limits, handshakeTimeout: requestMs, minVersion: 'TLSv1.2', ...tls }, then);
  } catch {
    // The error of the library could quote the key.
    throw new CapError('invalid', 'the certificate or the key is not PEM, or they do not belong together');
  }
}

function listenError({ code }: NodeJS.ErrnoException, { host, port }: { host: string; port: number }): CapError {
  if (code === 'EACCES')
    return new CapError(
      'unavailable',
      `port ${port} is for programs of root: give one from 1024 on with --port, or 0 for any`,
    );
  return new CapError(
    'unavailable',
    code === 'EADDRINUSE'
      ? `port ${port} is taken: give another one with --port, or 0 for any`
      : host === '127.0.0.1'
        ? 'the host cannot listen on 127.0.0.1: check that this machine has a loopback interface'
        : 'the host cannot listen on this address: check that this machine has it',
  );
}

const isObject = /^\/object\//;
/** The path of a socket that leaves the other connections of its session open (`docs/wire.md`). */
const BESIDE = '/beside';
/** The largest HTTP call. Larger calls go over CapTP. */
const largestCall = 256 << 10;

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request) {
    bytes += (part as Buffer).length;
    if (bytes > largestCall) return '';
    parts.push(part as Buffer);
  }
  return Buffer.concat(parts).toString('utf8');
}

function refuse(stream: Stream, status: number, reason: string): void {
  // Destroyed, and not only ended: a peer that keeps its half open would hold the descriptor, and HTTP's
  // time limits end with the upgrade.
  stream.once('finish', () => stream.destroy());
  const body = `${reason}\n`;
  stream.end(
    `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\nconnection: close\r\ncontent-type: text/plain\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
