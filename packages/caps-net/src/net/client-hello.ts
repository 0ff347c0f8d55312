/**
 * The name in the first message of a TLS client (SNI, RFC 6066).
 *
 * Promise: a message that is not exactly a ClientHello is refused: other bytes, other records between, lengths that do
 * not add up, two names, bytes behind it in its last record. So a server reads no other name than this one. With
 * encrypted ClientHello (ECH) this is the name of the outer message; the inner one cannot be seen.
 */
import { refusal } from '../base/errors.ts';

/** The name that a client asks for, in lower case. Undefined: it names none. */
interface Hello {
  readonly name: string | undefined;
}

/** Real ones have up to 4 KiB, with keys of post-quantum kinds. */
const LONGEST = 16_384;
const MOST_RECORDS = 64;
const HANDSHAKE = 22;
const CLIENT_HELLO = 1;
const SERVER_NAME = 0;
const HOST_NAME = 0;

const fault = (text: string) => refusal('E_NAME', text);

/** `bytes`: all that has come. Returns undefined if more are needed. Errors: `E_NAME`. */
export function readClientHello(bytes: Uint8Array): Hello | undefined {
  const message = messageIn(bytes);
  return message && { name: nameIn(new Fields(message)) };
}

/** The body of the ClientHello, put together from its records. */
function messageIn(bytes: Uint8Array): Uint8Array | undefined {
  const parts: Uint8Array[] = [];
  let have = 0;
  let need = 4;
  for (let at = 0, records = 0; at < bytes.length; records += 1) {
    const [type, major, minor, high, low] = bytes.subarray(at, at + 5);
    if (type !== HANDSHAKE || (major !== undefined && major !== 3) || (minor !== undefined && minor > 4))
      throw fault('these bytes are not TLS');
    if (high === undefined || low === undefined) return undefined;
    const length = high * 256 + low;
    if (length === 0 || length > LONGEST || records === MOST_RECORDS) throw fault('its records are not those of a ClientHello'); // biome-ignore format: one line
    const part = bytes.subarray(at + 5, at + 5 + length);
    parts.push(part);
    have += part.length;
    at += 5 + length;
    if (have >= 4) need = 4 + lengthOf(joined(parts));
    if (have < need) continue;
    // Whole, and its last record has nothing else.
    if (have > need || part.length < length) throw fault('other bytes follow in its record');
    return joined(parts).subarray(4, need);
  }
  return undefined;
}

function lengthOf(message: Uint8Array): number {
  const [type, high = 0, middle = 0, low = 0] = message;
  const length = high * 65_536 + middle * 256 + low;
  if (type !== CLIENT_HELLO || length > LONGEST) throw fault('it is not a ClientHello');
  return length;
}

const joined = (parts: readonly Uint8Array[]): Uint8Array =>
  parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts);

/** Reads lengths and what they count. What is cut off is refused. */
class Fields {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isOver(): boolean {
    return this.#at === this.#bytes.length;
  }

  take(count: number): Uint8Array {
    const part = this.#bytes.subarray(this.#at, this.#at + count);
    if (part.length < count) throw fault('its lengths do not add up');
    this.#at += count;
    return part;
  }

  number(width: 1 | 2): number {
    return this.take(width).reduce((sum, byte) => sum * 256 + byte, 0);
  }

  /** A vector with a length before it. */
  vector(width: 1 | 2): Fields {
    return new Fields(this.take(this.number(width)));
  }

  get rest(): Uint8Array {
    return this.take(this.#bytes.length - this.#at);
  }
}

function nameIn(hello: Fields): string | undefined {
  hello.take(2 + 32); // version and random
  hello.vector(1); // session
  hello.vector(2); // ciphers
  hello.vector(1); // compression
  if (hello.isOver) return undefined;
  const extensions = hello.vector(2);
  if (!hello.isOver) throw fault('its lengths do not add up');
  let name: string | undefined;
  while (!extensions.isOver) {
    const type = extensions.number(2);
    const content = extensions.vector(2);
    if (type !== SERVER_NAME) continue;
    if (name !== undefined) throw fault('it has two names');
    name = serverName(content);
  }
  return name;
}

function serverName(content: Fields): string {
  const list = content.vector(2);
  const type = list.number(1);
  const name = Buffer.from(list.vector(2).rest).toString('latin1').toLowerCase();
  if (type !== HOST_NAME || !content.isOver || !list.isOver || !/^[\x21-\x7e]{1,255}$/.test(name))
    throw fault('it has not exactly one name');
  return name;
}
