/** Writes bytes, and lists of bytes or numbers, as text that PostgreSQL reads. */

const hex = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');

/** A parameter for `$n::text::bytea`. */
export const bytesText = (bytes: Uint8Array): string => `\\x${hex(bytes)}`;

/** A parameter for `$n::text::bytea[]`. */
export const bytesList = (list: readonly Uint8Array[]): string =>
  `{${list.map((bytes) => `"\\\\x${hex(bytes)}"`).join(',')}}`;

/** A parameter for `$n::text::bigint[]`. */
export const numberList = (list: readonly number[]): string => `{${list.join(',')}}`;

export const utf8 = (text: string): Uint8Array => Buffer.from(text, 'utf8');
export const textOf = (bytes: unknown): string => Buffer.from(bytes as Uint8Array).toString('utf8');
