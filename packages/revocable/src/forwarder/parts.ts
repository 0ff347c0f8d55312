/**
 * Counts the parts of a byte stream that a call of a grant returned. A part is one call of the stream, such as `next`.
 *
 * The call that returned the stream has a ledger line of its own. The parts of the stream have none: a file of 16 MB
 * would write 64 lines, and each part would wait for the disk. One line has the number of parts and of their bytes. It
 * is written when the stream ends, when a part is refused or fails, or when nobody holds the stream any more.
 *
 * Promise: only bytes pass without a line. Every other call of the stream has a line. A part also has one if it uses up
 * a use of a grant, if a gate or a judge decides about it, or if a guard adds fields to its line. If another host may
 * have taken the store, a part waits for the check of the output commit, as every call that writes nothing.
 */
import { ledgerLine } from '@hob/vat';
import { hasMethods, vatOf } from '@hob/vat/forwarder';

/** The call that returned the stream. The line with the counts repeats these fields. */
export type Opened = { readonly grant: string; readonly method: string; readonly made?: string | undefined };

interface Count {
  readonly opened: Opened;
  readonly stream: 'read' | 'write';
  parts: number;
  bytes: number;
}

/** Counts the parts of one stream. A crash loses what was counted since the last line. */
export class Parts {
  readonly #count: Count;
  #ended = false;

  constructor(opened: Opened, stream: Count['stream']) {
    this.#count = { opened, stream, parts: 0, bytes: 0 };
  }

  /** Whether the call needs no line: it asks for bytes, writes bytes, or ends the stream without arguments. */
  admits(method: string, args: readonly unknown[]): boolean {
    const [first, ...others] = args;
    if (others.length > 0) return false;
    if (this.#count.stream === 'write')
      return method === 'write' ? first instanceof Uint8Array : method === 'abort' && args.length === 0;
    return method === 'next'
      ? first === undefined || typeof first === 'number'
      : method === 'return' && args.length === 0;
  }

  /** Call it in the turn that sends an admitted call. Counts the bytes that it writes. */
  sent([chunk]: readonly unknown[]): void {
    if (chunk instanceof Uint8Array) this.#add(chunk.length);
  }

  /**
   * Call it in the turn in which an admitted call returned `value`. Counts bytes, and records the end of the stream.
   * Returns false if a stream does not return such a value: the call then needs a line.
   */
  returned(method: string, value: unknown): boolean {
    if (value instanceof Uint8Array && method === 'next') this.#add(value.length);
    else if (value !== undefined) return false;
    else if (method !== 'write') this.#end();
    return true;
  }

  /** Call it in a turn. Returns the counts for the line of the call that closes the stream. */
  taken(): { readonly parts: number; readonly bytes: number } {
    this.#ended = true;
    return take(this.#count);
  }

  /** Call it in a turn, when a call of the stream was refused or failed with `code`. */
  refused(code: string): void {
    if (this.#count.parts > 0) writeLine(this.#count, code);
  }

  /** Once nobody holds `forwarder`, writes what was counted, if anything. `state` lives in the vat of the grant. */
  recordWhenDropped(forwarder: object, state: object): void {
    dropped.register(forwarder, { count: this.#count, state });
  }

  #add(bytes: number): void {
    this.#count.parts += 1;
    this.#count.bytes += bytes;
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    writeLine(this.#count, 'ok');
  }
}

const take = (count: Count): Pick<Count, 'parts' | 'bytes'> => {
  const { parts, bytes } = count;
  count.parts = 0;
  count.bytes = 0;
  return { parts, bytes };
};

function writeLine(count: Count, code: string): void {
  const { opened, stream } = count;
  ledgerLine('result', { ...opened, stream, ...take(count), code });
}

const dropped = new FinalizationRegistry<{ readonly count: Count; readonly state: object }>(({ count, state }) => {
  if (count.parts === 0) return;
  vatOf(state)
    ?.turn(() => writeLine(count, 'dropped'))
    .catch(() => {
      // The vats were closed. The counts are lost, as in a crash.
    });
});

/**
 * Returns a counter for the parts of `value`, an object that ends with the process. Returns undefined if `value` is no
 * stream: it has neither `next` and `return` nor `write`, `close` and `abort`. If `value` is itself a forwarder, then
 * `behind` describes it. In that case the parts are counted only if `behind` counts them too.
 */
export function partsOf(
  value: object,
  opened: Opened | undefined,
  behind: { readonly parts?: Parts | undefined } | undefined,
): Parts | undefined {
  if (opened === undefined || (behind !== undefined && behind.parts === undefined)) return undefined;
  if (hasMethods(value, 'next', 'return')) return new Parts(opened, 'read');
  return hasMethods(value, 'write', 'close', 'abort') ? new Parts(opened, 'write') : undefined;
}
