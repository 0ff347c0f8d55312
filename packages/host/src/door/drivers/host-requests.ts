/**
 * The requests to one host: WebSockets, object calls, faces at paths of their own, and pages.
 *
 * Promise: a request that is neither a WebSocket with a known secret, nor an object call, nor for a face or a page,
 * gets a short HTTP reply and nothing else. An error of ours ends the connection that it concerns, and no other. `close`
 * ends the connections of this host, and those of no other host at the same listener.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex as Stream } from 'node:stream';
import { type Dialect, type Duplex, fromWebSocket } from '@hob/vat';
import { largestFrame } from '@hob/vat/wire';
import { WebSocketServer } from 'ws';
import { admit, chosenDialect, secretOf, wrongOrigin } from '../admission.ts';
import type { SlotResult } from '../connection-slots.ts';
import type { HttpFace, HttpSession, OutsideFace } from '../http-face.ts';
import { type HttpPage, PAGE_HEADERS } from '../http-pages.ts';
import { type HttpReply, type ObjectCall, parseCall, storeFails, unknownSecret } from '../object-call.ts';
import type { HostNames } from '../where.ts';
import { callFace, headersOf } from './face-call.ts';
import { OutsideCallers } from './outside-callers.ts';
import { forbidden, noSlot, onlyRead, refuse, sendReply, sendText, tooMany } from './replies.ts';

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

/** The listener passes this along with each request. */
export interface Arrival {
  /** The names that the request may have in `Host`. Undefined if another front door has checked `Host` and `Origin`. */
  readonly names: HostNames | undefined;
  /** Called when the caller has shown a known secret: it is no stranger any more. */
  known(): void;
}

interface Asking extends Arrival {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Serves the requests to one host. Their paths do not have the name of the host. */
export class HostRequests<Who> {
  readonly #handlers: DoorHandlers<Who>;
  readonly #outside = new OutsideCallers();
  readonly #sockets: WebSocketServer;
  /** The streams of WebSockets, and of requests that are under way. */
  readonly #streams = new Set<Stream>();
  #closed = false;

  constructor(handlers: DoorHandlers<Who>) {
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
  }

