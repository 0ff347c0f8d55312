/**
 * Reads the one request that a program has begun on its connection, with the parser of Node, and writes the answer.
 *
 * It decides nothing. The body is read whole, and decoded if it is compressed. The connection closes after the answer.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { promisify } from 'node:util';
import { gunzip, inflate } from 'node:zlib';
import type { ByteSource } from '@hob/vat';
import { refusal } from '../../base/errors.ts';
import type { BodyPlace } from '../body-room.ts';

/** A request of a program. */
export interface Asked {
  readonly method: string;
  /** The path, with its query. */
  readonly target: string;
  /** In lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** The answer to it. */
export interface Told {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ByteSource | string;
}

interface Exchange {
  /** The most bytes of a body. */
  readonly most: number;
  /** The room for this body. It is given back when the connection is closed. */
  readonly room: BodyPlace;
  readonly idleMs: number;
  /** Must not reject. */
  readonly answer: (asked: Asked) => Promise<Told>;
  /** Called with the bytes of bodies. False: no more may pass. */
  readonly count: (sent: number, received: number) => boolean;
}

const DECODERS = { gzip: promisify(gunzip), 'x-gzip': promisify(gunzip), deflate: promisify(inflate) } as const;
/** They are about a connection, and this one is another. The length may have changed. */
const OWN = /^(?:connection|keep-alive|transfer-encoding|content-length|te|trailer|upgrade|proxy-.*)$/;

/** Resolves when the connection is closed. */
export function serveOne(client: Socket, exchange: Exchange): Promise<void> {
  const closed = new Promise<void>((resolve) => client.once('close', () => resolve()));
  void closed.then(() => exchange.room.end());
  const server = createServer({ maxHeaderSize: 32_768, keepAlive: false }, (request, response) => {
    void answered(request, response, exchange).catch(() => client.destroy());
  });
  // The next one may be for another host.
  server.maxRequestsPerSocket = 1;
  server.on('clientError', () => client.destroy());
  client.setTimeout(exchange.idleMs, () => client.destroy());
  server.emit('connection', client);
  // The door has paused it, after it had read the beginning.
  client.resume();
  if (client.closed) exchange.room.end();
  return client.closed ? Promise.resolve() : closed;
}

async function answered(request: IncomingMessage, response: ServerResponse, exchange: Exchange): Promise<void> {
  const { answer, count } = exchange;
  const told = await bodyOf(request, exchange).then(
    (body) => answer({ method: request.method ?? '', target: request.url ?? '', headers: headersOf(request), body }),
    (error: { readonly code?: unknown; readonly message: string }) => notRead(error),
  );
  const { status, headers, body } = told;
  response.writeHead(status, {
    ...Object.fromEntries(Object.entries(headers).filter(([name]) => !OWN.test(name))),
    connection: 'close',
  });
  if (typeof body === 'string') return void response.end(body);
  try {
    for (let part = await body.next(); part !== undefined; part = await body.next()) {
      if (response.destroyed || !count(0, part.length)) throw refusal('limit');
      if (!response.write(part)) await drained(response);
    }
    response.end();
  } finally {
    await body.return();
  }
}

const notRead = ({ code, message }: { readonly code?: unknown; readonly message: string }): Told => ({
  status: code === 'limit' ? 413 : code === 'unavailable' ? 503 : 400,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body:
    code === 'limit' || code === 'unavailable'
      ? `Hob: ${message}.\n`
      : 'Hob: the body of the request cannot be read.\n',
});

const drained = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const go = (): void => {
      response.off('drain', go).off('close', go);
      resolve();
    };
    response.on('drain', go).on('close', go);
  });

async function bodyOf(request: IncomingMessage, { most, room, count }: Exchange): Promise<Uint8Array> {
  const full = (): Error => refusal('unavailable', 'the requests of this cap fill its room: send this one again later');
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > most) throw refusal('limit', `a request has at most ${most} bytes`);
    if (!count(part.length, 0)) throw refusal('limit');
    if (!room.take(part.length)) throw full();
    parts.push(part);
  }
  const whole = Buffer.concat(parts);
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding === 'identity' || whole.length === 0) return whole;
  const decode = Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding as keyof typeof DECODERS] : undefined;
  if (decode === undefined) throw refusal('invalid');
  // Before it is decoded: many small bodies can become large ones in the same moment.
  const grown = room.decodedMost(whole.length);
  if (!room.take(grown)) throw full();
  return await decode(whole, { maxOutputLength: grown });
}

const headersOf = ({ headers }: IncomingMessage): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : []))); // biome-ignore format: one line
