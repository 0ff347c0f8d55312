/** What a door says to a request that it does not serve. */
import type { ServerResponse } from 'node:http';
import type { SlotResult } from '../connection-slots.ts';
import type { HttpReply } from '../object-call.ts';

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
