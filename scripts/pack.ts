/**
 * `npm run pack [-- --into DIR]`: tarballs of JavaScript and types, one per package, in `dist/`.
 *
 * Promise: what is packed runs below a `node_modules`, where Node refuses to strip types; it holds what the package's
 * `exports` and `bin` reach and nothing else (no tests).
 *
 * All packages are compiled in one go: they import each other's sources by name.
 */
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const ROOT = join(import.meta.dirname, '..');

interface Manifest {
  name: string;
  version: string;
  exports: Record<string, string>;
  bin?: Record<string, string>;
  dependencies?: Record<string, string>;
}

interface Package {
  folder: string;
  manifest: Manifest;
}

const { into } = parseArgs({ options: { into: { type: 'string' } } }).values;
const target = resolve(process.env['INIT_CWD'] ?? '.', into ?? join(ROOT, 'dist'));
// Within the repository: the compiler looks for the packages' dependencies from here upwards.
mkdirSync(join(ROOT, '.hob'), { recursive: true });
const work = mkdtempSync(join(ROOT, '.hob', 'pack-'));
try {
  mkdirSync(target, { recursive: true });
  const packages = publishable();
  compile(packages, work);
  for (const one of packages) console.log(join(target, pack(one, packages, work, target)));
} finally {
  rmSync(work, { recursive: true });
}

function publishable(): Package[] {
  return readdirSync(join(ROOT, 'packages'))
    .filter((folder) => existsSync(join(ROOT, 'packages', folder, 'src', 'index.ts')))
    .map((folder) => ({
      folder,
      manifest: JSON.parse(readFileSync(join(ROOT, 'packages', folder, 'package.json'), 'utf8')),
    }));
}

/** The sources that a package names in `exports` and `bin`; the compiler follows their imports. */
function entriesOf({ manifest }: Package): string[] {
  return [...Object.values(manifest.exports), ...Object.values(manifest.bin ?? {})];
}

/** How a package and its subpaths are called in imports, and the source behind each. */
function namesOf({ folder, manifest }: Package): [name: string, sources: string[]][] {
  return Object.entries(manifest.exports).map(([subpath, file]) => [
    manifest.name + subpath.slice(1),
    [join(ROOT, 'packages', folder, file)],
  ]);
}

function compile(packages: readonly Package[], into: string): void {
  const config = {
    extends: join(ROOT, 'tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      rewriteRelativeImportExtensions: true,
      rootDir: join(ROOT, 'packages'),
      outDir: join(into, 'js'),
      typeRoots: [join(ROOT, 'node_modules', '@types')],
      // Straight to the sources: what TypeScript 7 reaches first through node_modules it takes for somebody else's and does not
      // emit, and which way is first is chance (seen: 18 of 78 files, exit 0).
      paths: Object.fromEntries(packages.flatMap(namesOf)),
    },
    include: [],
    files: packages.flatMap((one) => entriesOf(one).map((entry) => join(ROOT, 'packages', one.folder, entry))),
  };
  writeFileSync(join(into, 'tsconfig.json'), JSON.stringify(config));
  execFileSync(process.execPath, [join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', into], {
    stdio: ['ignore', 2, 2], // stdout is the list of tarballs
  });
  for (const one of packages)
    for (const entry of entriesOf(one)) {
      const made = join(into, 'js', one.folder, built(entry, '.js').replace('./dist/', 'src/'));
      if (!existsSync(made)) throw new Error(`the compiler left out ${one.manifest.name}: ${entry}`);
    }
}

function pack(one: Package, all: readonly Package[], work: string, target: string): string {
  const from = join(ROOT, 'packages', one.folder);
  const folder = join(work, one.folder);
  cpSync(join(work, 'js', one.folder, 'src'), join(folder, 'dist'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify(published(one.manifest, all), null, 2));
  for (const file of ['README.md', 'CHANGELOG.md']) {
    if (existsSync(join(from, file))) copyFileSync(join(from, file), join(folder, file));
  }
  copyFileSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'));
  const output = execFileSync('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', target], {
    cwd: folder,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });
  return JSON.parse(output)[0].filename;
}

function published(manifest: Manifest, all: readonly Package[]): object {
  const versions = new Map(all.map((one) => [one.manifest.name, one.manifest.version]));
  const dependencies = Object.entries(manifest.dependencies ?? {}).map(([name, range]) => {
    if (!range.startsWith('workspace:')) return [name, range];
    const version = versions.get(name);
    if (version === undefined) throw new Error(`${manifest.name} depends on ${name}, which is not packed`);
    return [name, version];
  });
  const { exports, bin } = manifest;
  return {
    ...manifest,
    engines: { node: '>=24' },
    files: ['dist'],
    exports: Object.fromEntries(
      Object.entries(exports).map(([name, file]) => [
        name,
        { types: built(file, '.d.ts'), default: built(file, '.js') },
      ]),
    ),
    ...(bin && { bin: Object.fromEntries(Object.entries(bin).map(([name, file]) => [name, built(file, '.js')])) }),
    dependencies: Object.fromEntries(dependencies),
    devDependencies: undefined,
    scripts: undefined,
  };
}

function built(file: string, extension: string): string {
  return file.replace(/^\.\/src\//, './dist/').replace(/\.ts$/, extension);
}
