/** Replies of a door to requests that it does not serve. */
import type { ServerResponse } from 'node:http';
import type { Duplex as Stream } from 'node:stream';
import type { SlotResult } from '../connection-slots.ts';
import type { HttpReply } from '../object-call.ts';
import { http } from './node-http.ts';

type Refusal = Exclude<SlotResult, { readonly ok: true }>;

export const noSlot = ({ status, code, reason }: Refusal): HttpReply => ({
  status,
  body: JSON.stringify({ code, message: reason }),
});

export const forbidden = (why: string): HttpReply => ({
  status: 403,
  body: JSON.stringify({ code: 'denied', message: why }),
});

export const onlyRead: string = JSON.stringify({ code: 'invalid', message: 'a page can only be read: GET' });

const faceError = (status: number, code: number, ours: string, message: string): HttpReply => ({
  status,
  body: JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message, data: { code: ours } } }),
});
export const tooLarge = (why: string): HttpReply => faceError(413, -32_600, 'limit', why);
export const faceFault: HttpReply = faceError(500, -32_603, 'fault', 'the request failed for a reason of Hob’s own');

export function sendReply(response: ServerResponse, status: number, body: string): void {
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

/** For a caller from outside with too many requests at once. */
export const tooMany: HttpReply = {
  status: 429,
  body: JSON.stringify({ code: 'limit', message: 'too many requests of yours are under way: wait for an answer' }),
};

/** For a caller whose host is on another machine. */
export const unreachableText = 'the machine that serves this host cannot be reached now: try again';
export const tooManyRelaysText =
  'this machine relays as many connections as it may: try again, or connect to another machine';
const unavailable = (message: string): string => JSON.stringify({ code: 'unavailable', message });
export const unreachable: string = unavailable(unreachableText);
export const tooManyRelays: string = unavailable(tooManyRelaysText);

/** For a call that the other machine may have carried out. */
export const lost: string = JSON.stringify({
  code: 'unknown-outcome',
  message: 'the machine that serves this host was lost before it answered: look at what happened before you try again',
});

export function sendText(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain', connection: 'close' }).end(`${text}\n`);
}

/** Refuses a WebSocket, and ends its connection. */
export function refuse(stream: Stream, status: number, reason: string): void {
  // Destroyed, and not only ended: a peer that keeps its half open would hold the descriptor, and HTTP's
  // time limits end with the upgrade.
  stream.once('finish', () => stream.destroy());
  const body = `${reason}\n`;
  stream.end(
    `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\nconnection: close\r\ncontent-type: text/plain\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
