/**
 * Bundles verbs of `hob` that are called often, with the packages that they use. `dist/words.cjs` has the texts of all
 * verbs, for help. `dist/data.cjs` has the verbs that only read files. `dist/client.cjs` has those that only talk to a
 * host. This saves time, because Node takes a third of a millisecond to find and read a module. A bundle is one script,
 * because `hob` keeps its compiled form as it is after a run (`cli/src/drivers/compiled.ts`). The licences of the
 * bundled packages lie in the folders `dist/words`, `dist/data` and `dist/client`.
 */
import { readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { ROOT } from './packages.ts';

/** The entries of the bundles, in `packages/cli/src`. */
export const BUNDLES = ['words', 'data', 'client'] as const;

/**
 * This module needs the package of a database, which no bundle has. A command line that needs it runs without a
 * bundle.
 */
const ELSEWHERE = /\/drivers\/store-file\.ts$/;

/**
 * The path of a module of ours, also if its package is linked from another checkout. Not lockdown: it acts when
 * loaded.
 */
const OURS = /\/packages\/[\w-]+\/src\/(?!.*(?:node_modules|lockdown))/;

/**
 * Loads a part of Node when one of its exports is first read. An `import` would read all exports, and that loads more
 * parts. For example, the parser of command lines imports `node:child_process`, never uses it here, and loses 4 ms.
 */
const builtins: Plugin = {
  name: 'parts of Node are loaded when they are used',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(?:node:)?[a-z_/]+$/ }, ({ path }) =>
      isBuiltin(path) ? { path: path.replace(/^node:/, ''), namespace: 'node' } : undefined,
    );
    onLoad({ filter: /^/, namespace: 'node' }, ({ path }) => ({ contents: contentsOf(path) }));
  },
};

function contentsOf(name: string): string {
  const load = `process.getBuiltinModule(${JSON.stringify(`node:${name}`)})`;
  // To load it as a part of Node would open the standard input, output and error.
  if (name === 'process') return 'module.exports = process;';
  const part = process.getBuiltinModule(name);
  // This part is itself a function or a class, such as `node:events`.
  if (typeof part !== 'object') return `module.exports = ${load};`;
  const names = Object.keys(part).filter((key) => key !== 'default');
  return `let part;\nfor (const name of ${JSON.stringify(names)}) Object.defineProperty(exports, name, { enumerable: true, get: () => (part ??= ${load})[name] });`; // biome-ignore format: one line
}

/** Our own modules do nothing when they are loaded, except lockdown. So code of theirs that nobody uses is left out. */
const ours: Plugin = {
  name: 'our modules without unused code',
  setup({ onResolve, onLoad, resolve }) {
    onResolve({ filter: /^(?:@hob\/|\.)/ }, async ({ path, kind, resolveDir, importer, pluginData }) => {
      if (pluginData === 'asked' || kind === 'entry-point') return undefined;
      const found = await resolve(path, { kind, resolveDir, importer, pluginData: 'asked' });
      if (ELSEWHERE.test(found.path)) return { path: found.path, namespace: 'elsewhere' };
      return OURS.test(found.path) ? { path: found.path, sideEffects: false } : undefined;
    });
    onLoad({ filter: /^/, namespace: 'elsewhere' }, () => ({
      contents: `throw new Error('this bundle has no database');`,
    }));
  },
};

/** Whether a bundle never runs a module: that of words runs no verb, and that of data reaches no host. */
const UNRUN: { readonly [Name in (typeof BUNDLES)[number]]: (path: string, importer: string) => boolean } = {
  words: (_path, importer) => !/\/cli\/src\/(?:table|[\w-]+-verbs)\.ts$/.test(importer),
  data: (path) => /^@hob\/(?:vat|host\/lockdown)$|\/daemon\/drivers\/client\.ts$/.test(path),
  client: () => false,
};

/** Leaves out the modules that the bundle never runs. */
const unrun = (name: (typeof BUNDLES)[number]): Plugin => ({
  name: 'without modules that never run',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^/ }, ({ path, kind, importer }) =>
      kind === 'dynamic-import' && UNRUN[name](path, importer) ? { path, namespace: 'unrun' } : undefined,
    );
    onLoad({ filter: /^/, namespace: 'unrun' }, () => ({
      contents: `throw new Error('this does not run from the bundle ${name}');`,
    }));
  },
});

