/**
 * Bundles verbs of `hob` that are called often, with the packages that they use. `dist/words.js` has the words of all
 * verbs, for help; `dist/data.js` has the verbs that only read files, `dist/client.js` those that only talk to a host.
 * This saves time, because Node takes a third of a millisecond to find and read a module. A bundle is one file: Node
 * keeps the compiled form of those functions of a file that its first run called, so two bundles do not share files.
 * The licences of the bundled packages lie in the folder of each bundle.
 */
import { mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
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
 * An `import` of a part of Node loads it and reads each of its exports, which loads more. So a part is loaded when an
 * export of it is first read. `node:child_process`, which the parser of command lines imports and never uses here,
 * takes 4 ms.
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
  // Loaded as a part of Node, it opens the standard input, output and errors.
  if (name === 'process') return 'module.exports = process;';
  const part = process.getBuiltinModule(name);
  // Its users call it, as `node:events`.
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

/** Loads each verb. */
const LOADERS = /\/cli\/src\/(?:table|[\w-]+-verbs)\.ts$/;

/** The words of all verbs, without what a verb loads when it runs. */
const wordsAlone: Plugin = {
  name: 'verbs that do not run',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^/ }, ({ path, kind, importer }) =>
      kind === 'dynamic-import' && !LOADERS.test(importer) ? { path, namespace: 'unrun' } : undefined,
    );
    onLoad({ filter: /^/, namespace: 'unrun' }, () => ({
      contents: `throw new Error('no verb runs from the bundle of words');`,
    }));
  },
};

/** In place of `import.meta`, until it is seen that no module of a bundle uses that. */
const META = 'import_meta_of_a_bundle';

/** Makes the bundles in `dist`. Throws if a module in one names a file beside itself, which a bundle does not have. */
export async function bundleVerbs(dist: string): Promise<void> {
  for (const name of BUNDLES) await bundle(dist, name);
  await joinMain(dist);
}

/** Joins the program, from its compiled modules, with the modules that say which bundle a command line needs. */
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
  name: 'what is loaded later',
  setup({ onResolve }) {
    onResolve({ filter: /^/ }, ({ path, kind }) => (kind === 'dynamic-import' ? { path, external: true } : undefined));
  },
};

async function bundle(dist: string, name: (typeof BUNDLES)[number]): Promise<void> {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: [join(ROOT, `packages/cli/src/${name}.ts`)],
    outfile: join(dist, `${name}.cjs`),
    bundle: true,
    // `drivers/compiled.ts` runs it.
    format: 'cjs',
    banner: { js: '(function (exports, module) {"use strict";' },
    footer: { js: '})' },
    // Not 'node': a package that has ES modules for browsers has one for Node that nothing can be left out of.
    platform: 'neutral',
    mainFields: ['module', 'main'],
    conditions: ['node'],
    target: 'node24',
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    logLevel: 'error',
    define: { 'import.meta': META },
    metafile: true,
    plugins: [builtins, ...(name === 'words' ? [wordsAlone] : []), ours],
  });
  for (const file of Object.keys(metafile.outputs)) {
    const text = readFileSync(join(ROOT, file), 'utf8');
    if (text.includes(META))
      throw new Error(`${file}: a module in the bundle ${name} uses import.meta: load it only where a host is`);
    if (/[^\0-\x7f]/.test(text)) throw new Error(`${file} is not ASCII text, as which it is read`);
  }
  const files = Object.keys(metafile.inputs).filter((file) => !/^(?:node|elsewhere|unrun):/.test(file));
  const folders = new Set(files.flatMap((file) => packageOf(join(ROOT, file)) ?? []));
  const licences = [...folders].sort().map(licenceOf);
  mkdirSync(join(dist, name), { recursive: true });
  writeFileSync(join(dist, name, 'LICENSES.txt'), licences.join('\n\n'));
}

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
