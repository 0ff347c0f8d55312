/**
 * The path of a request, resolved once against the prefix of a grant.
 *
 * Promise: the path that is sent lies in the prefix for every server, however it decodes. Each segment is decoded and
 * compared, and encoded again in one canonical way, so two parsers cannot disagree about it. A segment is refused if any
 * number of decodings, Unicode compatibility forms or path parameters (`..;x`) make it climb or split: `..`, `%2e`,
 * `%252e`, an encoded slash, a backslash, an empty segment, a control character, bytes that are not UTF-8.
 */
import { takeText } from '../base/arguments.ts';
import { refusal } from '../base/errors.ts';

/** A path as its decoded segments. An empty last one is a slash at the end. */
export type Segments = readonly string[];

export interface Target {
  readonly segments: Segments;
  /** As it is sent, with the query. */
  readonly text: string;
}

const LONGEST_PATH = 8_192;
/** RFC 3986 `pchar`, without the percent sign. */
const PLAIN = /[A-Za-z0-9\-._~!$&'()*+,;=:@]/;
const QUERY = /[A-Za-z0-9\-._~!$&'()*+,;=:@/?%[\]|]/;

/**
 * Resolves `path`: from the root of the origin if it begins with a slash, or else from the prefix. Errors: `E_PATH`.
 */
export function resolvePath(prefix: Segments, path: unknown): Target {
  const text = takeText(path, 'the path', LONGEST_PATH);
  const mark = text.indexOf('?');
  const [before, query] = mark < 0 ? [text, undefined] : [text.slice(0, mark), text.slice(mark + 1)];
  const own = before.startsWith('/') ? segmentsOf(before.slice(1)) : [...prefix, ...relative(before)];
  if (!isWithin(prefix, own)) throw refusal('E_PATH', 'it lies outside of what is granted');
  return {
    segments: own,
    text: `/${own.map(encodeSegment).join('/')}${query === undefined ? '' : `?${queryOf(query)}`}`,
  };
}

/** The prefix of a grant: absolute, without a query. Errors: `E_PATH`. */
export function takePrefix(given: unknown): Segments {
  const text = takeText(given, 'prefix', LONGEST_PATH);
  if (!text.startsWith('/')) throw refusal('E_PATH', 'a prefix begins with a slash');
  if (text.includes('?')) throw refusal('E_PATH', 'a prefix has no query');
  const segments = segmentsOf(text.slice(1));
  return Object.freeze(segments.at(-1) === '' ? segments.slice(0, -1) : segments);
}

export const prefixText = (prefix: Segments): string => `/${prefix.map(encodeSegment).join('/')}`;

const isWithin = (prefix: Segments, segments: Segments): boolean =>
  prefix.every((segment, at) => segments[at] === segment);

const relative = (text: string): string[] => (text === '' ? [] : segmentsOf(text));

function segmentsOf(text: string): string[] {
  if (text === '') return [''];
  const segments = text.split('/').map(decodeSegment);
  if (segments.slice(0, -1).includes('')) throw refusal('E_PATH', 'write one slash between segments');
  return segments;
}

function decodeSegment(segment: string): string {
  if (segment.includes('#')) throw refusal('E_PATH', 'write # as %23: a request has no fragment');
  let decoded: string;
  try {
    decoded = decodeURIComponent(segment);
  } catch {
    throw refusal('E_PATH', 'a percent sign is followed by two hexadecimal digits, of UTF-8: write % as %25');
  }
  for (let [form, depth] = [decoded, 0]; ; depth += 1) {
    refuseIfClimbing(form);
    const next = decodeAny(form);
    if (next === form) return decoded;
    if (depth === 4) throw refusal('E_PATH', 'it is encoded too many times');
    form = next;
  }
}

/** Decodes what a lenient server would: each `%xx` of ASCII, `%uxxxx` (IIS), and overlong forms of dot and slash. */
const decodeAny = (text: string): string =>
  text
    .replace(/%u([0-9a-fA-F]{4})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/%([0-7][0-9a-fA-F])/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/%c0%ae/gi, '.')
    .replace(/%c0%af/gi, '/')
    .replace(/%c1%9c/gi, '\\');

function refuseIfClimbing(segment: string): void {
  // Compatibility forms: a fullwidth dot, a two-dot leader, a fullwidth slash.
  const folded = segment.normalize('NFKC');
  if (/[/\\]/.test(folded) || /[\u2044\u2215\u29f8\u2216]/.test(segment))
    throw refusal('E_PATH', 'a segment has no slash in it, also not encoded, and no backslash');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
  if (/[\u0000-\u001f\u007f-\u009f]/.test(folded)) throw refusal('E_PATH', 'it has a control character');
  // Some servers cut a segment at a semicolon, some drop spaces and dots at its end.
  const bare = (folded.split(';')[0] ?? '').replace(/[\s\p{Default_Ignorable_Code_Point}]/gu, '');
  if (bare !== '' ? /^\.+$/.test(bare) : folded !== '') throw refusal('E_PATH', 'it has no segments of dots: name it directly'); // biome-ignore format: one line
}

function encodeSegment(segment: string): string {
  let out = '';
  for (const char of segment) out += PLAIN.test(char) ? char : encodeURIComponent(char);
  return out;
}

function queryOf(query: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
  if (/[#\u0000-\u001f\u007f]/.test(query)) throw refusal('E_PATH', 'the query has a # or a control character');
  let out = '';
  for (const char of query) out += QUERY.test(char) ? char : encodeURIComponent(char);
  return out;
}
