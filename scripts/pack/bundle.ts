/**
 * Bundles verbs of `hob` that are called often, with the packages that they use. `dist/data.js` has the verbs that only
 * read files, `dist/client.js` those that only talk to a host. This saves time, because Node takes a third of a
 * millisecond to find and read a module. The licences of the bundled packages lie beside each bundle.
 */
import { mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { ROOT } from './packages.ts';

/** The entries of the bundles, in `packages/cli/src`. */
export const BUNDLES = ['data', 'client'] as const;

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
 * An `import` of a part of Node reads each of its exports, and so loads all that these need. This reads it when used.
 */
const builtins: Plugin = {
  name: 'parts of Node are read when they are used',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(?:node:)?[a-z_/]+$/ }, ({ path }) => (isBuiltin(path) ? { path, namespace: 'node' } : undefined)); // biome-ignore format: one line
    onLoad({ filter: /^/, namespace: 'node' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)});`,
    }));
  },
};

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

/** Makes the bundles in `dist`. Throws if a module in one names a file beside itself, which a bundle does not have. */
export async function bundleVerbs(dist: string): Promise<void> {
  for (const name of BUNDLES) await bundle(dist, name);
}

async function bundle(dist: string, name: (typeof BUNDLES)[number]): Promise<void> {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: { [name]: join(ROOT, `packages/cli/src/${name}.ts`) },
    outdir: dist,
    chunkNames: `${name}/[name]-[hash]`,
    bundle: true,
    splitting: true,
    format: 'esm',
    // Not 'node': a package that has ES modules for browsers has one for Node that nothing can be left out of.
    platform: 'neutral',
    mainFields: ['module', 'main'],
    conditions: ['node'],
    target: 'node24',
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    logLevel: 'error',
    metafile: true,
    plugins: [builtins, ours],
  });
  for (const file of Object.keys(metafile.outputs))
    if (readFileSync(join(ROOT, file), 'utf8').includes('import.meta'))
      throw new Error(`${file}: a module in the bundle ${name} uses import.meta: load it only where a host is`);
  const files = Object.keys(metafile.inputs).filter((file) => !/^(?:node|elsewhere):/.test(file));
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
