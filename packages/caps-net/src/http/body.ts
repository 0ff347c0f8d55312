/**
 * The body of an answer, pulled by its reader.
 *
 * Promise: at most 256 KiB and one part wait here, then the server waits. Bytes beyond the limit of the grant are never
 * given: the stream ends with `limit`. `over` resolves when the connection is given back or closed.
 */
import type { ByteSource } from '@hob/vat';
import { takeCount } from '../base/arguments.ts';
import { refusal } from '../base/errors.ts';
import { BlankStream } from '../secret/blank-stream.ts';
import type { FormTable } from '../secret/form-table.ts';
import type { Flow } from './drivers/pool.ts';

const HIGH = 256 * 1024;

interface Reader {
  readonly max: number;
  readonly resolve: (part: Uint8Array | undefined) => void;
  readonly reject: (error: unknown) => void;
}

export class AnswerBody {
  readonly #blank: BlankStream | undefined;
  readonly #most: number;
  readonly #stop: (reason: Error) => void;
  readonly #parts: Buffer[] = [];
  readonly #readers: Reader[] = [];
  readonly #over = Promise.withResolvers<void>();
  #waiting = 0;
  #taken = 0;
  #flow: Flow | undefined;
  #ended = false;
  #error: Error | undefined;
  readonly source: ByteSource;

  /** `stop` closes the connection. Without a table nothing is blanked. */
  constructor(most: number, table: (() => FormTable) | undefined, stop: (reason: Error) => void) {
    this.#most = most;
    this.#blank = table && new BlankStream(table);
    this.#stop = stop;
    this.source = Object.freeze({
      next: (max?: number) => this.#next(max),
      return: async () => this.#leave(),
    });
  }

  /** Resolves when no more bytes come. */
  get over(): Promise<void> {
    return this.#over.promise;
  }

  get bytes(): number {
    return this.#taken;
  }

  begin(flow: Flow): void {
    this.#flow = flow;
  }

  push(chunk: Buffer): void {
    if (this.#ended) return;
    this.#taken += chunk.length;
    if (this.#taken > this.#most)
      return this.cancel(refusal('limit', `the answer has more than ${this.#most} bytes: ask for a part of it`));
    this.#put(this.#blank === undefined ? chunk : this.#blank.next(chunk));
    if (this.#waiting > HIGH) this.#flow?.pause();
  }

  finish(): void {
    if (this.#ended) return;
    if (this.#blank !== undefined) this.#put(this.#blank.end());
    this.#end();
  }

  /** Ends the stream with this error. What has come before is still read. */
  fail(error: Error): void {
    if (this.#ended) return;
    this.#error = error;
    this.#end();
  }

  /** Ends it, and closes the connection. */
  cancel(reason: Error): void {
    this.#parts.length = 0;
    if (this.#ended) return;
    this.#error = reason;
    this.#stop(reason);
    this.#end();
  }

  /** The reader wants no more. */
  #leave(): void {
    this.#parts.length = 0;
    if (this.#ended) return;
    this.#stop(refusal('unavailable'));
    this.#end();
  }

  #end(): void {
    this.#ended = true;
    this.#over.resolve();
    this.#serve();
  }

  #put(part: Buffer): void {
    if (part.length === 0) return;
    this.#parts.push(part);
    this.#waiting += part.length;
    this.#serve();
  }

  async #next(max?: number): Promise<Uint8Array | undefined> {
    const most = max === undefined ? Number.POSITIVE_INFINITY : takeCount(max, 'max', 1, Number.MAX_SAFE_INTEGER);
    if (this.#readers.length > 64) throw refusal('limit', 'too many reads at once: wait for the earlier ones');
    return await new Promise<Uint8Array | undefined>((resolve, reject) => {
      this.#readers.push({ max: most, resolve, reject });
      this.#serve();
    });
  }

  #serve(): void {
    for (let reader = this.#readers[0]; reader !== undefined; reader = this.#readers[0]) {
      const part = this.#parts.shift();
      if (part === undefined && !this.#ended) break;
      this.#readers.shift();
      if (part === undefined) {
        if (this.#error === undefined) reader.resolve(undefined);
        else reader.reject(this.#error);
        continue;
      }
      const given = part.length > reader.max ? part.subarray(0, reader.max) : part;
      if (given.length < part.length) this.#parts.unshift(part.subarray(given.length));
      this.#waiting -= given.length;
      reader.resolve(given);
    }
    if (this.#waiting <= HIGH / 2) this.#flow?.resume();
  }
}
