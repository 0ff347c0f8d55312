/**
 * The host's one open door: WebSockets on loopback.
 *
 * Promise: bound to 127.0.0.1 only; every request that is not a WebSocket with a known secret, or a call on an object by who holds it, gets a
 * short HTTP answer and nothing else; closing ends every socket and frees the port.
 */
import { createServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex as Stream } from 'node:stream';
import { CapError, type Dialect, type Duplex, fromWebSocket, largestFrame } from '@hob/vat';
import { WebSocketServer } from 'ws';
import { admit, chosenDialect, secretOf, strays } from '../entry.ts';
import { type Asked, readCall, type Said, storeFails, strangersCall } from '../object-call.ts';

export interface Listener {
  readonly port: number;
  close(): Promise<void>;
}

/** Most connections that may be open at once: a flood of them must not take every descriptor of the process. */
const mostConnections = 256;
/** How long a connection may take to say who it is, and how often that is looked at. */
const headersMs = 5000;
const lookMs = 1000;

/** What is behind the door. */
export interface Inside<Who> {
  find(secret: string): Promise<Who | undefined>;
  welcome(who: Who, duplex: Duplex, dialect: Dialect): void;
  /** A request about an object. `who` is undefined for a stranger, `call` where the body was none. */
  ask(who: Who | undefined, url: string, call: Asked | undefined, gone: AbortSignal, post: boolean): Promise<Said>;
}

export function listen<Who>(port: number, { find, welcome, ask }: Inside<Who>): Promise<Listener> {
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
    { connectionsCheckingInterval: lookMs, headersTimeout: headersMs },
    (request, response) => {
      response.sendDate = false;
      if (!isObject.test(request.url ?? ''))
        return void response
          .writeHead(426, { 'content-type': 'text/plain', connection: 'close' })
          .end('Hob speaks CapTP over WebSocket.\n');
      const misplaced = strays(
        { host: request.headers.host, origin: request.headers.origin },
        authorities((server.address() as AddressInfo).port),
      );
      const said = misplaced === undefined ? called(request, response) : Promise.resolve(forbidden(misplaced));
      said.catch(() => storeFails).then(({ status, body }) => tell(response, status, body));
    },
  );
  async function called(request: IncomingMessage, response: ServerResponse): Promise<Said> {
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    // All of it is read before anything is looked up: what is wrong with a call tells nothing of its object.
    const body = request.method === 'POST' ? await bodyOf(request) : undefined;
    const secret = secretOf({ authorization: request.headers.authorization, protocols: [] });
    const who = secret === undefined ? undefined : await find(secret);
    if (request.method === 'POST' && who === undefined) return strangersCall;
    const post = request.method === 'POST';
    return ask(who, request.url ?? '', body === undefined ? undefined : readCall(body), gone.signal, post);
  }
  server.maxConnections = mostConnections;
  let closed = false;
  server.on('upgrade', async (request: IncomingMessage, stream: Stream, head: Buffer) => {
    stream.on('error', () => {});
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
    (stream as Socket).setNoDelay?.(true);
    sockets.handleUpgrade(request, stream, head, (socket) =>
      welcome(verdict.who, fromWebSocket(socket), verdict.dialect),
    );
  });
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
