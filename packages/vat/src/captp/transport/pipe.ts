/**
 * Our end of an IPC channel whose other end is an untrusted process.
 *
 * Promise: whatever the other process writes, this process goes on. Node's own channel does not promise that.
 * A line that is not JSON, or an acknowledgement of a descriptor that was never sent, ends the process that
 * reads it. Node also accepts descriptors, and a line without an end fills the memory. Here, a line that is
 * not a message or is too long ends the channel. Descriptors are not accepted. One message is delivered per
 * round of the event loop, so a flood delays nobody else.
 *
 * The other end is Node's own (`process.send`), over a socket or a duplex pipe: one JSON text per line.
 */
import { EventEmitter } from 'node:events';
import type { Duplex as Stream } from 'node:stream';
import { afterOthers } from '../../drivers/loop.ts';

/** Maximum bytes of a line: a frame of a million letters, each written as six. */
const longestLine = 8 << 20;

/**
 * Maximum commas, colons and brackets of a message that is not text. The cost of parsing grows with them. An
 * honest message is text, or a record that holds one text.
 */
const mostTokens = 10_000;

const newline = 10;

function isHeavy(line: string): boolean {
  if (line.startsWith('"')) return false;
  let tokens = 0;
  for (const _ of line.matchAll(/[,:[{]/g)) {
    tokens += 1;
    if (tokens > mostTokens) return true;
  }
  return false;
}

/**
 * A channel for `fromChild`. Events: `message`; `fault` (an internal error, which ends the channel); and
 * `disconnect`, once and last.
 */
export interface PipeChannel {
  readonly connected: boolean;
  send(message: unknown, then?: (error: Error | null) => void): boolean;
  /** Sends bytes without a frame. The process at the other end must read them itself, before its first message. */
  sendBytes(bytes: Uint8Array): void;
  on(event: 'message' | 'disconnect' | 'fault', then: (message: unknown) => void): unknown;
  once(event: 'message' | 'disconnect', then: (message: unknown) => void): unknown;
  disconnect(): void;
}

/**
 * Makes a channel from our end of a socket or a duplex pipe. Pass it to `fromChild`. A fault of the other
 * process ends the channel, never this process.
 */
export function pipeChannel(stream: Stream): PipeChannel {
  return new Pipe(stream);
}

class Pipe extends EventEmitter implements PipeChannel {
  readonly #stream: Stream;
  /** The unfinished last line, in parts. */
  #parts: Buffer[] = [];
  #length = 0;
  #lines: string[] = [];
  #scheduled = false;
  #disconnected = false;
  #emitted = false;

  constructor(stream: Stream) {
    super();
    this.#stream = stream;
    stream.on('data', (chunk: Buffer) => this.#fenced(() => this.#take(chunk)));
    // `close` reports a peer that dies, so a failed write needs no report.
    stream.on('error', () => {});
    stream.on('close', () => this.#fenced(() => this.#ended()));
  }

  get connected(): boolean {
    return !this.#disconnected && !this.#stream.destroyed;
  }

  send(message: unknown, then: (error: Error | null) => void = () => {}): boolean {
    if (!this.connected) {
      then(new Error('the channel is closed'));
      return false;
    }
    return this.#stream.write(`${JSON.stringify(message)}\n`, (error) => then(error ?? null));
  }

  sendBytes(bytes: Uint8Array): void {
    if (this.connected) this.#stream.write(bytes);
  }

  disconnect(): void {
    if (this.#disconnected) return;
    this.#disconnected = true;
    this.#lines = [];
    this.#parts = [];
    // Data written before is sent first. A peer that does not read cannot delay this beyond one round of the
    // loop.
    this.#stream.end();
    this.#stream.resume();
    afterOthers(() => this.#fenced(() => this.#stream.destroy()));
  }

  /** An error here or in a listener ends this channel and not the process. */
  #fenced(body: () => void): void {
    try {
      body();
    } catch (error) {
      this.disconnect();
      this.emit('fault', error);
    }
  }

  #take(chunk: Buffer): void {
    if (this.#disconnected) return;
    let from = 0;
    for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, from)) {
      this.#parts.push(chunk.subarray(from, at));
      from = at + 1;
      this.#lines.push(Buffer.concat(this.#parts).toString('utf8'));
      this.#parts = [];
      this.#length = 0;
    }
    if (from < chunk.length) {
      this.#parts.push(from === 0 ? chunk : chunk.subarray(from));
      this.#length += chunk.length - from;
    }
    if (this.#length > longestLine) return this.#violated();
    if (this.#lines.length > 0 && !this.#scheduled) this.#next();
  }

  readonly #next = (): void => {
    this.#scheduled = false;
    const line = this.#lines.shift();
    if (line === undefined) return this.#ended();
    if (this.#disconnected) return;
    let message: unknown;
    try {
      if (isHeavy(line)) return this.#violated();
      message = JSON.parse(line);
    } catch {
      return this.#violated();
    }
    this.emit('message', message);
    if (this.#lines.length === 0) {
      this.#stream.resume();
      return this.#ended();
    }
    this.#stream.pause();
    this.#scheduled = true;
    afterOthers(() => this.#fenced(this.#next));
  };

  /** JSON has no `undefined`, so it marks a violation. The listener then ends the connection. */
  #violated(): void {
    this.emit('message', undefined);
    this.disconnect();
  }

  /** Emits `disconnect` when the stream is closed and all messages were delivered. */
  #ended(): void {
    if (!this.#stream.destroyed || this.#scheduled || this.#emitted) return;
    if (!this.#disconnected && this.#lines.length > 0) return;
    this.#disconnected = true;
    this.#emitted = true;
    this.emit('disconnect');
  }
}
