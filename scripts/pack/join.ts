/**
 * Joins the compiled modules of a package into a few files. Node takes a third of a millisecond to find and read each
 * module, and a program loads hundreds of them.
 *
 * Promise: each entry of the package stays where it is. Code that two entries need exists once, so a class is the same in
 * both. A module that names files beside itself finds them as before. Source maps still lead to the sources.
 */
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { namedIn } from './targets.ts';

/** The field `imports` of a package whose modules were joined: it finds the place where a module was before. */
export const HERE: Readonly<Record<string, string>> = { '#here/*': './dist/*.here.js' };

/** Joins the modules in `dist/` of `folder`. `entries` are the paths, from there, of the modules that others import. */
export async function joinModules(folder: string, entries: readonly string[]): Promise<void> {
  const dist = join(folder, 'dist');
  const modules = readdirSync(dist, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.js'))
    .map((name) => name.split(sep).join('/'));
  const texts = new Map(modules.map((name) => [name, readFileSync(join(dist, name), 'utf8')]));
  const named = [...texts].flatMap(([name, text]) =>
    namedIn(text).named.map(({ path }) =>
      relative(dist, resolve(dist, dirname(name), path))
        .split(sep)
        .join('/'),
    ),
  );
  const all = new Set([...entries, ...named.filter((name) => texts.has(name))]);
  const into = join(folder, 'joined');
  const { metafile } = await build({
    absWorkingDir: folder,
    entryPoints: [...all].map((name) => join(dist, name)),
    outbase: dist,
    outdir: into,
    chunkNames: 'parts/[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    // The tsconfig of the compiler would lead from names of packages to their sources.
    tsconfigRaw: '{}',
    metafile: true,
    target: 'node24',
    sourcemap: 'linked',
    legalComments: 'none',
    logLevel: 'error',
    plugins: [placesIn(dist)],
  });
  const foreign = Object.keys(metafile.inputs).find((file) => !file.startsWith('dist/'));
  if (foreign !== undefined) throw new Error(`${foreign} is of another package, and would be bundled twice`);
  for (const name of modules) for (const file of [name, `${name}.map`]) rmSync(join(dist, file), { force: true });
  for (const [name, text] of texts)
    if (text.includes('import.meta.url'))
      writeFileSync(join(dist, hereOf(name)), `export const url = new URL('./${name.split('/').at(-1)}', import.meta.url).href;\n`); // biome-ignore format: one line
  cpSync(into, dist, { recursive: true });
  rmSync(into, { recursive: true });
}

const hereOf = (name: string): string => name.replace(/\.js$/, '.here.js');

/** A module that names files beside itself gets its old address from a small file in its old place. */
const placesIn = (dist: string): Plugin => ({
  name: 'places of modules',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^#here\// }, ({ path }) => ({ path, external: true }));
    onLoad({ filter: /\.js$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      if (!text.includes('import.meta.url')) return undefined;
      const name = relative(dist, path).split(sep).join('/').replace(/\.js$/, '');
      const lines = text.replaceAll('import.meta.url', '__here');
      // At the end, so that the lines of the source map stay the same.
      const map = /\n\/\/# sourceMappingURL=\S+\s*$/.exec(lines)?.index ?? lines.length;
      return { contents: `${lines.slice(0, map)}\nimport { url as __here } from '#here/${name}';${lines.slice(map)}` };
    });
  },
});
