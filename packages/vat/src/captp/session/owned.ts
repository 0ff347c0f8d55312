/**
 * Bytes that a driver handed over as the answer to a peer. Their memory is freed at once, without waiting for
 * the garbage collector.
 *
 * If the collector had to free them, a stream would cause a walk through the whole heap for every 20 MB. That
 * was a third of the cost of a stream.
 *
 * Promise: the memory is freed only when nobody can need it any more. The transport has written it, and the
 * peer has sent `done`, so it cannot name the answer as an argument. If one of the two never happens, the
 * collector frees it.
 */
import { free } from '../../core/hand-over.ts';

export class Owned {
  readonly #bytes: Uint8Array;
  #written: boolean = false;
  #done: boolean = false;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** Called by the transport when it no longer needs the bytes. */
  readonly written = (): void => {
    this.#written = true;
    this.#freeUnused();
  };

  /** The peer can no longer refer to the answer. */
  done(): void {
    this.#done = true;
    this.#freeUnused();
  }

  #freeUnused(): void {
    if (this.#written && this.#done) free(this.#bytes);
  }
}
