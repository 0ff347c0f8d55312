/**
 * The host's one open door: WebSockets on loopback.
 *
 * Promise: bound to 127.0.0.1 only; every request that is not a WebSocket with a known secret, or a call on an object by who holds it, gets a
 * short HTTP answer and nothing else; strangers, sessions and granters have places of their own, so none keeps another out; closing ends every socket and frees the port.
 */
import { createServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex as Stream } from 'node:stream';
import { CapError, type Dialect, type Duplex, fromWebSocket, largestFrame } from '@hob/vat';
import { WebSocketServer } from 'ws';
import { admit, chosenDialect, secretOf, strays } from '../entry.ts';
import { type Asked, readCall, type Said, storeFails, strangersCall } from '../object-call.ts';
import type { Place } from '../places.ts';

export interface Listener {
  readonly port: number;
  close(): Promise<void>;
}

/** How long a whole request may take to arrive, headers and body, and how often that is looked at. */
const requestMs = 5000;
const lookMs = 1000;
/** Sockets that have said nothing whole yet, and those whose secret is being looked up. */
const mostSilent = 64;
const mostAsking = 512;

/** What is behind the door. */
export interface Inside<Who> {
  find(secret: string): Promise<Who | undefined>;
  /** A place for a socket. `end` cuts it. */
  place(who: Who, end: () => void): Place;
  /** A place for a call by HTTP. */
  placeForCall(who: Who, gone: AbortSignal): Promise<Place>;
  welcome(who: Who, duplex: Duplex, dialect: Dialect): void;
  /** A request about an object. `who` is undefined for a stranger, `call` where the body was none. */
  ask(who: Who | undefined, url: string, call: Asked | undefined, gone: AbortSignal, post: boolean): Promise<Said>;
  /** Takes note of an error of ours. Nobody outside is told. */
  fault(error: unknown): void;
}

export function listen<Who>(port: number, inside: Inside<Who>): Promise<Listener> {
  const { find, place, placeForCall, welcome, ask, fault } = inside;
  /** Everything that a socket brings about: an error of ours there ends that socket, and not the process. */
  const fenced = (socket: { destroy(): unknown }, body: () => void | Promise<void>): void => {
    const faulty = (error: unknown): void => {
      fault(error);
      socket.destroy();
    };
    try {
      body()?.catch(faulty);
    } catch (error) {
      faulty(error);
    }
  };
  // `ws` echoes the chosen subprotocol: never one that carries a secret.
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: largestFrame,
    perMessageDeflate: false,
    // One frame of a connection at a time, then what the others sent: else one that floods is heard to its end first.
    allowSynchronousEvents: false,
    handleProtocols: (offered) => chosenDialect([...offered]) ?? false,
  });
  const server = createServer(
    { connectionsCheckingInterval: lookMs, headersTimeout: requestMs, requestTimeout: requestMs },
    (request, response) => fenced(response, () => requested(request, response)),
  );
  function requested(request: IncomingMessage, response: ServerResponse): Promise<void> | undefined {
    strangers.speaks(request.socket);
    response.sendDate = false;
    if (!isObject.test(request.url ?? '')) {
      response
        .writeHead(426, { 'content-type': 'text/plain', connection: 'close' })
        .end('Hob speaks CapTP over WebSocket.\n');
      return undefined;
    }
    const misplaced = strays(
      { host: request.headers.host, origin: request.headers.origin },
      authorities((server.address() as AddressInfo).port),
    );
    const said = misplaced === undefined ? called(request, response) : Promise.resolve(forbidden(misplaced));
    return said.catch(() => storeFails).then(({ status, body }) => tell(response, status, body));
  }
  async function called(request: IncomingMessage, response: ServerResponse): Promise<Said> {
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const post = request.method === 'POST';
    const secret = secretOf({ authorization: request.headers.authorization, protocols: [] });
    // Before the body is waited for: who has shown no secret has no place to wait at.
    const who = secret === undefined ? undefined : await find(secret);
    if (who === undefined) return post ? strangersCall : ask(undefined, '', undefined, gone.signal, post);
    strangers.known(request.socket);
    const taken = await placeForCall(who, gone.signal);
    if (!taken.ok) return noPlace(taken);
    if (response.destroyed) taken.leave();
    response.once('close', taken.leave);
    // All of it is read before the object is looked up: what is wrong with a call tells nothing of its object.
    const body = post ? await bodyOf(request) : undefined;
    return ask(who, request.url ?? '', body === undefined ? undefined : readCall(body), gone.signal, post);
  }
  const strangers = new Strangers();
  server.on('connection', (socket: Socket) => fenced(socket, () => strangers.comes(socket)));
  let closed = false;
  server.on('upgrade', (request: IncomingMessage, stream: Stream, head: Buffer) => {
    stream.on('error', () => {});
    fenced(stream, () => upgraded(request, stream, head));
  });
  async function upgraded(request: IncomingMessage, stream: Stream, head: Buffer): Promise<void> {
    strangers.speaks(request.socket);
    const verdict = await admit(
      {
        host: request.headers.host,
        origin: request.headers.origin,
        authorization: request.headers.authorization,
        protocols: (request.headers['sec-websocket-protocol'] ?? '')
          .split(',')
          .map((protocol) => protocol.trim())
          .filter((protocol) => protocol !== ''),
      },
      authorities((server.address() as AddressInfo).port),
      find,
    );
    if (closed) return void stream.destroy();
    if (!verdict.ok) return refuse(stream, verdict.status, verdict.reason);
    if (stream.destroyed) return;
    const taken = place(verdict.who, () => stream.destroy());
    if (!taken.ok) return refuse(stream, taken.status, taken.reason);
    stream.once('close', taken.leave);
    strangers.known(request.socket);
    (stream as Socket).setNoDelay?.(true);
    sockets.handleUpgrade(request, stream, head, (socket) =>
      welcome(verdict.who, fromWebSocket(socket), verdict.dialect),
    );
  }
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        new CapError(
          'unavailable',
          error.code === 'EADDRINUSE'
            ? `port ${port} is taken: give another one with --port, or 0 for any`
            : 'the host cannot listen on 127.0.0.1',
        ),
      ),
    );
    server.listen(port, '127.0.0.1', () =>
      resolve({
        port: (server.address() as AddressInfo).port,
        close: () =>
          new Promise((done) => {
            closed = true;
            for (const socket of sockets.clients) socket.terminate();
            sockets.close();
            server.close(() => done());
            server.closeAllConnections();
          }),
      }),
    );
  });
}

