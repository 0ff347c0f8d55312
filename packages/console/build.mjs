/**
 * Builds the page into `built/`: one script, one style sheet, one document. They load nothing else.
 *
 * `node build.mjs`; the set-up of the checkout runs it.
 */
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const folder = dirname(fileURLToPath(import.meta.url));
const page = join(folder, 'src', 'page');
const out = join(folder, 'built');

/** Preact is in the script, so its licence is, too. */
const preact = createRequire(import.meta.url).resolve('preact/package.json');
const { version } = JSON.parse(readFileSync(preact, 'utf8'));
const licence = readFileSync(join(dirname(preact), 'LICENSE'), 'utf8').trim();

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
  banner: { js: `/*! preact ${version}\n${licence}\n*/` },
  logLevel: 'warning',
});
for (const name of ['console.html', 'icon.svg']) copyFileSync(join(page, name), join(out, name));
