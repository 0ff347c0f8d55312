/** Byte streams. The reader pulls, so it sets the pace and nothing is buffered for it. */
import type { Far } from '../core/types.ts';
import { E } from './eventual.ts';

/**
 * A stream of bytes that its reader pulls. Call `return` to stop early, so that the source can close its
 * file.
 */
export interface ByteSource {
  /** Returns the next bytes, at most `max`; undefined at the end. */
  next(max?: number): Promise<Uint8Array | undefined>;
  /** Ends the stream: the reader wants no more. */
  return(): Promise<void>;
}

/** A stream of bytes that its writer pushes. Wait for each `write`: that is the backpressure. */
export interface ByteSink {
  write(chunk: Uint8Array): Promise<void>;
  /** Ends the stream. Nothing is visible before this. */
  close(): Promise<void>;
  /** Discards the stream. Nothing becomes visible. */
  abort(): Promise<void>;
}

interface IterateOptions {
  /** Maximum number of bytes in a chunk. Default: the source decides. */
  readonly max?: number;
  /** The number of chunks to request at a time. Default 1, because not every source allows more. */
  readonly ahead?: number;
}

/** Returns a source as an async iterable. Leaving the loop early ends the source. */
export async function* iterate(
  source: ByteSource | Far<ByteSource>,
  { max, ahead = 1 }: IterateOptions = {},
): AsyncGenerator<Uint8Array, void, void> {
  const asked: Promise<Uint8Array | undefined>[] = [];
  const ask = (): void => {
    const part = (
      max === undefined ? E(source as Far<ByteSource>).next() : E(source as Far<ByteSource>).next(max)
    ) as Promise<Uint8Array | undefined>;
    // The loop sees this error when it gets to this chunk. Until then it must not count as unhandled.
    if (ahead > 1) part.catch(() => {});
    asked.push(part);
  };
  let ended = false;
  try {
    for (;;) {
      while (asked.length < ahead) ask();
      const chunk = await asked.shift();
      if (chunk === undefined) {
        ended = true;
        return;
      }
      if (ahead > 1) ask();
      yield chunk;
    }
  } finally {
    if (!ended) await E(source as Far<ByteSource>).return();
  }
}
