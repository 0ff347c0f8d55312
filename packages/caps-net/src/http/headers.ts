/**
 * The headers of requests and answers.
 *
 * Promise: a holder sends only headers that are listed. Everything that decides where a request goes, how long it is,
 * who sends it, or which method it really is, is never among them: `host`, `content-length`, `x-original-url`,
 * `x-http-method-override`, cookies, forwarding. A value has no line break.
 */
import { takeList, takeText, takeTexts } from '../base/arguments.ts';
import { refusal } from '../base/errors.ts';

/** Names in lower case, and values. */
export type Headers = readonly (readonly [name: string, value: string])[];

/** A holder sends these without asking. */
const COMMON = [
  ...['accept', 'accept-language', 'content-type', 'content-language', 'idempotency-key', 'prefer'],
  ...['if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since', 'cache-control'],
];
/** Pieces of an answer could hold pieces of a secret that no one recognises. */
const PIECES = ['range', 'if-range'];
/** Never from a holder, and not in a grant's list: they change what the request is. */
const DECIDING =
  /^(?:host|connection|keep-alive|content-length|content-encoding|transfer-encoding|te|trailer|upgrade|expect|via|cookie2?|forwarded|accept-encoding|x-real-ip|x-client-ip|true-client-ip|x-original-(?:url|host|method)|x-rewrite-url|x-host|x-(?:http-)?method(?:-override)?|proxy-.*|sec-.*|x-forwarded.*|cf-connecting-ip)$/;
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9a-z]{1,128}$/;
const MOST = 64;
const MOST_BYTES = 16_384;
/** Those that name nothing for the holder, or hand out a login. */
const HIDDEN = /^(?:set-cookie2?|connection|keep-alive|transfer-encoding|upgrade|trailer|proxy-.*|alt-svc|te)$/;

/** Which headers a holder may send. `listed` are more names, from the granter. Errors: `invalid`, `E_HEADER`. */
export function takeAllowed(listed: unknown, secretHeader: string | undefined): ReadonlySet<string> {
  const more = listed === undefined ? [] : takeList(listed, 'headers', MOST).map(takeName);
  const names = [...COMMON, ...(secretHeader === undefined ? PIECES : []), ...more];
  if (secretHeader !== undefined && more.includes(secretHeader))
    throw refusal('E_HEADER', `${secretHeader} is set by the host: leave it out of the list`);
  return new Set(names);
}

/** The name of a header that a grant may list or set. Errors: `E_HEADER`. */
export function takeName(given: unknown): string {
  const name = takeText(given, 'the name of a header', 128).toLowerCase();
  if (!TOKEN.test(name)) throw refusal('E_HEADER', 'a name has letters, digits and hyphens');
  if (DECIDING.test(name)) throw refusal('E_HEADER', `${name} belongs to the host`);
  return name;
}

/** The headers that a grant sets. Errors: `E_HEADER`. */
export const takeFixed = (given: unknown): Headers =>
  takeTexts(given, 'set', MOST).map(([name, value]) => [takeName(name), checkValue(value)] as const);

/** The headers of a holder's request. Errors: `E_HEADER`, `limit`. */
export function takeHeaders(given: unknown, allowed: ReadonlySet<string>): Headers {
  const headers = takeTexts(given, 'headers', MOST).map(([spelled, value]) => {
    const name = spelled.toLowerCase();
    if (!allowed.has(name))
      throw refusal('E_HEADER', `ask for ${TOKEN.test(name) ? name : 'a header that can be sent'}`);
    return [name, checkValue(value)] as const;
  });
  if (new Set(headers.map(([name]) => name)).size < headers.length)
    throw refusal('E_HEADER', 'a header stands there twice');
  if (headers.reduce((sum, [name, value]) => sum + name.length + value.length, 0) > MOST_BYTES)
    throw refusal('limit', `headers have at most ${MOST_BYTES} characters`);
  return headers;
}

/** One byte for each character, so no encoding makes a line break of it. */
function checkValue(value: string): string {
  if (!/^[\t\x20-\x7e]*$/.test(value)) throw refusal('E_HEADER', 'a value is ASCII in one line');
  return value;
}

/** The headers of an answer that a holder sees, each with its values. */
export function shownHeaders(raw: Headers, blank: (text: string) => string): Readonly<Record<string, string>> {
  const shown = new Map<string, string>();
  for (const [name, value] of raw) {
    if (HIDDEN.test(name) || !TOKEN.test(name)) continue;
    const before = shown.get(name);
    shown.set(name, before === undefined ? blank(value) : `${before}, ${blank(value)}`);
  }
  // The length and the encoding of what came, not of what the holder gets.
  shown.delete('content-encoding');
  if (raw.some(([name]) => name === 'content-encoding')) shown.delete('content-length');
  return Object.freeze(Object.fromEntries(shown));
}

export const firstOf = (headers: Headers, name: string): string | undefined =>
  headers.find(([known]) => known === name)?.[1];
