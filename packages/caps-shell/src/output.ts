/**
 * A program's output on its way to the reader.
 *
 * Promise: of one stream no more than the first and the last 512 KiB are ever held, whatever comes. A reader sets the pace of its stream:
 * at most a window is read ahead, then the pipe stays full and the program waits. Nobody waits for the program in vain because of that:
 * - `wait()` lifts the pace of both streams, for good. What is past 512 KiB is dropped and counted.
 * - While somebody waits for the other stream or for the program to take its input, a stream that nobody has begun to read is taken.
 * - `return()` says that nobody will read on.
 * A reader is told where bytes were dropped before it read them: `next()` rejects once with `limit`, and then goes on.
 */
import type { Readable } from 'node:stream';
import { type ByteSource, CapError, handOver } from '@hob/vat';

export const KEPT: number = 512 * 1024;
/** With what pipes and sockets hold besides it has to stay below `KEPT`: at the end a reader who is behind finds the rest there. */
const WINDOW = 64 * 1024;
const LARGEST = 1024 * 1024;

/** The head and the tail of what was written, in two buffers that are filled in place: many small writes take no more than few large ones. */
export class KeptOutput {
  #head = Buffer.allocUnsafe(0);
  #headUsed = 0;
  /** A ring; where it begins follows from `total`. */
  #tail: Buffer | undefined;
  total = 0;

