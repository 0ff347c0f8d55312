/**
 * Builds the page into `built/`: one script, one style sheet, one document. They load nothing else.
 *
 * `node build.mjs`; the set-up of the checkout runs it.
 */
import { copyFileSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const folder = dirname(fileURLToPath(import.meta.url));
const page = join(folder, 'src', 'page');
const out = join(folder, 'built');

mkdirSync(out, { recursive: true });
await build({
  entryPoints: [join(page, 'console.tsx'), join(page, 'console.css')],
  outdir: out,
  bundle: true,
  minify: true,
  format: 'esm',
  platform: 'browser',
  target: 'es2024',
  conditions: ['browser'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  legalComments: 'eof',
  logLevel: 'warning',
});
for (const name of ['console.html', 'icon.svg']) copyFileSync(join(page, name), join(out, name));
