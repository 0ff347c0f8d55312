/**
 * Looks at a frame before anything believes it.
 *
 * Promise: what passes is a message of the Endo wire with every field of the right kind, small enough that parsing and
 * decoding it cannot stall the host. `@endo/captp` alone keeps a socket open on junk, leaves callers waiting for ever and
 * spends seconds on a 4 MB frame (measured); here a violation is a reason to close.
 */
import { mutant } from '../drivers/mutant.ts';

const anyFields = mutant('frame');

export interface FrameLimits {
  /** UTF-16 units of text; the socket limits the bytes. */
  readonly frameBytes: number;
  /** Structural characters: what parsing and walking cost is in proportion to them, not to bytes. */
  readonly tokens: number;
  /** Of nesting: decoding walks it by calling itself. More than any value of ours can have. */
  readonly depth: number;
  /** Of a bigint. */
  readonly digits: number;
}

export const frameLimits: FrameLimits = Object.freeze({
  frameBytes: 1 << 20,
  tokens: 20_000,
  depth: 300,
  digits: 10_000,
});

/** A message of the Endo wire, as far as this module vouches for it. */
export interface WireMessage {
  readonly type: string;
  readonly [field: string]: unknown;
}

export type Checked =
  | { readonly ok: true; readonly message: WireMessage }
  | { readonly ok: false; readonly code: 4400 | 1009; readonly reason: string };

const bad = (reason: string, code: 4400 | 1009 = 4400): Checked => ({ ok: false, code, reason });

/** An object or a promise, as the sender sees it: `+` its own, `-` the other's. */
const isSlot = (value: unknown): boolean => typeof value === 'string' && /^[op][+-]\d{1,15}$/.test(value);

const isCapData = (value: unknown): value is { readonly body: string; readonly slots: readonly string[] } =>
  typeof value === 'object' &&
  value !== null &&
  typeof (value as { body?: unknown }).body === 'string' &&
  Array.isArray((value as { slots?: unknown }).slots) &&
  (value as { slots: unknown[] }).slots.every(isSlot);

type Field = (message: WireMessage) => boolean;
/** What the sender may name here: its questions `q-`, and what the other side gave it. Its own `+` would come back to it. */
const id =
  (name: string, kinds: RegExp): Field =>
  (message) => {
    const value = message[name];
    return typeof value === 'string' && kinds.test(value);
  };
const question = /^q-\d{1,15}$/;
const promise = /^p-\d{1,15}$/;
const given = /^[opq]-\d{1,15}$/;
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
  CTP_BOOTSTRAP: [id('questionID', question)],
  CTP_CALL: [
    id('questionID', question),
    id('target', given),
    capData('method'),
    (message) => !('trap' in message) || message['trap'] === false,
  ],
  CTP_RETURN: [id('answerID', question), either('result', 'exception')],
  CTP_RESOLVE: [id('promiseID', promise), either('res', 'rej')],
  CTP_DROP: [
    id('slotID', given),
    ({ decRefs }) => decRefs === undefined || (Number.isSafeInteger(decRefs) && (decRefs as number) >= 0),
  ],
  CTP_DISCONNECT: [],
});

/** Why text may not be parsed: its structure is too much or too deep. Text that a person reads has commas too: not in strings. */
function badStructure(text: string, limits: FrameLimits): string | undefined {
  let tokens = 0;
  let depth = 0;
  let inString = false;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    if (inString) {
      if (unit === 34) inString = false;
      else if (unit === 92) i += 1;
      continue;
    }
    switch (unit) {
      case 34: // "
        inString = true;
        break;
      case 91: // [
      case 123: // {
        depth += 1;
        tokens += 1;
        break;
      case 93: // ]
      case 125: // }
        depth -= 1;
        break;
      case 44: // ,
      case 58: // :
        tokens += 1;
        break;
    }
    if (tokens > limits.tokens) return `may have ${limits.tokens} tokens: send less at a time`;
    if (depth > limits.depth) return `may be nested ${limits.depth} deep: send it flatter`;
  }
  return undefined;
}

/** The parts of a message that are JSON once more: they are what decoding walks. */
function* bodies(message: Readonly<Record<string, unknown>>): Generator<string> {
  for (const value of Object.values(message)) if (isCapData(value)) yield value.body;
}

function badBody(body: string, isCall: boolean, limits: FrameLimits): string | undefined {
  const structure = badStructure(body, limits);
  if (structure !== undefined) return `a body ${structure}`;
  let said: unknown;
  try {
    said = JSON.parse(body);
  } catch {
    return 'a body is not JSON';
  }
  // [method, arguments], or [property] alone: what else there is, the package would take apart with whatever it has for methods.
  if (isCall && !isInvocation(said)) return 'malformed CTP_CALL';
  const left = [said];
  for (let next = left.pop(); next !== undefined || left.length > 0; next = left.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    // Reading a number of a million digits takes 150 ms.
    const { '@qclass': kind, digits } = next as { readonly '@qclass'?: unknown; readonly digits?: unknown };
    if (kind === 'bigint' && typeof digits === 'string' && digits.length > limits.digits)
      return `a bigint may have ${limits.digits} digits`;
    for (const inner of Object.values(next)) left.push(inner);
  }
  return undefined;
}

function isInvocation(said: unknown): boolean {
  if (!Array.isArray(said)) return false;
  const [method, args] = said as unknown[];
  // A symbol is a record here. Anything else that is no name would be made one.
  const named = typeof method === 'string' || (typeof method === 'object' && !Array.isArray(method));
  return named && (said.length === 1 || (said.length === 2 && Array.isArray(args)));
}

export function checkFrame(frame: string | Uint8Array, limits: FrameLimits = frameLimits): Checked {
  if (typeof frame !== 'string') return bad('binary frame: this dialect is text');
  if (frame.length > limits.frameBytes) return bad(`a frame may have ${limits.frameBytes} bytes: send streams`, 1009);
  const structure = badStructure(frame, limits);
  if (structure !== undefined) return bad(`a frame ${structure}`);
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
  if (!anyFields && !required.every((field) => field(message))) return bad(`malformed ${message.type}`);
  for (const body of bodies(message)) {
    const reason = badBody(body, message.type === 'CTP_CALL', limits);
    if (reason !== undefined) return bad(reason);
  }
  return { ok: true, message };
}

/** Whether a peer that checks as we do takes `text`, which is `message`. */
export function fits(
  text: string,
  message: Readonly<Record<string, unknown>>,
  limits: FrameLimits = frameLimits,
): boolean {
  if (text.length * 3 > limits.frameBytes && Buffer.byteLength(text) > limits.frameBytes) return false;
  if (text.length <= limits.tokens) return true;
  for (const body of bodies(message)) if (badStructure(body, limits) !== undefined) return false;
  return badStructure(text, limits) === undefined;
}