  add(chunk: Uint8Array): void {
    const limit = KEPT;
    const first = Math.min(chunk.length, limit - this.#headUsed);
    if (first > 0) {
      if (this.#headUsed + first > this.#head.length) {
        const grown = Buffer.allocUnsafe(Math.min(limit, Math.max(4096, 2 * (this.#headUsed + first))));
        this.#head.copy(grown, 0, 0, this.#headUsed);
        this.#head = grown;
      }
      this.#head.set(chunk.subarray(0, first), this.#headUsed);
      this.#headUsed += first;
    }
    // Of what is longer than the ring only its end.
    let rest = chunk.subarray(first);
    let at = this.total + first;
    this.total += chunk.length;
    if (rest.length === 0) return;
    this.#tail ??= Buffer.allocUnsafe(KEPT);
    if (rest.length > KEPT) {
      at += rest.length - KEPT;
      rest = rest.subarray(rest.length - KEPT);
    }
    const from = (at - KEPT) % KEPT;
    const upTo = Math.min(rest.length, KEPT - from);
    this.#tail.set(rest.subarray(0, upTo), from);
    this.#tail.set(rest.subarray(upTo), 0);
  }

  /** Where the tail begins. */
  get #tailStart(): number {
    return Math.max(this.#headUsed, this.total - KEPT);
  }

  get left(): number {
    return this.#tailStart - this.#headUsed;
  }

  /** The first place from `offset` on that is kept or still to come. */
  from(offset: number): number {
    return offset < this.#headUsed ? offset : Math.max(offset, this.#tailStart);
  }

  /** What is kept from `offset` on, at most `max` bytes, as a copy; and the offset after it. What is no longer there is passed over. */
  read(offset: number, max: number): readonly [bytes: Uint8Array, next: number] {
    if (offset < this.#headUsed) {
      const end = Math.min(this.#headUsed, offset + max);
      return [new Uint8Array(this.#head.subarray(offset, end)), end];
    }
    const start = Math.max(offset, this.#tailStart);
    const end = Math.min(this.total, start + max);
    const bytes = new Uint8Array(end - start);
    const from = (start - KEPT) % KEPT;
    const upTo = Math.min(bytes.length, KEPT - from);
    if (this.#tail !== undefined && bytes.length > 0) {
      bytes.set(this.#tail.subarray(from, from + upTo));
      bytes.set(this.#tail.subarray(0, bytes.length - upTo), upTo);
    }
    return [bytes, end];
  }

  /**
   * As text. `budget`: no more than so many bytes of a frame, whatever it says; then how much is left out is told in its place, as where
   * it is not kept.
   */
  text(budget: number = Number.POSITIVE_INFINITY): { readonly text: string; readonly cut: boolean } {
    const [head] = this.read(0, this.#headUsed);
    const [tail] = this.read(this.#headUsed, KEPT);
    const whole = Buffer.concat([head, tail]);
    const all = fitting(whole, budget) === whole.length;
    if (this.left === 0 && all) return { text: whole.toString(), cut: false };
    const before = whole.subarray(
      0,
      all ? head.length : fitting(whole.subarray(0, this.left > 0 ? head.length : undefined), budget / 2),
    );
    const last = this.left > 0 ? whole.subarray(head.length) : whole;
    const after = last.subarray(
      last.length - (all ? tail.length : fitting(Uint8Array.from(last).reverse(), budget / 2)),
    );
    const left = this.total - before.length - after.length;
    // A character that was cut in two is left out with the rest.
    const [first, second] = [before.toString().replace(/\uFFFD$/, ''), after.toString().replace(/^\uFFFD{1,3}/, '')];
    return { text: `${first}\n[${left} bytes left out]\n${second}`, cut: true };
  }
}

/** How many of the first bytes take at most `budget` in a frame of either dialect: `captp` writes JSON within JSON. */
function fitting(bytes: Uint8Array, budget: number): number {
  if (budget === Number.POSITIVE_INFINITY) return bytes.length;
  let cost = 0;
  for (let n = 0; n < bytes.length; n += 1) {
    const byte = bytes[n] as number;
    // What is no UTF-8 becomes a character of three bytes.
    cost += byte >= 0x80 ? 3 : byte < 0x20 || byte === 0x7f ? 7 : byte === 0x22 || byte === 0x5c ? 4 : 1;
    if (cost > budget) return n;
  }
  return bytes.length;
}

/**
 * Its memory, at once: the collector comes when some 64 MB of chunks have piled up. They are the stream's own, made for one read, and what
 * was wanted of them is copied.
 */
function giveBack({ buffer, length }: Uint8Array): void {
  if (length >= 4096 && buffer.byteLength === length) (buffer as ArrayBuffer).transfer(0);
}

/** One stream of a job. */
export class OutputStream {
  readonly kept: KeptOutput = new KeptOutput();
  readonly source: ByteSource;
  /** It is at its end. */
  readonly ended: Promise<void>;
  readonly #from: Readable;
  /** Called when the reader begins to wait; returns how to end that. */
  readonly #waits: () => () => void;
  /** The reader's place. */
  #offset = 0;
  #read = false;
  #gone = false;
  #free = false;
  /** How many wait for the program elsewhere. */
  #elsewhere = 0;
  #over = false;
  #more = Promise.withResolvers<void>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(from: Readable, took: (bytes: number) => void, waits: () => () => void = () => () => {}) {
    this.#from = from;
    this.#waits = waits;
    from.on('data', (chunk: Uint8Array) => {
      const { length } = chunk;
      this.kept.add(chunk);
      giveBack(chunk);
      took(length);
      this.#flow();
      this.#stir();
    });
    this.ended = new Promise((resolve) => {
      from.on('close', () => {
        this.#over = true;
        this.#stir();
        resolve();
      });
    });
    this.source = Object.freeze({
      next: (max?: number): Promise<Uint8Array | undefined> => {
        const size = max ?? 256 * 1024;
        if (!Number.isSafeInteger(size) || size < 1)
          return Promise.reject(new CapError('invalid', 'max is a number of bytes from 1 on'));
        const mine = this.#last.then(() => this.#next(Math.min(size, LARGEST)));
        this.#last = mine.catch(() => {});
        return mine;
      },
      return: async (): Promise<void> => {
        this.#gone = true;
        this.#flow();
        this.#stir();
      },
    });
  }

  /** From now on nothing is held back. */
  drain(): void {
    this.#free = true;
    this.#flow();
  }

  /** Until the returned function is called, somebody waits for the program elsewhere. */
  waitElsewhere(): () => void {
    this.#elsewhere += 1;
    this.#flow();
    return () => {
      this.#elsewhere -= 1;
      this.#flow();
    };
  }

  #flow(): void {
    const room = this.kept.total - this.#offset < WINDOW;
    const unread = !this.#read && this.#elsewhere > 0;
    if (this.#free || this.#gone || unread || room) this.#from.resume();
    else this.#from.pause();
  }

  #stir(): void {
    const { resolve } = this.#more;
    this.#more = Promise.withResolvers<void>();
    resolve();
  }

  async #next(max: number): Promise<Uint8Array | undefined> {
    this.#read = true;
    for (;;) {
      if (this.#gone) return undefined;
      const start = this.kept.from(this.#offset);
      if (start > this.#offset) {
        const dropped = start - this.#offset;
        this.#offset = start;
        throw new CapError(
          'limit',
          `${dropped} bytes were dropped here, because nobody read them in time: next() goes on behind them; read to the end before wait()`,
        );
      }
      if (this.#offset < this.kept.total) {
        const [bytes, next] = this.kept.read(this.#offset, max);
        this.#offset = next;
        this.#flow();
        return handOver(bytes);
      }
      if (this.#over) return undefined;
      this.#flow();
      const waited = this.#waits();
      await this.#more.promise;
      waited();
    }
  }
}
