/**
 * A server of MCP at an address, that does what its test says. It speaks HTTP by hand, because a library would refuse to
 * be this rude.
 */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { makeHttpCap, makeSecret } from '@hob/caps-net';
import { onTestFinished } from 'vitest';
import {
  mcpPlace,
  openServerAt,
  type ServerLimits,
  type ToolResult,
  type ToolServer,
} from '../../src/servers/index.ts';

export interface Said {
  readonly verb: string;
  readonly headers: IncomingHttpHeaders;
  readonly message: { readonly id?: unknown; readonly method?: string; readonly params?: Readonly<Record<string, unknown>>; readonly error?: unknown };
} // biome-ignore format: one line

/** Answers one call. `events` begins a stream, and returns a function that sends a message on it. */
export interface Reply {
  readonly id: unknown;
  readonly args: Readonly<Record<string, unknown>>;
  readonly response: ServerResponse;
  json(message: object): void;
  events(): (message: object | string) => void;
}
export type Act = (reply: Reply) => void;

export interface Rude {
  readonly url: string;
  readonly said: Said[];
  /** The tools that it has, beside those of `acts`. */
  tools: object[];
  /** Clients that began with it, of the older era. */
  readonly clients: Set<string>;
  /** Waits until the condition holds. */
  until(holds: () => boolean): Promise<void>;
}

const object = { type: 'object' };

export async function rude(
  era: 'old' | 'new',
  acts: Readonly<Record<string, Act>>,
  status: (said: Said, response: ServerResponse) => boolean = () => false,
): Promise<Rude> {
  const complete = era === 'new' ? { resultType: 'complete' } : {};
  const listed = era === 'new' ? { ...complete, ttlMs: 60_000, cacheScope: 'private' } : {};
  const made: Rude = {
    url: '',
    said: [],
    tools: [{ name: 'echo', description: 'Says it.', inputSchema: object }],
    clients: new Set(),
    async until(holds) {
      while (!holds()) await new Promise((resolve) => setImmediate(resolve));
    },
  };
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const part of request) text += part;
    const message = (text === '' ? {} : JSON.parse(text)) as Said['message'];
    const said = { verb: request.method ?? '', headers: request.headers, message };
    made.said.push(said);
    if (status(said, response)) return;
    const { id, method, params = {} } = message;
    const send = (code: number, body: object | undefined, more: object = {}): void =>
      void response.writeHead(code, { 'content-type': 'application/json', ...more }).end(JSON.stringify(body));
    const json = (answer: object): void => send(200, { jsonrpc: '2.0', id, ...answer });
    if (method === 'initialize' && era === 'old') {
      const client = `client-${made.clients.size}`;
      made.clients.add(client);
      const result = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'rude', version: '1' }, instructions: 'Be kind.' }; // biome-ignore format: one line
      return send(200, { jsonrpc: '2.0', id, result }, { 'mcp-session-id': client });
    }
    if (era === 'old' && !made.clients.has(String(request.headers['mcp-session-id'])))
      return send(made.clients.size > 0 ? 404 : 400, { jsonrpc: '2.0', id: null, error: { code: -32_000, message: 'Bad Request' } }); // biome-ignore format: one line
    if (method === 'server/discover' && era === 'new')
      return json({ result: { ...listed, supportedVersions: ['2026-07-28'], capabilities: { tools: {} } } });
    if (id === undefined || method === undefined) return void response.writeHead(202).end();
    const tools = [...made.tools, ...Object.keys(acts).map((name) => ({ name, inputSchema: object }))];
    if (method === 'tools/list') return json({ result: { ...listed, tools } });
    const events = (): ((message: object | string) => void) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      return (one) =>
        void response.write(typeof one === 'string' ? one : `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...one })}\n\n`); // biome-ignore format: one line
    };
    const args = params['arguments'] as Reply['args'];
    const act = acts[params['name'] as string] ?? (() => json({ result: { ...complete, content: [{ type: 'text', text: `echo: ${args['text']}` }] } })); // biome-ignore format: one line
    act({ id, args, response, json, events });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as { readonly port: number };
  return Object.assign(made, { url: `http://127.0.0.1:${port}/mcp` });
}

export interface Reached {
  readonly server: ToolServer;
  call(tool: string, args?: object, signal?: AbortSignal): Promise<ToolResult>;
}

/** Opens the server at `url`, with `secret` as its bearer. */
export async function reach(
  url: string,
  { limits = {}, secret, addresses = ['127.0.0.1'] }: { readonly limits?: ServerLimits; readonly secret?: string; readonly addresses?: readonly string[] } = {},
): Promise<Reached> {
  const { options, path } = mcpPlace(url, limits);
  const inject = secret === undefined ? {} : { inject: { secret: makeSecret(() => secret), header: 'authorization' } };
  const http = makeHttpCap({ ...options, addresses, ...inject });
  onTestFinished(() => http[Symbol.asyncDispose]());
  const server = await openServerAt({ name: 'far', http, path, limits });
  onTestFinished(() => server.close());
  return {
    server,
    async call(tool, args = {}, signal) {
      const { seal } = await server.sealed(tool);
      const said = await server.call(tool, args, seal, signal);
      if ('changed' in said) throw new Error('it changed');
      return said.result;
    },
  };
} // biome-ignore format: one line
