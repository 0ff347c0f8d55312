/** Streams as a holder sees them: pulled, so that the reader's own pace is the backpressure. Shapes of `@hob/vat`. */
export interface ByteSource {
  next(max?: number): Promise<Uint8Array | undefined>;
  return(): Promise<void>;
}

/** Nothing is visible before `close`, which makes the file whole and named in one step. */
export interface ByteSink {
  write(chunk: Uint8Array): Promise<void>;
  close(): Promise<void>;
  abort(): Promise<void>;
}
