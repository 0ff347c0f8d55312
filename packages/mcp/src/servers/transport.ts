/**
 * The streams of a sandboxed job as a transport of the MCP client: one message on a line.
 *
 * Promise: a message that is too long is dropped while it arrives, and breaks its call.
 */

import type { Job } from '@hob/caps-shell';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { type Fields, ServerTransport, TOO_LARGE } from './incoming.ts';
import type { FullServerLimits } from './limits.ts';
import { type Line, LineReader } from './lines.ts';

/** The transport of one job, from its start to its end. */
export class JobTransport extends ServerTransport {
  readonly #job: Job;
  readonly #lines: LineReader;
  #started = false;

  constructor(job: Job, limits: FullServerLimits) {
    super(limits);
    this.#job = job;
    this.#lines = new LineReader(limits.lineBytes);
  }

  async start(): Promise<void> {
    if (this.#started) return;
    this.#started = true;
    void this.#read();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.asks(message as unknown as Fields);
    await this.#job.write(`${JSON.stringify(message)}\n`);
  }

  /** Ends every process of the server. */
  async close(): Promise<void> {
    await this.#job.signal('KILL').catch(() => {});
    this.#gone();
  }

  /** A server that does not read its input is met by the time of its call. */
  protected reply(message: Fields): void {
    this.#job.write(`${JSON.stringify(message)}\n`).catch(() => {});
  }

  async #read(): Promise<void> {
    try {
      for (;;) {
        const bytes = await this.#job.stdout.next();
        if (bytes === undefined || this.isClosed) break;
        for (const line of this.#lines.add(bytes)) {
          this.#line(line);
          if (this.isClosed) return;
        }
        // A line that never ends is a flood too.
        if (this.#lines.pending > this.limits.unaskedBytes) return this.end('SERVER_FLOOD');
      }
    } catch {
      // The stream broke with its job.
    }
    this.#gone();
  }

  #line(line: Line): void {
    if ('tooLong' in line) this.#tooLong(line.tooLong, line.ends);
    else this.take('text' in line ? line.text : undefined);
  }

  /** Answers the request that the dropped line would have answered. Without an id of ours the server is ended. */
  #tooLong(bytes: number, ends: string): void {
    this.count(bytes);
    const id = /"id"\s*:\s*(\d{1,9})\s*[,}]/.exec(ends)?.[1];
    if (id === undefined) return this.end('SERVER_FLOOD');
    this.fail(Number(id), TOO_LARGE);
  }

  #gone(): void {
    if (this.gone()) void this.#job.stdout.return?.();
  }
}
