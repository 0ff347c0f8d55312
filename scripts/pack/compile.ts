/**
 * Compiles all packages in one go, since they import each other's sources by name.
 *
 * Promise: what the compiled modules reach is there: what they import, and the files that they name (`targets.ts`).
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { built, entriesOf, namesOf, type Package, ROOT } from './packages.ts';
import { namedIn, targetOf, withCompiledNames } from './targets.ts';

/** Files that a build makes on the machine where it runs. A package works without them, or says what is missing. */
const MADE: Readonly<Record<string, readonly string[]>> = {
  'caps-fs': ['node_modules/.native/fscap.node'],
  'caps-shell': ['build/hob-sandbox'],
  cli: ['node_modules/.compile-cache'],
};

/** Files and folders that belong into a package beside its modules; paths from the package's folder. */
export type Beside = ReadonlyMap<Package, ReadonlySet<string>>;

/** Compiles into `into`/js. Modules that are reached by name only are found there, and compiled in a further round. */
export function compile(packages: readonly Package[], into: string): Beside {
  const js = join(into, 'js');
  const files = new Set(packages.flatMap((one) => entriesOf(one).map((entry) => join(folderOf(one), entry))));
  for (;;) {
    runCompiler(packages, [...files], into);
    const before = files.size;
    const beside = new Map(packages.map((one) => [one, reached(one, js, files)]));
    if (files.size > before) continue;
    for (const one of packages) checkEntries(one, js);
    return beside;
  }
}

const folderOf = ({ folder }: Package): string => join(ROOT, 'packages', folder);

/** Adds modules that the package names to `files`, and returns everything else that it names. */
function reached(one: Package, js: string, files: Set<string>): Set<string> {
  const beside = new Set<string>();
  const faults: string[] = [];
  const from = join(js, one.folder);
  for (const name of readdirSync(from, { recursive: true, encoding: 'utf8' }).filter((each) => each.endsWith('.js'))) {
    const text = readFileSync(join(from, name), 'utf8');
    const source = join(folderOf(one), name.replace(/js$/, 'ts'));
    const { named, faults: found } = namedIn(text);
    faults.push(...found.map((fault) => `${one.manifest.name}: dist/${name.replace(/^src\//, '')}: ${fault}`));
    for (const { path } of named) {
      const target = targetOf(path, source, folderOf(one), MADE[one.folder] ?? []);
      if (target.kind === 'module') files.add(join(folderOf(one), target.path));
      else if (target.kind !== 'made') beside.add(target.path);
    }
    writeFileSync(join(from, name), withCompiledNames(text, named));
  }
  if (faults.length > 0) throw new Error(faults.join('\n'));
  return beside;
}

function runCompiler(packages: readonly Package[], files: readonly string[], into: string): void {
  const config = {
    extends: join(ROOT, 'tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      sourceMap: true,
      inlineSources: true,
      rewriteRelativeImportExtensions: true,
      rootDir: join(ROOT, 'packages'),
      outDir: join(into, 'js'),
      typeRoots: [join(ROOT, 'node_modules', '@types')],
      // Straight to the sources: what TypeScript 7 reaches first through node_modules it takes for somebody else's and does not
      // emit, and which way is first is chance (seen: 18 of 78 files, exit 0).
      paths: Object.fromEntries(packages.flatMap(namesOf)),
    },
    include: [],
    files,
  };
  writeFileSync(join(into, 'tsconfig.json'), JSON.stringify(config));
  execFileSync(process.execPath, [join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', into], {
    stdio: ['ignore', 2, 2], // stdout is the list of tarballs
  });
}

function checkEntries(one: Package, js: string): void {
  for (const entry of entriesOf(one)) {
    const made = join(js, one.folder, built(entry, '.js').replace('./dist/', 'src/'));
    if (!existsSync(made)) throw new Error(`the compiler left out ${one.manifest.name}: ${entry}`);
  }
}
