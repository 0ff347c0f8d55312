/**
 * A stream that the reader pulls, so the reader's own pace is the backpressure. `@hob/vat` has the same
 * shapes. `next` returns at most `max` bytes, and `undefined` at the end.
 */
export interface ByteSource {
  next(max?: number): Promise<Uint8Array | undefined>;
  return(): Promise<void>;
}

/**
 * A file being written. Nothing is visible before `close`, which gives the whole file its name in one step.
 */
export interface ByteSink {
  write(chunk: Uint8Array): Promise<void>;
  close(): Promise<void>;
  abort(): Promise<void>;
}
