/**
 * A server at an address as a transport of the MCP client, over an http cap.
 *
 * Promise: it sends to the one path that it was made for, through the cap, and follows nothing that an answer names: no
 * other endpoint, no login, no stream that could be resumed. An answer is limited while it arrives. The stream of a
 * request carries the answer to that request alone. A cancelled request closes its connection.
 */
import type { HttpAnswer, HttpCap } from '@hob/caps-net';
import { CapError } from '@hob/vat';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { serverError } from './errors.ts';
import { type Fields, parsed, ServerTransport, TOO_LARGE } from './incoming.ts';
import type { FullServerLimits } from './limits.ts';
import { isDeep, type Line, LineReader } from './lines.ts';

/** The JSON-RPC error code of a call whose stream ended without its answer. */
export const NO_ANSWER = -32_991;
const UNKNOWN_METHOD = -32_601;
const PROTOCOL_VERSION = 'io.modelcontextprotocol/protocolVersion';
/** Headers that this transport sends, beside those that an http cap lets anybody send. */
export const HEADERS = ['mcp-session-id', 'mcp-protocol-version', 'mcp-method', 'mcp-name'] as const;
const MOST_WORDS = 65_536;
/** Stands for a text of more than its limit. It is no JSON. */
const TOO_LONG = 'too long';

type Id = string | number;

/** A place of MCP: an http cap, and the path there. */
export interface HttpPlace {
  readonly name: string;
  readonly http: HttpCap;
  readonly path: string;
  readonly limits: FullServerLimits;
}

/** The transport of one run: from the first request to the end of the session at the server. */
export class HttpTransport extends ServerTransport {
  readonly hasPerRequestStream = true;
  readonly #place: HttpPlace;
  readonly #open = new Map<Id, AbortController>();
  /** The id of the client at a server of the older era. */
  #client: string | undefined;
  #version: string | undefined;
  readonly #ended = Promise.withResolvers<void>();
  /** The reason of the last refusal, for the person who runs the host. */
  words = '';

  constructor(place: HttpPlace) {
    super(place.limits);
    this.#place = place;
  }

  /** Resolves when it is closed. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  async start(): Promise<void> {}

  setProtocolVersion(version: string): void {
    this.#version = version;
  }

  /** Resolves when the answer has begun to come. Errors: those of the cap, `SERVER_ERROR`, `SERVER_ENDED`. */
  async send(message: JSONRPCMessage, { requestSignal }: { readonly requestSignal?: AbortSignal } = {}): Promise<void> {
    const { id, method, params } = message as Fields & { readonly id?: Id; readonly params?: Fields };
    if (this.isClosed) throw this.#error('SERVER_ENDED');
    this.asks(message as Fields);
    if (method === 'notifications/cancelled') this.#open.get(params?.['requestId'] as Id)?.abort();
    const isRequest = id !== undefined && typeof method === 'string';
    const gone = new AbortController();
    const key = isRequest ? id : `said ${method}`;
    this.#open.set(key, gone);
    requestSignal?.addEventListener('abort', () => this.#cancel(key, gone), { once: true });
    let streams = false;
    try {
      const answer = await this.#post(message, gone.signal);
      streams = isRequest ? await this.#answer(id, method, answer, () => this.#left(key, gone)) : await leave(answer);
    } finally {
      if (!streams) this.#left(key, gone);
    }
  }

  async close(): Promise<void> {
    for (const gone of this.#open.values()) gone.abort();
    this.#open.clear();
    this.gone();
    this.#ended.resolve();
  }

  protected reply(message: Fields): void {
    this.send(message as unknown as JSONRPCMessage).catch(() => {});
  }

  #cancel(id: Id, gone: AbortController): void {
    this.asks({ method: 'notifications/cancelled', params: { requestId: id } });
    gone.abort();
  }

  #left(key: Id, gone: AbortController): void {
    if (this.#open.get(key) === gone) this.#open.delete(key);
  }

  async #post(message: JSONRPCMessage, signal: AbortSignal): Promise<HttpAnswer> {
    const { http, path } = this.#place;
    try {
      const body = JSON.stringify(message);
      return await http.fetch(path, { method: 'POST', headers: this.#headers(message as Fields), body, signal });
    } catch (error) {
      if (error instanceof CapError) this.words = error.message;
      throw error;
    }
  }

  #headers(message: Fields): Readonly<Record<string, string>> {
    const { method, params = {} } = message as { readonly method?: unknown; readonly params?: Fields };
    const meta = params['_meta'] as Fields | undefined;
    const newer = meta?.[PROTOCOL_VERSION];
    const { name } = params;
    return {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      ...(this.#client === undefined || method === 'initialize' ? {} : { 'mcp-session-id': this.#client }),
      ...(this.#version === undefined || method === 'initialize' ? {} : { 'mcp-protocol-version': this.#version }),
      ...(typeof newer === 'string' ? { 'mcp-protocol-version': newer, 'mcp-method': String(method) } : {}),
      ...(typeof newer === 'string' && typeof name === 'string' ? { 'mcp-name': headerText(name) } : {}),
    };
  }

  /** Returns whether the answer still comes. Then `over` is called when it has come. */
  async #answer(id: Id, method: unknown, answer: HttpAnswer, over: () => void): Promise<boolean> {
    const { status, headers } = answer;
    if (status < 200 || status > 299) {
      await this.#refused(id, method, answer);
      return false;
    }
    const client = headers['mcp-session-id'];
    if (method === 'initialize' && client !== undefined) {
      if (!/^[\x21-\x7e]{1,1024}$/.test(client)) this.end('SERVER_PROTOCOL');
      this.#client = client;
    }
    const [type = ''] = (headers['content-type'] ?? '').split(';');
    switch (type.trim().toLowerCase()) {
      case 'application/json':
        await this.#json(id, answer);
        return false;
      case 'text/event-stream':
        void this.#events(id, answer).finally(over);
        return true;
      default:
        await leave(answer);
        this.fail(id, NO_ANSWER);
        return false;
    }
  }

  /** A server of the older era knows no `server/discover`, and says so in many ways. */
  async #refused(id: Id, method: unknown, answer: HttpAnswer): Promise<void> {
    const { status } = answer;
    const text = await oneText(answer, MOST_WORDS);
    const { error } = (typeof text === 'string' ? parsed(text) : undefined) ?? {};
    this.words = `it answered HTTP ${status}`;
    if (this.#client !== undefined && (status === 404 || (status === 400 && method === 'tools/list'))) {
      // Its session there is over, for which some answer 400. The next call begins another one.
      await this.close();
      throw this.#error('SERVER_ENDED');
    }
    const isRefusal = status === 401 || status === 403;
    if (!isRefusal && typeof error === 'object' && error !== null)
      return void this.take(JSON.stringify({ jsonrpc: '2.0', id, error }));
    if (!isRefusal && status < 500 && method === 'server/discover') return this.fail(id, UNKNOWN_METHOD);
    throw this.#error('SERVER_ERROR', `HTTP ${status}${isRefusal ? ': it wants another secret' : ''}`);
  }

  async #json(id: Id, answer: HttpAnswer): Promise<void> {
    const text = await oneText(answer, this.limits.lineBytes);
    if (text === TOO_LONG) return this.fail(id, TOO_LARGE);
    if (this.take(text) !== id) this.fail(id, NO_ANSWER);
  }

