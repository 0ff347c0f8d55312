/**
 * Counts what passes through a byte stream that a call of a grant gave out.
 *
 * The call that gave out the stream has a line of its own. Its parts have none: a file of 16 MB would write 64
 * lines, and each part would wait for the disk. Their number and their bytes are in one line, when the stream
 * ends, when a part of it is refused, or when nobody holds it any more.
 *
 * Promise: nothing but bytes passes without a line. A call that is no part of a byte stream has its line, and so
 * has a part that a grant charges, or that a gate, a guard or a judge looks at.
 */
import { ledgerLine } from '@hob/vat';
import { hasMethods, vatOf } from '@hob/vat/forwarder';

/** The fields of the line that a stream ends with: those of the call that gave it out. */
export type Opened = { readonly grant: string; readonly method: string; readonly made?: string | undefined };

interface Count {
  readonly opened: Opened;
  readonly stream: 'read' | 'write';
  parts: number;
  bytes: number;
}

/** The parts of one stream. A crash loses what was counted since the last line. */
export class Parts {
  readonly #count: Count;
  #ended = false;

  constructor(opened: Opened, stream: Count['stream']) {
    this.#count = { opened, stream, parts: 0, bytes: 0 };
  }

  /** Whether the call is one that needs no line: it asks for bytes or for the end, or it brings bytes. */
  admits(method: string, args: readonly unknown[]): boolean {
    const [first, ...others] = args;
    if (others.length > 0) return false;
    if (this.#count.stream === 'write')
      return method === 'write' ? first instanceof Uint8Array : method === 'abort' && args.length === 0;
    return method === 'next'
      ? first === undefined || typeof first === 'number'
      : method === 'return' && args.length === 0;
  }

  /** In the turn that sends a call that was admitted. */
  sent([chunk]: readonly unknown[]): void {
    if (chunk instanceof Uint8Array) this.#add(chunk.length);
  }

  /**
   * In the turn in which an admitted call returned `value`. Returns false if that is not what a stream returns: the
   * call then needs a line.
   */
  returned(method: string, value: unknown): boolean {
    if (value instanceof Uint8Array && method === 'next') this.#add(value.length);
    else if (value !== undefined) return false;
    else if (method !== 'write') this.#end();
    return true;
  }

  /** In a turn: the fields for the line of a call that ends the stream. */
  taken(): { readonly parts: number; readonly bytes: number } {
    this.#ended = true;
    return take(this.#count);
  }

  /** In a turn: a call of the stream was refused with `code`. */
  refused(code: string): void {
    if (this.#count.parts > 0) writeLine(this.#count, code);
  }

  /** Writes what is counted, if something is, once nobody holds `forwarder`. `state` lives in the vat of the grant. */
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
      // The vats were closed. The line of the next start says that the outcome is unknown.
    });
});

/**
 * The parts of `value`, an object that ends with the process, if it is a stream. A forwarder of a stream is one if
 * the parts of what is behind it are counted: it is not if a gate is behind.
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
