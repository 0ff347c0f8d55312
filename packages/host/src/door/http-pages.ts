/**
 * Pages that a door serves to everybody who can reach it, such as the code of a console.
 *
 * Promise: a page is a fixed text at a fixed path, and holds no secret. The browser may load code, styles and data from
 * this door alone, runs no script inside a page's text, makes no text into markup, and shows the page in no frame.
 */
import { CapError } from '@hob/vat';

/** The text of one path, and its media type. */
export interface HttpPage {
  readonly type: string;
  readonly body: Uint8Array;
}

/** Pages by their paths, such as `/console`, `/console/page.js` and `/.well-known/agent-card.json`. */
export type HttpPages = Readonly<Record<string, HttpPage>>;

/** Checks pages that were given. `others` are the paths of faces. Errors: `invalid`. */
export function checkPages(
  pages: HttpPages | undefined,
  others: ReadonlyMap<string, unknown>,
): ReadonlyMap<string, HttpPage> {
  for (const [path, { type, body }] of Object.entries(pages ?? {}))
    if (
      !/^\/(?!object\/|beside)(?:\.well-known|[a-z][a-z0-9-]{0,30})(?:\/[a-z0-9-]{1,40}\.[a-z0-9]{1,8})?$/.test(path) ||
      others.has(path) ||
      !/^[a-z]+\/[a-z+.-]+(?:; charset=utf-8)?$/.test(type) ||
      !(body instanceof Uint8Array)
    )
      throw new CapError('invalid', 'pages are {type, body} by their paths, such as { "/console": {…} }');
  return new Map(Object.entries(pages ?? {}));
}

/** The things that a browser may do with a page. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** The headers of every page. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = Object.freeze({
  'content-security-policy': POLICY,
  'x-frame-options': 'DENY',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=(), usb=(), serial=(), bluetooth=()',
  'cache-control': 'no-store',
});
