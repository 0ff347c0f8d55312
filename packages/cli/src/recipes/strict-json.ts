/**
 * JSON that every reader reads alike.
 *
 * The relay judges a request by its own reading, and the model's provider reads the same bytes with another parser. So
 * text that parsers are known to read differently is refused: bytes that are no UTF-8, a byte order mark, and an object
 * that has a key twice.
 */

/** Why a request cannot be judged. Its message is for the person who started the agent, and has no text of the request. */
export class Unreadable extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'Unreadable';
  }
}

/** Deeper values are refused: the walks below are recursive. */
const MOST_DEPTH = 200;

/** Errors: `Unreadable`. */
export function readJson(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Unreadable('its body is no UTF-8');
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Unreadable('its body is no JSON');
  }
  refuseTwins(text);
  return value;
}

/** Walks text that `JSON.parse` has accepted. So a quote that is no part of a string begins one, and commas divide. */
function refuseTwins(text: string): void {
  /** The keys of each open object, undefined for an open list. */
  const open: (Set<string> | undefined)[] = [];
  let isKey = false;
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at];
    if (sign === '{' || sign === '[') {
      open.push(sign === '{' ? new Set() : undefined);
      isKey = sign === '{';
      if (open.length > MOST_DEPTH) throw new Unreadable(`its body is nested more than ${MOST_DEPTH} deep`);
    } else if (sign === '}' || sign === ']') open.pop();
    else if (sign === ',') isKey = open.at(-1) !== undefined;
    else if (sign === '"') {
      const end = endOfString(text, at);
      const keys = open.at(-1);
      if (isKey && keys !== undefined) {
        // A key may be written with escapes: `"to\u006fls"`.
        const key = JSON.parse(text.slice(at, end + 1)) as string;
        if (keys.has(key)) throw new Unreadable('an object in its body has a key twice');
        keys.add(key);
        isKey = false;
      }
      at = end;
    }
  }
}

function endOfString(text: string, begin: number): number {
  for (let at = begin + 1; ; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') return at;
  }
}
