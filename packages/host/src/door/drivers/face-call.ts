/**
 * Hands one HTTP request to a face, and its response back.
 *
 * Promise: a body over the limit is refused while it arrives, and no more of it is kept than the limit. The face gets
 * neither the secret nor a cookie. A client that has gone aborts the request and cancels the body of its response.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { CapError } from '@hob/vat';
import { checkJson, largestFrame } from '@hob/vat/wire';
import type { HttpReply } from '../object-call.ts';
import { faceFault, tooLarge } from './replies.ts';

/** Headers that are for the door alone. */
const OURS: ReadonlySet<string> = new Set(['authorization', 'cookie', 'connection', 'transfer-encoding', 'keep-alive']);

interface FaceCall {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Is aborted when the client has gone. */
  readonly gone: AbortSignal;
  /** Logs an error of ours. */
  readonly fault: (error: unknown) => void;
}

/** Returns a refusal, or undefined if the face has answered. */
export async function callFace(
  { request, response, gone, fault }: FaceCall,
  answer: (request: Request) => Promise<Response>,
  mostBytes: number = largestFrame,
): Promise<HttpReply | undefined> {
  try {
    const body = request.method === 'POST' ? await bodyOf(request, mostBytes) : undefined;
    const headers = headersOf(request);
    for (const name of OURS) headers.delete(name);
    const { method = 'GET', url = '/' } = request;
    const given = new Request(`http://localhost${url}`, { method, headers, body: body ?? null, signal: gone });
    await send(response, await answer(given));
  } catch (error) {
    if (error instanceof CapError && error.code === 'limit') return tooLarge(error.message);
    // The client went while it sent its request.
    if (gone.aborted || (request.destroyed && !request.complete)) return undefined;
    fault(error);
    return faceFault;
  }
  return undefined;
}

/** The headers of a request as they came, but no cookie. */
export function headersOf(request: IncomingMessage): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headersDistinct))
    if (name !== 'cookie') headers.set(name, (value ?? []).join(', '));
  return headers;
}

/** So much of a body that is refused is read and dropped, because a client reads no answer while it sends. */
const MOST_DROPPED = 16 << 20;

async function bodyOf(request: IncomingMessage, mostBytes: number): Promise<string> {
  let parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request.iterator({ destroyOnReturn: false })) {
    bytes += (part as Buffer).length;
    if (bytes > MOST_DROPPED) break;
    if (bytes > mostBytes) parts = [];
    else parts.push(part as Buffer);
  }
  if (bytes > mostBytes)
    throw new CapError('limit', `a body may have ${mostBytes} bytes: give less text, or write it in parts`);
  const text = Buffer.concat(parts).toString('utf8');
  checkJson(text);
  return text;
}

async function send(response: ServerResponse, { status, headers, body }: Response): Promise<void> {
  const kept = [...headers].filter(([name]) => !OURS.has(name));
  response.writeHead(status, { ...Object.fromEntries(kept), 'cache-control': 'no-store', connection: 'close' });
  // A client waits for the headers of a stream, also while nothing is in it.
  response.flushHeaders();
  if (body === null) return void response.end();
  // A client may go at any time.
  await pipeline(Readable.fromWeb(body as ReadableStream), response).catch(() => {});
}
