/** Streams of bytes, with the types of `@hob/vat`. */
import type * as vat from '@hob/vat';

/**
 * A stream that the reader pulls, so the reader's own pace is the backpressure. `next` returns at most `max`
 * bytes, and `undefined` at the end.
 */
export type ByteSource = vat.ByteSource;

/**
 * A file being written. Nothing is visible before `close`, which gives the whole file its name in one step.
 */
export type ByteSink = vat.ByteSink;
