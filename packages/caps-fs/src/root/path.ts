/**
 * The path grammar, checked once on a primitive string before any I/O.
 *
 * Promise: a `Path` holds only single components. None of them is `..`, empty, or one of our temporaries.
 * Nothing is decoded, normalised or folded. A trailing `/` becomes a flag, because `link/` makes the kernel
 * follow the link (Go CVE-2026-39822).
 */
import { refusal } from '../base/errors.ts';
import { isTemporary } from '../base/names.ts';

export interface Path {
  readonly names: readonly string[];
  /** The caller wrote `x/` or `x/.`, so the path must name a directory. */
  readonly directory: boolean;
}

const maxBytes = 4096;
const maxNameBytes = 255;
const maxDepth = 128;
const utf8 = new TextEncoder();

export function parsePath(input: unknown): Path {
  // No String objects and nothing with toString: they could give one text to the check and another to the
  // use.
  if (typeof input !== 'string') throw refusal('PATH_INVALID', 'it is not text');
  if (input.length === 0) throw refusal('PATH_INVALID', 'it is empty, "." names the directory itself');
  if (isLonger(input, maxBytes)) throw refusal('PATH_INVALID', `it has more than ${maxBytes} bytes`);
  // Node writes a lone surrogate as U+FFFD, so two strings would name one file.
  if (!input.isWellFormed()) throw refusal('PATH_INVALID', 'it has a lone surrogate');
  if (input.includes('\0')) throw refusal('PATH_INVALID', 'it has a NUL');
  if (input.startsWith('/')) throw refusal('PATH_ABSOLUTE');
  const parts = input.split('/');
  if (parts.includes('..')) throw refusal('PATH_ESCAPES');
  const names = parts.filter(isName);
  if (names.length > maxDepth) throw refusal('PATH_INVALID', `it has more than ${maxDepth} names`);
  if (names.some(tooLong)) throw refusal('PATH_INVALID', `a name in it has more than ${maxNameBytes} bytes`);
  if (names.some(isTemporary)) throw refusal('PATH_INVALID', 'a name in it is kept for unfinished writes');
  return { names, directory: !isName(parts.at(-1) ?? '') };
}

/** Parses the text of a link. Here `..` is allowed, and the walk carries it out. */
export function parseLink(bytes: Uint8Array): Path & { readonly absolute: boolean } {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw refusal('PATH_INVALID', 'a link on the way is not UTF-8');
  }
  const parts = text.split('/');
  const last = parts.at(-1) ?? '';
  return { absolute: text.startsWith('/'), names: parts.filter(isName), directory: !isName(last) || last === '..' };
}

/**
 * Formats a path for a person, a diff or a message. Quoting stops control characters in a name from faking
 * lines.
 */
export function showPath(path: Path): string {
  return showName(path.names.join('/'));
}

/** The same for names that are joined already. */
export function showName(text: string): string {
  return /[\p{Cc}\p{Cf}\u2028\u2029"\\]/u.test(text) ? JSON.stringify(text) : text;
}

function isName(part: string): boolean {
  return part !== '' && part !== '.';
}

function tooLong(name: string): boolean {
  return isLonger(name, maxNameBytes);
}

/**
 * Compares the length in bytes of UTF-8. A UTF-16 unit takes at most three, so most texts need no encoding.
 */
function isLonger(text: string, max: number): boolean {
  return text.length > max || (text.length * 3 > max && utf8.encode(text).length > max);
}
