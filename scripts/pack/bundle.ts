/**
 * Bundles the verbs of `hob` that only read files into `dist/data.js` and `dist/data/`, with the packages that they use.
 *
 * An editor or a commit hook calls `hob check` often. Node takes 90 ms of processor time to find and read its 230
 * modules, and 30 ms for the bundle. The licences of what is in it lie beside it.
 */
import { mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { build } from 'esbuild';
import { ROOT } from './packages.ts';

/** Packages of ours that are data, and are bundled. What loads another one reaches a host, and stays as it is. */
const DATA = /^@hob\/(?:manifest(?:\/duration)?|host\/line|revocable\/bounds|vat\/errors)$/;

/** Makes the bundle in `dist`. Throws if a module in it names a file beside itself, which a bundle does not have. */
export async function bundleData(dist: string): Promise<void> {
  const result = await build({
    absWorkingDir: ROOT,
    entryPoints: { data: join(ROOT, 'packages/cli/src/data.ts') },
    outdir: dist,
    chunkNames: 'data/[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    // Not 'node': a package that has ES modules for browsers has one for Node that nothing can be left out of.
    platform: 'neutral',
    mainFields: ['module', 'main'],
    target: 'node24',
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    logLevel: 'error',
    metafile: true,
    plugins: [
      {
        name: 'others stay',
        setup({ onResolve }) {
          onResolve({ filter: /^@hob\// }, ({ path }) => (DATA.test(path) ? undefined : { path, external: true }));
        },
      },
      {
        // An import of node:fs makes a name for each of its exports, and so loads streams, promises and what they need.
        name: 'parts of Node are read when they are used',
        setup({ onResolve, onLoad }) {
          onResolve({ filter: /^(?:node:)?[a-z_/]+$/ }, ({ path }) => (isBuiltin(path) ? { path, namespace: 'node' } : undefined)); // biome-ignore format: one line
          onLoad({ filter: /^/, namespace: 'node' }, ({ path }) => ({
            contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)});`,
          }));
        },
      },
    ],
  });
  for (const file of Object.keys(result.metafile.outputs))
    if (readFileSync(join(ROOT, file), 'utf8').includes('import.meta'))
      throw new Error(`${file}: a module in the bundle of hob check uses import.meta: load it only where a host is`);
  const files = Object.keys(result.metafile.inputs).filter((file) => !file.startsWith('node:'));
  const folders = new Set(files.flatMap((file) => packageOf(join(ROOT, file)) ?? []));
  const licences = [...folders].sort().map(licenceOf);
  mkdirSync(join(dist, 'data'), { recursive: true });
  writeFileSync(join(dist, 'data', 'LICENSES.txt'), licences.join('\n\n'));
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
