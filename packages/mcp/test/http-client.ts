/** A client that writes the requests of Streamable HTTP itself, in either era. For tests. */
import { onTestFinished } from 'vitest';
import { ENVELOPE, type Era, type Message, type World } from './world.ts';

export interface Sent {
  readonly id: number;
  readonly response: Promise<Response>;
  /** Reads the messages of the body, until it ends. */
  messages(): Promise<readonly Message[]>;
  /** Closes the stream. */
  hangUp(): void;
}

export class HttpClient {
  readonly url: string;
  readonly #era: Era;
  readonly #secret: string;
  client: string | undefined;
  #next = 0;

  constructor(at: Pick<World, 'url' | 'session'>, era: Era) {
    this.url = `${at.url.replace('ws', 'http')}/mcp`;
    this.#era = era;
    this.#secret = at.session.secret;
  }

  static async open(at: Pick<World, 'url' | 'session'>, era: Era): Promise<HttpClient> {
    const client = new HttpClient(at, era);
    if (era === 'newer') await client.ask('server/discover', {});
    else {
      const sent = client.send('initialize', { protocolVersion: '2025-06-18', capabilities: { elicitation: {} }, clientInfo: { name: 'test', version: '1' } }); // biome-ignore format: one line
      client.client = (await sent.response).headers.get('mcp-session-id') ?? undefined;
      await sent.messages();
      await client.tell('notifications/initialized', {});
    }
    return client;
  }

  headers(method: string, params: object): Readonly<Record<string, string>> {
    const { name } = params as { readonly name?: string };
    return {
      authorization: `Bearer ${this.#secret}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(this.client === undefined ? {} : { 'mcp-session-id': this.client }),
      ...(this.#era === 'older' ? {} : { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method }),
      ...(this.#era === 'newer' && name !== undefined ? { 'mcp-name': name } : {}),
    };
  }

  /** Sends a request, and returns what stands for its answer. */
  send(method: string, params: object, more: Readonly<Record<string, string>> = {}): Sent {
    this.#next += 1;
    return this.post({ id: this.#next, method, params }, more);
  }

  post(message: { readonly id?: number; readonly method: string; readonly params: object }, more: Readonly<Record<string, string>> = {}): Sent {
    const { method, params } = message;
    const { _meta = {} } = params as { readonly _meta?: object };
    const whole = this.#era === 'older' ? params : { ...params, _meta: { ...ENVELOPE, ..._meta } };
    const gone = new AbortController();
    onTestFinished(() => gone.abort());
    const response = fetch(this.url, {
      method: 'POST',
      headers: { ...this.headers(method, params), ...more },
      body: JSON.stringify({ jsonrpc: '2.0', ...message, params: whole }),
      signal: gone.signal,
    });
    response.catch(() => {});
    const messages = async (): Promise<readonly Message[]> => messagesIn(await (await response).text());
    return { id: message.id ?? 0, response, messages, hangUp: () => gone.abort() };
  } // biome-ignore format: one line

  async tell(method: string, params: object): Promise<number> {
    const { status } = await this.post({ method, params }).response;
    return status;
  }

  async ask(method: string, params: object): Promise<Message> {
    const { id, messages } = this.send(method, params);
    const all = await messages();
    return all.find((message) => message.id === id) ?? (all[0] as Message);
  }

  async call(name: string, args: object, more: object = {}): Promise<NonNullable<Message['result']>> {
    const { result, error } = await this.ask('tools/call', { name, arguments: args, ...more });
    if (result === undefined) throw new Error(JSON.stringify(error));
    return result;
  }

  /** The answer itself, however often it takes longer than the face waits. */
  async settled(name: string, args: object): Promise<NonNullable<Message['result']>> {
    let result = await this.call(name, args);
    while (typeof result.structuredContent?.['waiting'] === 'string')
      result = await this.call('wait_for', { request: result.structuredContent['waiting'] });
    return result;
  }

  /** Listens for notices of the server. Returns a function that resolves with the first one that has this method. */
  async listen(): Promise<(method: string) => Promise<Message>> {
    const gone = new AbortController();
    onTestFinished(() => gone.abort());
    const { signal } = gone;
    const response =
      this.#era === 'older'
        ? await fetch(this.url, { headers: { ...this.headers('', {}), accept: 'text/event-stream' }, signal })
        : await this.send('subscriptions/listen', { notifications: { toolsListChanged: true } }).response;
    if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    let text = '';
    return async (method) => {
      for (;;) {
        const found = messagesIn(text).find((message) => message.method === method);
        if (found !== undefined) return found;
        const { value, done } = await reader.read();
        if (done) throw new Error(`it ended: ${text}`);
        text += new TextDecoder().decode(value);
      }
    };
  }
}

/** The messages of a body: one JSON text, or events. */
function messagesIn(body: string): readonly Message[] {
  if (body.startsWith('{')) return [JSON.parse(body) as Message];
  return [...body.matchAll(/^data: (\{.*\})$/gm)].map(([, data]) => JSON.parse(data as string) as Message);
}
