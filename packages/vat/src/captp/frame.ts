/**
 * Looks at a frame before anything believes it.
 *
 * Promise: what passes is a message of the Endo wire with every field of the right kind, small enough that parsing and
 * decoding it cannot stall the host. `@endo/captp` alone keeps a socket open on junk, leaves callers waiting for ever and
 * spends seconds on a 4 MB frame (measured); here a violation is a reason to close.
 */
export interface FrameLimits {
  /** UTF-16 units of text; the socket limits the bytes. */
  readonly frameBytes: number;
  /** Structural characters: what parsing and walking cost is in proportion to them, not to bytes. */
  readonly tokens: number;
}

export const frameLimits: FrameLimits = Object.freeze({ frameBytes: 1 << 20, tokens: 20_000 });

/** A message of the Endo wire, as far as this module vouches for it. */
export interface WireMessage {
  readonly type: string;
  readonly [field: string]: unknown;
}

export type Checked =
  | { readonly ok: true; readonly message: WireMessage }
  | { readonly ok: false; readonly code: 4400 | 1009; readonly reason: string };

const bad = (reason: string, code: 4400 | 1009 = 4400): Checked => ({ ok: false, code, reason });

const isSlot = (value: unknown): boolean => typeof value === 'string' && /^[opqt][+-]\d{1,15}$/.test(value);

const isCapData = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  typeof (value as { body?: unknown }).body === 'string' &&
  Array.isArray((value as { slots?: unknown }).slots) &&
  (value as { slots: unknown[] }).slots.every(isSlot);

type Field = (message: WireMessage) => boolean;
const slot =
  (name: string): Field =>
  (message) =>
    isSlot(message[name]);
const capData =
  (name: string): Field =>
  (message) =>
    isCapData(message[name]);
const either =
  (a: string, b: string): Field =>
  (message) =>
    a in message !== b in message && isCapData(message[a] ?? message[b]);

// Traps block their caller until we answer: no host of ours serves them.
const fields: Readonly<Record<string, readonly Field[]>> = Object.freeze({
  CTP_BOOTSTRAP: [slot('questionID')],
  CTP_CALL: [slot('questionID'), slot('target'), capData('method'), (message) => !('trap' in message)],
  CTP_RETURN: [slot('answerID'), either('result', 'exception')],
  CTP_RESOLVE: [slot('promiseID'), either('res', 'rej')],
  CTP_DROP: [
    slot('slotID'),
    ({ decRefs }) => decRefs === undefined || (Number.isSafeInteger(decRefs) && (decRefs as number) >= 0),
  ],
  CTP_DISCONNECT: [],
});

/** Counts what JSON's grammar makes structure of, inside strings too: cheaper than being exact, and never too low. */
function countTokens(text: string, limit: number): number {
  let tokens = 0;
  for (let i = 0; i < text.length && tokens <= limit; i += 1) {
    const unit = text.charCodeAt(i);
    // , : [ {
    if (unit === 44 || unit === 58 || unit === 91 || unit === 123) tokens += 1;
  }
  return tokens;
}

/** Whether text has more structure than may be walked. Text that a person reads has commas too, so strings are told apart. */
function tooMuchStructure(text: string, limit: number): boolean {
  if (countTokens(text, limit) <= limit) return false;
  let tokens = 0;
  let inString = false;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    if (unit === 34) inString = !inString;
    else if (unit === 92 && inString) i += 1;
    else if (!inString && (unit === 44 || unit === 58 || unit === 91 || unit === 123)) tokens += 1;
    if (tokens > limit) return true;
  }
  return false;
}

export function checkFrame(frame: string | Uint8Array, limits: FrameLimits = frameLimits): Checked {
  if (typeof frame !== 'string') return bad('binary frame: this dialect is text');
  if (frame.length > limits.frameBytes) return bad(`a frame may have ${limits.frameBytes} bytes: send streams`, 1009);
  if (tooMuchStructure(frame, limits.tokens))
    return bad(`a frame may have ${limits.tokens} tokens: send less at a time`);
  let message: WireMessage;
  try {
    message = JSON.parse(frame) as WireMessage;
  } catch {
    return bad('not JSON');
  }
  if (typeof message !== 'object' || message === null || Array.isArray(message)) return bad('not a message');
  const required =
    typeof message.type === 'string' && Object.hasOwn(fields, message.type) ? fields[message.type] : undefined;
  if (required === undefined) return bad('unknown message type');
  if (!required.every((field) => field(message))) return bad(`malformed ${message.type}`);
  // Its body is JSON once more, and is what decoding walks.
  for (const value of Object.values(message))
    if (isCapData(value) && tooMuchStructure((value as { body: string }).body, limits.tokens))
      return bad(`a body may have ${limits.tokens} tokens: send less at a time`);
  return { ok: true, message };
}
