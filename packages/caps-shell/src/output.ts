/**
 * The output of a program on its way to the reader.
 *
 * At most the first and the last 512 KiB of a stream are kept. A reader sets the pace of its stream: at most
 * a window is read ahead, then the pipe stays full and the program waits. Nobody waits forever because of
 * that:
 * - `wait()` lifts the pace of both streams for good. Bytes past 512 KiB are dropped and counted.
 * - While somebody waits for the other stream, or for the program to read its input, a stream without a reader flows.
 * - `return()` says that nobody will read on.
 * If bytes were dropped before they were read, `next()` rejects once with `limit`, and then goes on.
 */
import type { Readable } from 'node:stream';
import { type ByteSource, CapError, handOver } from '@hob/vat';

export const KEPT: number = 512 * 1024;
/**
 * With the content of pipes and sockets it must stay below `KEPT`, so that a slow reader finds the rest there
 * at the end.
 */
const WINDOW = 64 * 1024;
const LARGEST = 1024 * 1024;

/**
 * The head and the tail of the output, in two buffers. Many small writes take no more memory than few large
 * ones.
 */
export class KeptOutput {
  #head = Buffer.allocUnsafe(0);
  #headUsed = 0;
  /** A ring buffer. Its start follows from `total`. */
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
    // If the chunk is longer than the ring, only its end is kept.
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

  /** The offset of the tail. */
  get #tailStart(): number {
    return Math.max(this.#headUsed, this.total - KEPT);
  }

  get left(): number {
    return this.#tailStart - this.#headUsed;
  }

  /** Returns the first offset from `offset` on that is kept or still to come. */
  from(offset: number): number {
    return offset < this.#headUsed ? offset : Math.max(offset, this.#tailStart);
  }

  /**
   * Returns a copy of at most `max` kept bytes from `offset` on, and the offset after them. Skips dropped
   * bytes.
   */
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
   * The output as text. `budget`: the most bytes that it may take in a frame. A line in the text says how
   * many bytes are left out.
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
    // A character that was cut in two is left out too.
    const [first, second] = [before.toString().replace(/\uFFFD$/, ''), after.toString().replace(/^\uFFFD{1,3}/, '')];
    return { text: `${first}\n[${left} bytes left out]\n${second}`, cut: true };
  }
}

/**
 * Returns how many of the first bytes fit into `budget` in a frame of any dialect: `captp` writes JSON within
 * JSON.
 */
function fitting(bytes: Uint8Array, budget: number): number {
  if (budget === Number.POSITIVE_INFINITY) return bytes.length;
  let cost = 0;
  for (let n = 0; n < bytes.length; n += 1) {
    const byte = bytes[n] as number;
    // An invalid byte becomes a character of three bytes.
    cost += byte >= 0x80 ? 3 : byte < 0x20 || byte === 0x7f ? 7 : byte === 0x22 || byte === 0x5c ? 4 : 1;
    if (cost > budget) return n;
  }
  return bytes.length;
}

/**
 * Frees the memory of a chunk at once. The collector would let some 64 MB of chunks pile up. The stream made
 * the chunk for one read, and its bytes are copied.
 */
function freeChunk({ buffer, length }: Uint8Array): void {
  if (length >= 4096 && buffer.byteLength === length) (buffer as ArrayBuffer).transfer(0);
}

/** One stream of a job. */
export class OutputStream {
  readonly kept: KeptOutput = new KeptOutput();
  readonly source: ByteSource;
  /** Resolves at the end of the stream. */
  readonly ended: Promise<void>;
  readonly #from: Readable;
  /** Called when the reader begins to wait. Returns a function to call when it stops. */
  readonly #waits: () => () => void;
  /** The offset of the reader. */
  #offset = 0;
  #read = false;
  #gone = false;
  #free = false;
  /** The number of callers that wait for the other stream or the input. */
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
      freeChunk(chunk);
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
          return Promise.reject(new CapError('invalid', 'max is a number of bytes, at least 1'));
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

  /** Lets the stream flow at full pace from now on. */
  drain(): void {
    this.#free = true;
    this.#flow();
  }

  /** Somebody waits for the other stream or the input, until the returned function is called. */
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
          `${dropped} bytes were dropped here, because nobody read them in time: next() continues after them; read to the end before wait()`,
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
