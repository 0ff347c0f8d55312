/**
 * Redirects inside a grant.
 *
 * Promise: the place that a server names is read as a browser reads it, and then checked as a path of the holder is. Only
 * the same origin and the same prefix pass. The body of a request follows only where the method does (307, 308).
 */
import { refusal } from '../base/errors.ts';
import type { Grant } from './grant.ts';
import { resolvePath, type Segments, type Target } from './path.ts';

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

export const isRedirect = (status: number): boolean => REDIRECTS.has(status);

/** Errors: `E_REDIRECT`. */
export function followed({ origin }: Grant, prefix: Segments, from: string, location: string): Target {
  let url: URL;
  try {
    url = new URL(location, new URL(from, origin.text));
  } catch {
    throw refusal('E_REDIRECT', 'it names no place');
  }
  if (url.origin !== origin.text) throw refusal('E_REDIRECT', 'it leads to another origin');
  if (url.username !== '' || url.password !== '') throw refusal('E_REDIRECT', 'it names a user');
  try {
    return resolvePath(prefix, url.pathname + url.search);
  } catch {
    throw refusal('E_REDIRECT', 'it leads to a path that is not granted');
  }
}

/**
 * The path of what a POST made, as the server names it (201 with Location: RFC 9110, 15.3.2). The server chose its name. It
 * lies in the prefix of the cap, and is not the place that was posted to, nor above it. Undefined: it names no such place.
 */
export function madeBy(
  grant: Grant,
  prefix: Segments,
  { method, target }: { readonly method: string; readonly target: Target },
  location: string | undefined,
): string | undefined {
  if (method !== 'POST' || location === undefined) return undefined;
  try {
    const { segments, text } = followed(grant, prefix, target.text, location);
    const named = segments.at(-1) === '' ? segments.slice(0, -1) : segments;
    return named.every((segment, at) => segment === target.segments[at]) ? undefined : text;
  } catch {
    return undefined;
  }
}

/** A form that was posted is answered by a page (RFC 9110, 15.4). */
export const methodAfter = (status: number, method: string): string =>
  status === 303 ? (method === 'HEAD' ? 'HEAD' : 'GET') : status < 303 && method === 'POST' ? 'GET' : method;
