/**
 * The answer to one call of a verb: the same facts as text and as data.
 *
 * Some agents show their model only the text of a result, others only its `structuredContent`. So each of the two
 * is complete.
 */
import { CapError } from '@hob/vat/peer';

/** JSON data of an answer. */
export type Data = Readonly<Record<string, unknown>>;

/** What a verb returns. */
export interface Answer {
  readonly text: string;
  readonly data: Data;
  /** Facts about `text` that are not part of it, such as where its next page is. A text block of its own. */
  readonly note?: string;
  /** A picture, in base64. */
  readonly image?: { readonly mimeType: string; readonly data: string };
  readonly isError?: true;
  /** Warnings of the host about the calls that were made for it, for example that they repeat themselves. */
  readonly warnings?: readonly string[];
}

/** Codes after which the remedy is to ask a person for a cap. */
const ASK: ReadonlySet<string> = new Set([
  ...['revoked', 'expired', 'exhausted', 'denied', 'no-such-object'],
  ...['NOT_PERMITTED', 'READ_ONLY', 'PATH_ESCAPES', 'PATH_ABSOLUTE', 'RESOLVED_OUTSIDE'],
]);
/** After these nobody knows whether the call happened. */
const UNKNOWN: ReadonlySet<string> = new Set(['disconnected', 'unknown-outcome', 'restarted']);
/** The most characters of an error of a cap, which somebody else may have written. */
const LONGEST = 2000;

/** An error as an answer: its code, its message, and the cap to ask for. Never a stack, and nothing but a `CapError`. */
export function failed(error: unknown, cap?: string): Answer {
  const known = error instanceof CapError;
  const code = known ? error.code.slice(0, 64) : 'fault';
  const said = known ? error.message.slice(0, LONGEST).toWellFormed() : 'the call failed for a reason of Hob’s own: tell the person you work for'; // biome-ignore format: one line
  const message = UNKNOWN.has(code) ? `${said}. It may have happened or not: look before you repeat it` : said;
  if (!ASK.has(code)) return { text: `${code}: ${message}`, data: { code, message }, isError: true };
  const ask = { cap: cap ?? '', why: '…' };
  const text = `${code}: ${message}. To ask a person: request_cap ${JSON.stringify(ask)}`;
  return { text, data: { code, message, ask: ask.cap }, isError: true };
}
