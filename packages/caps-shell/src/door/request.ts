/**
 * The requests that a program makes to the door: HTTP CONNECT, a plain HTTP request to a proxy, or SOCKS5 CONNECT.
 *
 * Pure: bytes in, a request or a refusal out. A host is compared as text with what was granted and nothing here
 * resolves it. An address is a host like any other, so it matches only a grant of that address.
 */

/** A host and port to open. */
export interface Wanted {
  readonly how: 'connect' | 'plain' | 'socks';
  /** In lower case; an IPv6 address without brackets. */
  readonly host: string;
  readonly port: number;
  /** The bytes to send to the server first. */
  readonly head: Uint8Array;
  /** The path of a plain request, without its query. Undefined for a tunnel. */
  readonly path?: string;
}

/** The reply of the door when it refuses. It then closes the connection. */
export interface Refusal {
  readonly how: 'http' | 'socks' | 'silent';
  /** HTTP status; SOCKS has its own numbers. */
  readonly why: 'malformed' | 'denied' | 'unreachable' | 'command';
  readonly text: string;
}

/** More than any proxy request needs. */
export const LONGEST_HEAD: number = 16_384;

export type Read<T> = { readonly value: T; readonly used: number } | Refusal | undefined;

export const isRefusal = (read: object): read is Refusal => 'why' in read;

const malformed = (how: Refusal['how'], text: string): Refusal => ({ how, why: 'malformed', text });

/** The first byte of SOCKS5. Every other request begins with a letter. */
export const SOCKS = 5;

/** Reads the head of an HTTP request. Undefined: more bytes are needed. */
export function readHttp(bytes: Buffer): Read<Wanted> {
  const [letter = 0] = bytes;
  if (letter < 0x41 || letter > 0x5a) return malformed('http', 'it speaks HTTP and SOCKS5');
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0)
    return bytes.length > LONGEST_HEAD ? malformed('http', 'the head of the request is too long') : undefined;
  const [line = '', ...headers] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const used = end + 4;
  const tunnel = /^CONNECT (\S{1,300}) HTTP\/1\.[01]$/.exec(line);
  if (tunnel !== null) {
    const at = authorityOf(tunnel[1] ?? '', undefined);
    return at === undefined
      ? malformed('http', 'CONNECT takes a host and a port')
      : { used, value: { how: 'connect', ...at, head: new Uint8Array() } };
  }
  const [, method = '', authority = '', target = '', version = ''] =
    /^([A-Z]{1,20}) http:\/\/([^/?#\s]{1,300})([/?][^\s#]*)? (HTTP\/1\.[01])$/i.exec(line) ?? [];
  const at = authorityOf(authority, 80);
  if (at === undefined)
    return { how: 'http', why: 'command', text: 'it takes CONNECT, and requests for http://host/ as a proxy does' };
  // The connection is for one request, because the next one may be for another host.
  const kept = headers.filter((header) => !/^(?:proxy-[^:]*|connection|keep-alive)\s*:/i.test(header));
  const path = target.startsWith('/') ? target : `/${target}`;
  const head = [`${method} ${path} ${version}`, ...kept, 'Connection: close', '', ''].join('\r\n');
  return { used, value: { how: 'plain', ...at, head: Buffer.from(head, 'latin1'), path: path.split('?')[0] ?? '' } };
}

/** `host:port`; an IPv6 address in brackets. No user, no path. */
function authorityOf(text: string, usual: number | undefined): { host: string; port: number } | undefined {
  const [, inner, name, digits] = /^(?:\[([0-9a-f:.]+)\]|([^:[\]@/\\%]+))(?::([0-9]{1,5}))?$/i.exec(text) ?? [];
  const host = inner ?? name;
  const port = digits === undefined ? usual : Number(digits);
  if (host === undefined || port === undefined || port < 1 || port > 65_535) return undefined;
  return { host: host.toLowerCase(), port };
}

/** The greeting of SOCKS5. `value`: whether the client can do without a password. */
export function readGreeting(bytes: Buffer): Read<boolean> {
  const count = bytes[1];
  if (count === undefined || bytes.length < 2 + count) return undefined;
  return { used: 2 + count, value: bytes.subarray(2, 2 + count).includes(0) };
}

/** The request of SOCKS5. */
export function readSocks(bytes: Buffer): Read<Wanted> {
  const [version, command, , kind, first = 0] = bytes;
  if (kind === undefined) return undefined;
  if (version !== SOCKS) return malformed('silent', 'not SOCKS5');
  if (command !== 1) return { how: 'socks', why: 'command', text: 'only CONNECT' };
  const [from, length] = kind === 1 ? [4, 4] : kind === 4 ? [4, 16] : kind === 3 ? [5, first] : [4, -1];
  if (length < 0) return malformed('silent', 'no such kind of address');
  if (bytes.length < from + length + 2 || bytes.length < 5) return undefined;
  const raw = bytes.subarray(from, from + length);
  const host = kind === 3 ? raw.toString('latin1').toLowerCase() : kind === 1 ? raw.join('.') : groupsOf(raw);
  const port = bytes.readUInt16BE(from + length);
  return { used: from + length + 2, value: { how: 'socks', host, port, head: new Uint8Array() } };
}

/** RFC 5952, as grants write it. */
function groupsOf(raw: Buffer): string {
  const text = Array.from({ length: 8 }, (_, at) => raw.readUInt16BE(2 * at).toString(16)).join(':');
  return new URL(`http://[${text}]`).hostname.slice(1, -1);
}

const SOCKS_CODES = { malformed: 1, denied: 2, unreachable: 4, command: 7 } as const;
const HTTP_CODES = {
  malformed: '400 Bad Request',
  denied: '403 Forbidden',
  unreachable: '502 Bad Gateway',
  command: '405 Method Not Allowed',
} as const;

const socksAnswer = (code: number): Uint8Array => Uint8Array.of(SOCKS, code, 0, 1, 0, 0, 0, 0, 0, 0);

/** The bytes that tell a program why not. */
export function refusalBytes({ how, why, text }: Refusal): Uint8Array {
  if (how === 'silent') return new Uint8Array();
  if (how === 'socks') return socksAnswer(SOCKS_CODES[why]);
  const body = `Hob: ${text}.\n`;
  const head = `HTTP/1.1 ${HTTP_CODES[why]}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n`;
  return Buffer.from(`${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}

/** The bytes that tell a program that its connection stands. */
export function grantedBytes({ how }: Wanted): Uint8Array {
  if (how === 'socks') return socksAnswer(0);
  return how === 'connect' ? Buffer.from('HTTP/1.1 200 Connection established\r\n\r\n') : new Uint8Array();
}
