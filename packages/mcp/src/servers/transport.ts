/**
 * The streams of a sandboxed job as a transport of the MCP client.
 *
 * Promise: the client sees nothing but answers. A request of the server (sampling, roots, elicitation, whatever comes)
 * is refused here and reaches no handler; `ping` is answered. What the server says unasked is counted and dropped. A
 * server that says too much, or what is no JSON-RPC, is ended with the reason.
 */

import type { Job } from '@hob/caps-shell';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import type { ServerCode } from './errors.ts';
import type { FullServerLimits } from './limits.ts';
import { type Line, LineReader } from './lines.ts';

/** The JSON-RPC error code of an answer that was dropped because it was too large. */
export const TOO_LARGE = -32_990;
const REFUSED = -32_601;

type Fields = Readonly<Record<string, unknown>>;

/** The transport of one job, from its start to its end. */
export class JobTransport implements Transport {
  readonly #job: Job;
  readonly #limits: FullServerLimits;
  readonly #lines: LineReader;
  #unasked = 0;
  #unaskedBytes = 0;
  #started = false;
  #closed = false;
  /** Why the server was ended from here. */
  fault: ServerCode | undefined;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;

  constructor(job: Job, limits: FullServerLimits) {
    this.#job = job;
    this.#limits = limits;
    this.#lines = new LineReader(limits.lineBytes);
  }

  /** Nothing more comes, and nothing can be sent. */
  get isClosed(): boolean {
    return this.#closed;
  }

  async start(): Promise<void> {
    if (this.#started) return;
    this.#started = true;
    void this.#read();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    await this.#job.write(`${JSON.stringify(message)}\n`);
  }

  /** Ends every process of the server. */
  async close(): Promise<void> {
    await this.#job.signal('KILL').catch(() => {});
    this.#gone();
  }

  async #read(): Promise<void> {
    try {
      for (;;) {
        const bytes = await this.#job.stdout.next();
        if (bytes === undefined || this.#closed) break;
        for (const line of this.#lines.add(bytes)) {
          this.#take(line);
          if (this.#closed) return;
        }
        // A line that never ends is a flood too.
        if (this.#lines.pending > this.#limits.unaskedBytes) return this.#end('SERVER_FLOOD');
      }
    } catch {
      // The stream broke with its job.
    }
    this.#gone();
  }

  #take(line: Line): void {
    if ('tooLong' in line) return this.#tooLong(line.tooLong, line.ends);
    const message = 'text' in line ? parsed(line.text) : undefined;
    if (message === undefined) return this.#end('SERVER_PROTOCOL');
    if (typeof message['method'] === 'string') {
      this.#count((line as { readonly text: string }).text.length);
      if (message['id'] !== undefined && !this.#closed) this.#refuse(message);
      return;
    }
    this.#unasked = 0;
    this.#unaskedBytes = 0;
    this.onmessage?.(message as unknown as JSONRPCMessage);
  }

  /** Answers the request that the dropped line would have answered. Without an id of ours the server is ended. */
  #tooLong(bytes: number, ends: string): void {
    this.#count(bytes);
    const id = /"id"\s*:\s*(\d{1,9})\s*[,}]/.exec(ends)?.[1];
    if (id === undefined) return this.#end('SERVER_FLOOD');
    this.onmessage?.({ jsonrpc: '2.0', id: Number(id), error: { code: TOO_LARGE, message: 'too large' } });
  }

  #count(bytes: number): void {
    this.#unasked += 1;
    this.#unaskedBytes += bytes;
    if (this.#unasked > this.#limits.unasked || this.#unaskedBytes > this.#limits.unaskedBytes)
      this.#end('SERVER_FLOOD');
  }

  #refuse({ id, method }: Fields): void {
    const answer =
      method === 'ping' ? { result: {} } : { error: { code: REFUSED, message: 'this client answers no requests' } };
    const text = JSON.stringify({ jsonrpc: '2.0', id, ...answer });
    // Nobody waits for it. A server that does not read its input is met by the time of its call.
    this.#job.write(`${text}\n`).catch(() => {});
  }

  #end(why: ServerCode): void {
    this.fault ??= why;
    void this.close();
  }

  #gone(): void {
    if (this.#closed) return;
    this.#closed = true;
    void this.#job.stdout.return?.();
    this.onclose?.();
  }
}

/** A message that is a record, or undefined. */
function parsed(text: string): Fields | undefined {
  try {
    const message: unknown = JSON.parse(text);
    return typeof message === 'object' && message !== null && !Array.isArray(message) ? (message as Fields) : undefined;
  } catch {
    return undefined;
  }
}