/**
 * Sockets that have shown no secret that is known. There may be few of them: where one more comes the oldest is cut, so whoever says at once who it
 * is gets in, however many hold on to a socket and say nothing.
 */
class Strangers {
  /** Oldest first. */
  readonly #silent = new Set<Socket>();
  readonly #asking = new Set<Socket>();
  readonly #heard = new WeakSet<Socket>();

  comes(socket: Socket): void {
    socket.once('close', () => this.known(socket));
    // Two rounds of the loop later it has been read from: a crowd that comes in one round cuts nobody whose request is here already.
    setImmediate(() => setImmediate(() => this.#stays(socket)));
  }

  /** Its request has come: all of it, or all but its body. */
  speaks(socket: Socket): void {
    this.#heard.add(socket);
    this.#silent.delete(socket);
    this.#asking.add(socket);
    if (this.#asking.size > mostAsking) cutOldest(this.#asking);
  }

  /** It needs no place among the strangers any more. */
  known(socket: Socket): void {
    this.#silent.delete(socket);
    this.#asking.delete(socket);
  }

  #stays(socket: Socket): void {
    if (socket.destroyed || this.#heard.has(socket)) return;
    this.#silent.add(socket);
    if (this.#silent.size > mostSilent) cutOldest(this.#silent);
  }
}

function cutOldest(sockets: Set<Socket>): void {
  const [oldest] = sockets;
  if (oldest === undefined) return;
  sockets.delete(oldest);
  oldest.destroy();
}

type Refusal = Exclude<Place, { readonly ok: true }>;

const isObject = /^\/object\//;
/** A call by HTTP is a small thing; larger ones go over CapTP. */
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

const noPlace = ({ status, code, reason }: Refusal): Said => ({
  status,
  body: JSON.stringify({ code, message: reason }),
});

const forbidden = (why: string): Said => ({ status: 403, body: JSON.stringify({ code: 'denied', message: why }) });

function tell(response: ServerResponse, status: number, body: string): void {
  const text = `${body}\n`;
  response
    .writeHead(status, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
      'cache-control': 'no-store',
      connection: 'close',
    })
    .end(text);
}

const authorities = (port: number): readonly string[] =>
  ['127.0.0.1', 'localhost', '[::1]'].map((name) => `${name}:${port}`);

function refuse(stream: Stream, status: number, reason: string): void {
  // Not only ended: a peer that keeps its half open would hold the descriptor, and after an upgrade no time limit of HTTP applies.
  stream.once('finish', () => stream.destroy());
  const body = `${reason}\n`;
  stream.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\ncontent-type: text/plain\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