  /** A request that is no WebSocket. */
  requested(request: IncomingMessage, response: ServerResponse, arrival: Arrival): void {
    this.#streams.add(request.socket);
    response.once('close', () => this.#streams.delete(request.socket));
    fenced(response, this.#handlers.fault, () => this.#requested({ ...arrival, request, response }));
  }

  /** A request for a WebSocket. `head` are bytes that came with it. */
  upgraded(request: IncomingMessage, stream: Stream, head: Buffer, arrival: Arrival): void {
    this.#streams.add(stream);
    stream.once('close', () => this.#streams.delete(stream));
    fenced(stream, this.#handlers.fault, () => this.#upgraded(request, stream, head, arrival));
  }

  close(): void {
    this.#closed = true;
    for (const socket of this.#sockets.clients) socket.terminate();
    this.#sockets.close();
    for (const stream of this.#streams) stream.destroy();
  }

  #requested(asking: Asking): Promise<void> | undefined {
    const { request, response, names } = asking;
    response.sendDate = false;
    const page = this.#handlers.pages?.get(request.url ?? '');
    if (page !== undefined) return void this.#pageAsked(asking, page);
    const face = this.#handlers.faces?.get(request.url ?? '');
    if (face === undefined && !isObject.test(request.url ?? ''))
      return void sendText(response, 426, 'Hob speaks CapTP over WebSocket.');
    const { host, origin } = request.headers;
    const misplaced = wrongOrigin({ host, origin }, names);
    const reply: Promise<HttpReply | undefined> =
      misplaced !== undefined
        ? Promise.resolve(forbidden(misplaced))
        : face === undefined
          ? this.#objectCalled(asking)
          : typeof face === 'function'
            ? this.#faceCalled(asking, face)
            : this.#outsideCalled(asking, face);
    return reply
      .catch(() => storeFails)
      .then((answer) => {
        if (answer !== undefined) sendReply(response, answer.status, answer.body);
      });
  }

  #pageAsked({ request, response, names }: Asking, { type, body }: HttpPage): void {
    const { host, origin } = request.headers;
    const misplaced = wrongOrigin({ host, origin }, names);
    if (misplaced !== undefined) return sendReply(response, 403, forbidden(misplaced).body);
    if (request.method !== 'GET' && request.method !== 'HEAD') return sendReply(response, 405, onlyRead);
    response
      .writeHead(200, { ...PAGE_HEADERS, 'content-type': type, 'content-length': body.length, connection: 'close' })
      .end(request.method === 'HEAD' ? undefined : body);
  }

  /** Returns a refusal, or undefined if the face has answered. */
  async #faceCalled({ request, response, known }: Asking, face: HttpFace): Promise<HttpReply | undefined> {
    const { find, slotForCall, session: sessionOf } = this.#handlers;
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const secret = secretOf({ authorization: request.headers.authorization, protocols: [] });
    const who = secret === undefined ? undefined : await find(secret, true);
    const session = who === undefined ? undefined : sessionOf?.(who);
    if (who === undefined || session === undefined) return unknownSecret;
    known();
    const slot = await slotForCall(who, gone.signal);
    if (!slot.ok) return noSlot(slot);
    releasedWith(response, slot.release);
    return await callFace({ request, response, gone: gone.signal, fault: this.#handlers.fault }, (given) => face(given, session)); // biome-ignore format: one line
  }

  /** Returns a refusal, or undefined if the face has answered. */
  async #outsideCalled({ request, response, known }: Asking, face: OutsideFace): Promise<HttpReply | undefined> {
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const caller = await face.know(headersOf(request));
    if (caller === undefined) return unknownSecret;
    const { proofInBody } = face;
    // A caller whose proof is in the body is a stranger until its answer: it takes no place of a known one.
    if (proofInBody === undefined) {
      known();
      const release = this.#outside.take(request.url ?? '', caller);
      if (release === undefined) return tooMany;
      releasedWith(response, release);
    }
    return await callFace({ request, response, gone: gone.signal, fault: this.#handlers.fault }, (given) => face.answer(given, caller), proofInBody); // biome-ignore format: one line
  }

  async #objectCalled({ request, response, known }: Asking): Promise<HttpReply> {
    const { find, slotForCall, callObject } = this.#handlers;
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const post = request.method === 'POST';
    const secret = secretOf({ authorization: request.headers.authorization, protocols: [] });
    // Before the body is read: only a caller with a known secret has a slot to wait in.
    const who = secret === undefined ? undefined : await find(secret);
    if (who === undefined)
      return post ? unknownSecret : callObject({ who: undefined, url: '', call: undefined, gone: gone.signal, post });
    known();
    const slot = await slotForCall(who, gone.signal);
    if (!slot.ok) return noSlot(slot);
    releasedWith(response, slot.release);
    // The whole body is read before the object is looked up. An error in a call then says nothing about its
    // object.
    const body = post ? await bodyOf(request) : undefined;
    const call = body === undefined ? undefined : parseCall(body);
    return callObject({ who, url: request.url ?? '', call, gone: gone.signal, post });
  }

  async #upgraded(request: IncomingMessage, stream: Stream, head: Buffer, { names, known }: Arrival): Promise<void> {
    const { find, slot: takeSlot, welcome } = this.#handlers;
    const { host, origin, authorization } = request.headers;
    const protocols = (request.headers['sec-websocket-protocol'] ?? '')
      .split(',')
      .map((protocol) => protocol.trim())
      .filter((protocol) => protocol !== '');
    const beside = request.url === BESIDE;
    const knock = { host, origin, authorization, protocols };
    const admission = await admit(knock, names, (secret) => find(secret, beside));
    if (this.#closed) return void stream.destroy();
    if (!admission.ok) return refuse(stream, admission.status, admission.reason);
    if (stream.destroyed) return;
    const slot = takeSlot(admission.who, () => stream.destroy());
    if (!slot.ok) return refuse(stream, slot.status, slot.reason);
    stream.once('close', slot.release);
    known();
    (stream as Socket).setNoDelay?.(true);
    this.#sockets.handleUpgrade(request, stream, head, (socket) =>
      welcome(admission.who, fromWebSocket(socket), admission.dialect),
    );
  }
}

/** Runs what a socket brings about. An error of ours ends that socket, and not the process. */
export function fenced(
  socket: { destroy(): unknown },
  fault: (error: unknown) => void,
  body: () => void | Promise<void>,
): void {
  const faulty = (error: unknown): void => {
    fault(error);
    socket.destroy();
  };
  try {
    body()?.catch(faulty);
  } catch (error) {
    faulty(error);
  }
}

/** Gives a slot back when its response is over. */
function releasedWith(response: ServerResponse, release: () => void): void {
  if (response.destroyed) release();
  else response.once('close', release);
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