  async #events(id: Id, { body }: HttpAnswer): Promise<void> {
    const lines = new LineReader(this.limits.lineBytes);
    let data: string[] = [];
    let size = 0;
    try {
      for (let part = await body.next(); part !== undefined && !this.isClosed; part = await body.next()) {
        for (const line of lines.add(part)) {
          if ('bad' in line) return this.end('SERVER_PROTOCOL');
          const text = 'text' in line ? line.text.replace(/\r$/, '') : '';
          if (text !== '') {
            size += text.length;
            if (text.startsWith('data:')) data.push(text.slice(5).replace(/^ /, ''));
            else this.count(text.length);
          }
          if ('tooLong' in line || size > this.limits.lineBytes) return this.fail(id, TOO_LARGE);
          if (text !== '' || data.length === 0) continue;
          const event = data.join('\n');
          [data, size] = [[], 0];
          if (this.take(isDeep(event) ? undefined : event) === id || this.isClosed) return;
        }
        if (lines.pending > this.limits.lineBytes) return this.fail(id, TOO_LARGE);
      }
    } catch {
      // It broke, or its request was cancelled.
    } finally {
      this.fail(id, NO_ANSWER);
      await body.return().catch(() => {});
    }
  }

  #error(code: 'SERVER_ERROR' | 'SERVER_ENDED', more?: string): CapError {
    return serverError(code, this.#place.name, more);
  }
}

/** Reads no more of it. Returns false: nothing of it comes any more. */
async function leave({ body }: HttpAnswer): Promise<false> {
  await body.return().catch(() => {});
  return false;
}

/** The JSON text of an answer; undefined if it is none that anybody parses. Errors: those of the cap. */
async function oneText({ body }: HttpAnswer, most: number): Promise<string | undefined> {
  const lines = new LineReader(most);
  // Between the parts of a JSON text a line break is a space.
  const add = (part: Uint8Array): readonly Line[] => [...lines.add(part.map((byte) => (byte === 10 ? 32 : byte)))];
  for (let part = await body.next(); part !== undefined; part = await body.next()) {
    add(part);
    if (lines.pending <= most) continue;
    await body.return();
    return TOO_LONG;
  }
  const [line] = lines.add(Uint8Array.of(10));
  return line !== undefined && 'text' in line ? line.text : undefined;
}

/** A value that a header cannot carry goes as base64 in the marks of the protocol. */
const headerText = (text: string): string =>
  /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith('=?base64?')
    ? text
    : `=?base64?${Buffer.from(text).toString('base64')}?=`;
