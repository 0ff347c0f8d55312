/**
 * A scripted model on loopback that speaks four APIs, with streams. Real agent hosts run against it in the tests of the
 * recipes. It keeps the requests that reached it.
 */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { anthropic } from './anthropic.ts';
import { chat } from './chat.ts';
import { gemini } from './gemini.ts';
import { responses } from './responses.ts';
import type { Api, Body, Say } from './wire.ts';

/** A request for a turn. */
export interface Asked {
  /** How many turns the model has had in this conversation. */
  readonly turn: number;
  readonly offered: readonly string[];
  /** The results of tools so far. */
  readonly results: readonly string[];
  readonly text: string;
  /** Whether a header has the key of the person. */
  readonly keyed: boolean;
}

export interface Model {
  /** Without a path. */
  readonly url: string;
  readonly asked: readonly Asked[];
  /** Every request, also those for no turn: `GET /v1/models`. */
  readonly seen: readonly string[];
}

/** `next` is what the model says. A request that offers no tools is for a title or the like, and gets one word. */
export async function scriptedModel(next: (asked: Asked) => Say | Promise<Say>): Promise<Model> {
  const asked: Asked[] = [];
  const seen: string[] = [];
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://x');
    seen.push(`${request.method} ${pathname}`);
    const api = apiOf(pathname);
    const text = await textOf(request);
    if (api === undefined || request.method !== 'POST') return void response.end('{"data":[],"models":[],"input_tokens":1,"totalTokens":1}'); // biome-ignore format: one line
    const body = JSON.parse(text) as Body;
    const one = {
      turn: api.turn(body),
      offered: api.offered(body),
      results: api.results(body),
      text,
      keyed: JSON.stringify(request.headers).includes('key-of-the-person'),
    };
    asked.push(one);
    const say = one.offered.length === 0 ? { text: 'title' } : await next(one);
    const { whole, events } = api.answer(say, one.turn, body);
    if (body['stream'] !== true && !pathname.endsWith(':streamGenerateContent')) return void response.setHeader('content-type', 'application/json').end(JSON.stringify(whole)); // biome-ignore format: one line
    response.setHeader('content-type', 'text/event-stream');
    for (const { type, data } of events)
      response.write(`${type === undefined ? '' : `event: ${type}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`); // biome-ignore format: one line
    response.end();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked, seen };
}

function apiOf(path: string): Api | undefined {
  if (path.endsWith('/messages')) return anthropic;
  if (path.endsWith('/responses')) return responses;
  if (path.endsWith('/chat/completions')) return chat;
  return /:(?:generateContent|streamGenerateContent)$/.test(path) ? gemini : undefined;
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const part of request) text += part;
  return text;
}
