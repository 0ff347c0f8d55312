/** Reads the pages that were built into this package. */
import { readFileSync } from 'node:fs';
import type { HttpPages } from '@hob/host';
import { CapError } from '@hob/vat';

const FILES = [
  ['/console', 'text/html; charset=utf-8', new URL('../../built/console.html', import.meta.url)],
  ['/console/console.js', 'text/javascript; charset=utf-8', new URL('../../built/console.js', import.meta.url)],
  ['/console/console.css', 'text/css; charset=utf-8', new URL('../../built/console.css', import.meta.url)],
  ['/console/icon.svg', 'image/svg+xml', new URL('../../built/icon.svg', import.meta.url)],
] as const;

/** The pages of the console, for `host.serve({}, faces, pages)`. Errors: `unavailable` (they were not built). */
export function consolePages(): HttpPages {
  try {
    return Object.fromEntries(FILES.map(([path, type, file]) => [path, { type, body: readFileSync(file) }]));
  } catch {
    throw new CapError('unavailable', 'the page of the console was not built: run npm start once, or install the package again'); // biome-ignore format: one line
  }
}
