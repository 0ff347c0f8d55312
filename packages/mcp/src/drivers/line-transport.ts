/**
 * JSON-RPC messages over two streams, one on each line.
 *
 * Promise: a line over 1 MiB is answered with an error and dropped as it comes, so it takes no more memory than the
 * limit, and nothing reads it. A line that is no message is answered with an error. Nothing else is ever written.
 * While the client does not read, nothing more is read from it.
 */
import type { Readable, Writable } from 'node:stream';
import { type JSONRPCMessage, parseJSONRPCMessage, type Transport } from '@modelcontextprotocol/server';

/** The longest line, in bytes. */
const LONGEST_LINE: number = 1 << 20;
/** So much of a dropped line is kept of its begin and its end, to find the id that its answer needs. */
const KEPT = 256;
const NEWLINE = 10;

/** The transport of `hob mcp`. */
export class LineTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #input: Readable;
  readonly #output: Writable;
  #parts: Buffer[] = [];
  #length = 0;
  /** The begin and the end of the line that is dropped. */
  #dropped: { readonly begin: string; end: string } | undefined;
  #closed = false;

  constructor(input: Readable, output: Writable) {
    this.#input = input;
    this.#output = output;
  }

  async start(): Promise<void> {
    this.#input.on('data', (chunk: Buffer) => this.#take(chunk));
    for (const event of ['end', 'close', 'error']) this.#input.on(event, () => void this.close());
    this.#output.on('error', () => void this.close());
    this.#output.on('drain', () => this.#input.resume());
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.#write(message);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#input.pause();
    this.onclose?.();
  }

  #write(message: unknown): void {
    if (!this.#output.writable) return;
    if (!this.#output.write(`${JSON.stringify(message)}\n`)) this.#input.pause();
  }

  #take(chunk: Buffer): void {
    for (let from = 0; from < chunk.length && !this.#closed; ) {
      const end = chunk.indexOf(NEWLINE, from);
      const part = chunk.subarray(from, end < 0 ? chunk.length : end);
      if (this.#dropped === undefined && this.#length + part.length > LONGEST_LINE) this.#drop(part);
      if (this.#dropped === undefined) {
        // A copy: a small line would otherwise keep the whole chunk.
        this.#parts.push(Buffer.from(part));
        this.#length += part.length;
      } else this.#dropped.end = `${this.#dropped.end}${part.subarray(-KEPT).toString('latin1')}`.slice(-KEPT);
      if (end < 0) return;
      this.#line();
      from = end + 1;
    }
  }

  /** The line is too long: forgets all of it but its begin and its end. */
  #drop(part: Buffer): void {
    const before = Buffer.concat(this.#parts);
    const begin = Buffer.concat([before.subarray(0, KEPT), part.subarray(0, KEPT)]).toString('latin1');
    this.#dropped = { begin: begin.slice(0, KEPT), end: before.subarray(-KEPT).toString('latin1') };
    this.#parts = [];
    this.#length = 0;
  }

  #line(): void {
    const dropped = this.#dropped;
    const text = Buffer.concat(this.#parts).toString('utf8');
    this.#parts = [];
    this.#length = 0;
    this.#dropped = undefined;
    if (dropped !== undefined) {
      const message = `a line may have ${LONGEST_LINE} bytes: give less text, or write it in parts`;
      return this.#write(errorOf(idOf(dropped), -32_600, message, 'limit'));
    }
    if (text.trim() === '') return;
    let message: JSONRPCMessage;
    try {
      message = parseJSONRPCMessage(JSON.parse(text));
    } catch {
      return this.#write(errorOf(null, -32_700, 'a line is one JSON-RPC message', 'invalid'));
    }
    this.onmessage?.(message);
  }
}

const errorOf = (id: unknown, code: number, message: string, ours: string): unknown => ({
  jsonrpc: '2.0',
  id,
  error: { code, message, data: { code: ours } },
});

/**
 * The id of a message of which only the begin and the end are known: the first key after `jsonrpc`, or the last key of
 * all. So it is the id of the message, and of nothing within it. Null where it is elsewhere.
 */
function idOf({ begin, end }: { readonly begin: string; readonly end: string }): unknown {
  const id = String.raw`(\d{1,15}|"[\w-]{1,100}")`;
  const found =
    new RegExp(`^\\{"jsonrpc":"2\\.0","id":${id},`).exec(begin) ??
    new RegExp(`,"jsonrpc":"2\\.0","id":${id}\\}\\s*$`).exec(end);
  return found === null ? null : JSON.parse(found[1] as string);
}
