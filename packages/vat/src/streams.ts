/** Bytes on their way: pulled, so that the reader sets the pace and nobody buffers for him. */
import { E } from './eventual.ts';
import type { Far } from './types.ts';

export interface ByteSource {
  /** The next bytes, at most `max`; undefined at the end. */
  next(max?: number): Promise<Uint8Array | undefined>;
  /** No more is wanted. */
  return(): Promise<void>;
}

export interface ByteSink {
  write(chunk: Uint8Array): Promise<void>;
  /** Nothing is visible before this. */
  close(): Promise<void>;
  /** Nothing will be. */
  abort(): Promise<void>;
}

/** A source as an async iterable; leaving the loop early tells the source. */
export async function* iterate(source: ByteSource | Far<ByteSource>): AsyncGenerator<Uint8Array, void, void> {
  let ended = false;
  try {
    for (;;) {
      const chunk = (await E(source as Far<ByteSource>).next()) as Uint8Array | undefined;
      if (chunk === undefined) {
        ended = true;
        return;
      }
      yield chunk;
    }
  } finally {
    if (!ended) await E(source as Far<ByteSource>).return();
  }
}