/** Makes the bundles in `dist`. Throws if a module in one names a file beside itself, which a bundle does not have. */
export async function bundleVerbs(dist: string): Promise<void> {
  for (const name of BUNDLES) await bundle(dist, name);
  await joinMain(dist);
}

/** Joins `main.js` with the modules that choose the bundle of a command line, so that Node reads one file. */
async function joinMain(dist: string): Promise<void> {
  await build({
    absWorkingDir: dist,
    entryPoints: ['main.js'],
    outdir: dist,
    allowOverwrite: true,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    tsconfigRaw: '{}',
    sourcemap: 'linked',
    logLevel: 'error',
    plugins: [loadedLater],
  });
}

const loadedLater: Plugin = {
  name: 'modules that are loaded later',
  setup({ onResolve }) {
    onResolve({ filter: /^/ }, ({ path, kind }) => (kind === 'dynamic-import' ? { path, external: true } : undefined));
  },
};

async function bundle(dist: string, name: (typeof BUNDLES)[number]): Promise<void> {
  const folder = join(dist, name);
  const { metafile } = await build({
    ...PLAIN,
    absWorkingDir: ROOT,
    entryPoints: { [name]: join(ROOT, `packages/cli/src/${name}.ts`) },
    outdir: folder,
    format: 'esm',
    // Unused code is left out only with parts. In one file a module that is loaded later is a function, with all of it.
    splitting: true,
    // Not 'node': a package that has ES modules for browsers has one for Node that nothing can be left out of.
    platform: 'neutral',
    mainFields: ['module', 'main'],
    conditions: ['node'],
    minifySyntax: true,
    metafile: true,
    plugins: [builtins, unrun(name), ours],
  });
  const parts = Object.keys(metafile.outputs).map((file) => join(ROOT, file));
  await joinParts(join(folder, `${name}.js`), join(dist, `${name}.cjs`));
  for (const part of parts) rmSync(part);
  const files = Object.keys(metafile.inputs).filter((file) => !/^(?:node|elsewhere|unrun):/.test(file));
  const folders = new Set(files.flatMap((file) => packageOf(join(ROOT, file)) ?? []));
  writeFileSync(join(folder, 'LICENSES.txt'), [...folders].sort().map(licenceOf).join('\n\n'));
}

/** Joins the parts of a bundle into a script for `drivers/compiled.ts`. */
async function joinParts(entry: string, outfile: string): Promise<void> {
  const banner = { js: '(function (exports, module) {"use strict";' };
  const define = { 'import.meta': META };
  const absWorkingDir = dirname(outfile);
  await build({ ...PLAIN, absWorkingDir, entryPoints: [entry], outfile, format: 'cjs', define, banner, footer: { js: '})' } }); // biome-ignore format: one line
  const text = readFileSync(outfile, 'utf8');
  if (text.includes(META))
    throw new Error(`${outfile}: a module in it uses import.meta, to find a file: load it only where a host is`);
  // `drivers/compiled.ts` reads it as ASCII. At this point only patterns have other letters.
  const escaped = (letter: string): string => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`;
  writeFileSync(outfile, text.replaceAll(/[^\0-\x7f]/g, escaped));
}

/** Stands for `import.meta`, which a script does not have. */
const META = 'import_meta_of_a_bundle';

const PLAIN = {
  bundle: true,
  target: 'node24',
  minifyWhitespace: true,
  legalComments: 'none',
  tsconfigRaw: '{}',
  logLevel: 'error',
} as const;

/** The folder of the package of others that a file belongs to. */
function packageOf(file: string): string | undefined {
  const real = realpathSync(file);
  return /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(real)?.[0];
}

/** Its name and the text of its licence. Throws if it has none. */
function licenceOf(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((each) => /^licen[cs]e(?:\.|$)/i.test(each));
  if (file === undefined) throw new Error(`${name} has no file with its licence, so it cannot be bundled`);
  return `${name} ${version}, ${license}\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
}
