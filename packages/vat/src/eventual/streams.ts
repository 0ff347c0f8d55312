/** Bytes on their way: pulled, so that the reader sets the pace and nobody buffers for him. */
import type { Far } from '../core/types.ts';
import { E } from './eventual.ts';

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

export interface IterateOptions {
  /** Bytes of a part, at most; where nothing is said the source decides. */
  readonly max?: number;
  /** Parts that are asked for at a time: 1 where nothing is said, for not every source takes more. */
  readonly ahead?: number;
}

/** A source as an async iterable; leaving the loop early tells the source. */
export async function* iterate(
  source: ByteSource | Far<ByteSource>,
  { max, ahead = 1 }: IterateOptions = {},
): AsyncGenerator<Uint8Array, void, void> {
  const asked: Promise<Uint8Array | undefined>[] = [];
  const ask = (): void => {
    const part = (
      max === undefined ? E(source as Far<ByteSource>).next() : E(source as Far<ByteSource>).next(max)
    ) as Promise<Uint8Array | undefined>;
    // Whether this one broke is of interest once those before it have come.
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
