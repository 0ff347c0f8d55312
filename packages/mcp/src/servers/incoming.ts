/**
 * The part of a transport that judges what a server sends.
 *
 * Promise: the client sees nothing but answers. A request of the server (sampling, roots, elicitation, whatever comes)
 * is refused here and reaches no handler; `ping` is answered. What the server says unasked is counted and dropped. A
 * server that says too much, or what is no JSON-RPC, is ended with the reason.
 */
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import type { ServerCode } from './errors.ts';
import type { FullServerLimits } from './limits.ts';

/** The JSON-RPC error code of an answer that was dropped because it was too large. */
export const TOO_LARGE = -32_990;
const REFUSED = -32_601;

export type Fields = Readonly<Record<string, unknown>>;

/** A transport of the MCP client to a server that may be hostile. */
export abstract class ServerTransport implements Transport {
  protected readonly limits: FullServerLimits;
  /** The ids of the requests that were sent and not answered. */
  readonly #asked = new Set<unknown>();
  #unasked = 0;
  #unaskedBytes = 0;
  #closed = false;
  /** Why the server was ended from here. */
  fault: ServerCode | undefined;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;

  constructor(limits: FullServerLimits) {
    this.limits = limits;
  }

  abstract start(): Promise<void>;
  abstract send(message: JSONRPCMessage, options?: { readonly requestSignal?: AbortSignal }): Promise<void>;
  abstract close(): Promise<void>;
  /** Sends the answer to a request of the server. Nobody waits for it. */
  protected abstract reply(message: Fields): void;

  /** Nothing more comes, and nothing can be sent. */
  get isClosed(): boolean {
    return this.#closed;
  }

  /** Notes a message that is sent: an answer counts only for a request that waits for it. */
  protected asks(message: Fields): void {
    const { id, method, params } = message;
    if (method === 'notifications/cancelled') this.#asked.delete((params as Fields | undefined)?.['requestId']);
    else if (typeof method === 'string' && id !== undefined) this.#asked.add(id);
  }

  /** Takes the text of one message. Returns the id of the request that it answered, if any. */
  protected take(text: string | undefined): unknown {
    const message = text === undefined ? undefined : parsed(text);
    if (text === undefined || message === undefined) return void this.end('SERVER_PROTOCOL');
    if (typeof message['method'] === 'string') {
      this.count(text.length);
      if (message['id'] !== undefined && !this.#closed) this.#refuse(message);
      return undefined;
    }
    if (!this.#asked.delete(message['id'])) return void this.count(text.length);
    this.#unasked = 0;
    this.#unaskedBytes = 0;
    this.onmessage?.(message as unknown as JSONRPCMessage);
    return message['id'];
  }

  /** Breaks the call with this id, whose answer will not come. */
  protected fail(id: string | number, code: number): void {
    if (this.#asked.delete(id)) this.onmessage?.({ jsonrpc: '2.0', id, error: { code, message: 'dropped' } });
  }

  /** Counts what nobody asked for. */
  protected count(bytes: number): void {
    this.#unasked += 1;
    this.#unaskedBytes += bytes;
    if (this.#unasked > this.limits.unasked || this.#unaskedBytes > this.limits.unaskedBytes) this.end('SERVER_FLOOD');
  }

  protected end(why: ServerCode): void {
    this.fault ??= why;
    void this.close();
  }

  /** It is closed. Returns false if it was so before. */
  protected gone(): boolean {
    if (this.#closed) return false;
    this.#closed = true;
    this.onclose?.();
    return true;
  }

  #refuse({ id, method }: Fields): void {
    const answer =
      method === 'ping' ? { result: {} } : { error: { code: REFUSED, message: 'this client answers no requests' } };
    this.reply({ jsonrpc: '2.0', id, ...answer });
  }
}

/** A message that is a record, or undefined. */
export function parsed(text: string): Fields | undefined {
  try {
    const message: unknown = JSON.parse(text);
    return typeof message === 'object' && message !== null && !Array.isArray(message) ? (message as Fields) : undefined;
  } catch {
    return undefined;
  }
}
