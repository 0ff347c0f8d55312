/**
 * Carries one request to the machine that serves its host, and the answer back.
 *
 * Promise: the request and its headers are passed on unchanged. A slow reader holds the writer back, in both directions.
 * When one side ends, the other one does. The bytes of a WebSocket are not looked at.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex as Stream } from 'node:stream';
import type { HostElsewhere } from '../front-door.ts';
import { fenced } from './host-requests.ts';
import { http } from './node-http.ts';
import { lost, refuse, sendReply, unreachable, unreachableText } from './replies.ts';

/** ms in which a side must take the last bytes of the other. Longer than 2 s, for which a host may stop reading. */
const lastBytesMs = 3000;

interface Relay {
  readonly there: HostElsewhere;
  /** Called when the other machine knows the caller. */
  readonly known: () => void;
  /** Logs an error of ours. */
  readonly fault: (error: unknown) => void;
}

/** Relays a request that is no WebSocket. */
export async function relayRequest(request: IncomingMessage, response: ServerResponse, relay: Relay): Promise<void> {
  const stream = await opened(relay.there);
  if (stream === undefined) return sendReply(response, 503, unreachable);
  response.once('close', () => stream.destroy());
  if (response.destroyed) return void stream.destroy();
  const sent = sending(request, stream);
  let answered = false;
  sent.on('information', ({ statusCode }) => {
    if (statusCode === PROCESSING) relay.known();
  });
  sent.once('response', (answer) => {
    answered = true;
    answer.on('error', () => response.destroy());
    fenced(response, relay.fault, () => {
      response.writeHead(answer.statusCode ?? 502, answer.statusMessage, answer.rawHeaders);
      // A caller may wait for the headers of a stream that has no bytes yet.
      response.flushHeaders();
      answer.pipe(response);
    });
  });
  sent.on('error', () => {
    if (!answered) sendReply(response, 502, lost);
  });
  request.pipe(sent);
}

/** Relays a request for a WebSocket. `head` are bytes of the caller that came with it. */
export async function relayUpgrade(
  request: IncomingMessage,
  caller: Stream,
  head: Buffer,
  relay: Relay,
): Promise<void> {
  const stream = await opened(relay.there);
  if (stream === undefined) return refuse(caller, 503, unreachableText);
  caller.once('close', () => endSoon(stream));
  if (caller.destroyed) return void stream.destroy();
  const sent = sending(request, stream);
  let answered = false;
  sent.once('upgrade', (answer, _socket, theirs: Buffer) => {
    relay.known();
    (caller as Socket).setNoDelay?.(true);
    caller.write(Buffer.concat([headOf(answer), theirs]));
    if (head.length > 0) stream.write(head);
    join(caller, stream);
  });
  sent.once('response', (answer) => {
    answered = true;
    answer.on('error', () => caller.destroy());
    caller.once('finish', () => caller.destroy());
    caller.write(headOf(answer));
    answer.pipe(caller);
  });
  sent.on('error', () => {
    if (!answered) refuse(caller, 503, unreachableText);
  });
  sent.end();
}

/** HTTP 102: an answer will come, and the other machine knows the caller. */
const PROCESSING = 102;

async function opened(there: HostElsewhere): Promise<Stream | undefined> {
  try {
    const stream = await there.open();
    stream.on('error', () => {});
    return stream.destroyed ? undefined : stream;
  } catch {
    return undefined;
  }
}

const sending = ({ method, url, rawHeaders }: IncomingMessage, stream: Stream) =>
  http.request({ createConnection: () => stream, method, path: url, headers: rawHeaders });

/** The status line and headers of an answer to an upgrade. Its body ends with the connection, so it has no chunks. */
function headOf({ statusCode, statusMessage, rawHeaders }: IncomingMessage): Buffer {
  const lines = [`HTTP/1.1 ${statusCode} ${statusMessage}`];
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.toLowerCase() !== 'transfer-encoding') lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`);
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

/** Carries bytes both ways until one side ends. */
function join(one: Stream, other: Stream): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    // biome-ignore format: one line
    from.pipe(to);
    // No half-open connections: when a side ends its half, the other half is ended too.
    from.once('end', () => endSoon(from));
    from.once('close', () => endSoon(to));
  }
}

/** Ends a stream after its last bytes. A reader that does not take them is cut. */
function endSoon(stream: Stream): void {
  if (stream.destroyed) return;
  const cut = setTimeout(() => stream.destroy(), lastBytesMs);
  stream.once('close', () => clearTimeout(cut));
  stream.once('finish', () => stream.destroy());
  if (stream.writableFinished) stream.destroy();
  else stream.end();
}
