/**
 * Builds the page into `built/`: one script, one style sheet, one document. They load nothing else.
 *
 * `node build.mjs`; the set-up of the checkout runs it. A host may read the files meanwhile. So each file is replaced in
 * one step: the host gets the old file or the new one.
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const folder = dirname(fileURLToPath(import.meta.url));
const page = join(folder, 'src', 'page');
const out = join(folder, 'built');

/** These are in the script, so their licences are, too. */
const inside = [
  ['preact', 'LICENSE'],
  ['@simplewebauthn/browser', 'LICENSE.md'],
].map(([name, licence]) => {
  const at = join(folder, 'node_modules', name);
  const { version } = JSON.parse(readFileSync(join(at, 'package.json'), 'utf8'));
  return `${name} ${version}\n${readFileSync(join(at, licence), 'utf8').trim()}`;
});

const { outputFiles } = await build({
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
  banner: { js: `/*! ${inside.join('\n\n')}\n*/` },
  logLevel: 'warning',
  write: false,
});
mkdirSync(out, { recursive: true });
for (const { path, contents } of outputFiles) replace(basename(path), contents);
for (const name of ['console.html', 'icon.svg']) replace(name, readFileSync(join(page, name)));

function replace(name, contents) {
  const written = join(out, `.${name}-${process.pid}`);
  writeFileSync(written, contents);
  renameSync(written, join(out, name));
}
