/**
 * The digest of a request. An answer that names it is bound to what it covers. Checked in
 * `answer-request.ts`, `answerRequest`.
 *
 * Promise: two requests have different digests if one of these differs: the cap and the object behind it,
 * the method, the data, or the versions of the files that were shown. Equal data has one text only, by type
 * and value. Data that could change later is refused before.
 */
import { base32, canonicalText, hashSecret } from '@hob/vat/forwarder';
import type { FileVersion } from '../state/records.ts';

interface DigestInput {
  /** The asker, its grants, and the number of the offer's object. */
  readonly cap: readonly unknown[];
  readonly method: string;
  readonly data: unknown;
  readonly files: readonly FileVersion[];
}

/** Returns 52 letters and digits. A person copies the first 12. */
export function digestOf({ cap, method, data, files: seen }: DigestInput): string {
  const whole = [cap, method, data, seen];
  return base32(Buffer.from(hashSecret(`request:${canonicalText(whole)}`), 'base64url'));
}
