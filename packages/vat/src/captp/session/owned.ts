/**
 * Bytes that a driver gave away, as the answer to a peer: their memory goes back at once, not when the garbage collector comes by.
 * Left to that, a stream makes it walk through the whole heap again for every 20 MB; that was a third of what a stream cost.
 *
 * Promise: it goes back only when nobody can need it any more: the transport has written it, and the peer, who may name its answer
 * as an argument, has said that it is done with it. Where either never happens, the collector comes by.
 */
import { free } from '../../core/hand-over.ts';

export class Owned {
  readonly #bytes: Uint8Array;
  #written: boolean = false;
  #done: boolean = false;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** By the transport, which has no more use for it. */
  readonly written = (): void => {
    this.#written = true;
    this.#freeUnused();
  };

  /** The peer cannot name it any more. */
  done(): void {
    this.#done = true;
    this.#freeUnused();
  }

  #freeUnused(): void {
    if (this.#written && this.#done) free(this.#bytes);
  }
}
