/**
 * Our end of an IPC channel whose other end is a process that is not trusted.
 *
 * Promise: whatever is written into it, this process goes on. Node's own end does not: a line that is no JSON, an acknowledgement
 * of a descriptor that was never sent, end the process that reads them, descriptors are taken in, and a line without an end
 * fills the memory. Here what is no message, or too long for one, ends the channel; descriptors are not taken; messages come one
 * a round of the loop, so that a flood holds up nobody else.
 *
 * The other end is Node's own (`process.send`), over a socket or a duplex pipe: one JSON text a line.
 */
import { EventEmitter } from 'node:events';
import type { Duplex as Stream } from 'node:stream';
import { afterOthers } from '../../drivers/loop.ts';

/** Of a line: a frame of a million letters, each written as six. */
const longestLine = 8 << 20;

/** Commas, colons and brackets of a message that is no text: parsing costs in proportion to them. A frame is text, or a record of one. */
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
 * What `fromChild` takes. Events: `message`, `fault` (an error of this end, which ends the channel) and, once and last, `disconnect`.
 */
export interface PipeChannel {
  readonly connected: boolean;
  send(message: unknown, then?: (error: Error | null) => void): boolean;
  on(event: 'message' | 'disconnect' | 'fault', then: (message: unknown) => void): unknown;
  once(event: 'message' | 'disconnect', then: (message: unknown) => void): unknown;
  disconnect(): void;
}

export function pipeChannel(stream: Stream): PipeChannel {
  return new Pipe(stream);
}

class Pipe extends EventEmitter implements PipeChannel {
  readonly #stream: Stream;
  /** Not heard yet: the start of the first line, and what came behind it. */
  #parts: Buffer[] = [];
  #length = 0;
  #lines: string[] = [];
  #waits = false;
  #over = false;
  #told = false;

  constructor(stream: Stream) {
    super();
    this.#stream = stream;
    stream.on('data', (chunk: Buffer) => this.#fenced(() => this.#take(chunk)));
    // A peer that dies is told of by `close`; a write to it that fails is no news.
    stream.on('error', () => {});
    stream.on('close', () => this.#fenced(() => this.#ended()));
  }

  get connected(): boolean {
    return !this.#over && !this.#stream.destroyed;
  }

  send(message: unknown, then: (error: Error | null) => void = () => {}): boolean {
    if (!this.connected) {
      then(new Error('the channel is closed'));
      return false;
    }
    return this.#stream.write(`${JSON.stringify(message)}\n`, (error) => then(error ?? null));
  }

  disconnect(): void {
    if (this.#over) return;
    this.#over = true;
    this.#lines = [];
    this.#parts = [];
    // What was written leaves first; whoever does not read it has no say in how long that takes.
    this.#stream.end();
    this.#stream.resume();
    afterOthers(() => this.#fenced(() => this.#stream.destroy()));
  }

  /** An error of ours, or of who listens, ends this channel, and not the process. */
  #fenced(body: () => void): void {
    try {
      body();
    } catch (error) {
      this.disconnect();
      this.emit('fault', error);
    }
  }

  #take(chunk: Buffer): void {
    if (this.#over) return;
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
    if (this.#lines.length > 0 && !this.#waits) this.#next();
  }

  readonly #next = (): void => {
    this.#waits = false;
    const line = this.#lines.shift();
    if (line === undefined) return this.#ended();
    if (this.#over) return;
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
    this.#waits = true;
    afterOthers(() => this.#fenced(this.#next));
  };

  /** `undefined` is no message that JSON could bring: whoever listens ends what runs over this. */
  #violated(): void {
    this.emit('message', undefined);
    this.disconnect();
  }

  /** The stream is closed and all was heard. */
  #ended(): void {
    if (!this.#stream.destroyed || this.#waits || this.#told) return;
    if (!this.#over && this.#lines.length > 0) return;
    this.#over = true;
    this.#told = true;
    this.emit('disconnect');
  }
}
