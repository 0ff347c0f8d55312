/** Makes the tarball of one package from its compiled modules. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { bundleVerbs } from './bundle.ts';
import { HERE, joinModules } from './join.ts';
import { nameSources } from './maps.ts';
import { built, entriesOf, type Package, ROOT } from './packages.ts';

export interface Plan {
  readonly all: readonly Package[];
  /** Where the compiled modules are, and where the package's folder is made. */
  readonly work: string;
  /** Files and folders beside the modules. */
  readonly beside: ReadonlySet<string>;
  /** Packages of native parts, with their versions. */
  readonly optional: Readonly<Record<string, string>>;
  /** Where the tarball goes. */
  readonly target: string;
}

/** Returns the name of the tarball. */
export async function pack(one: Package, plan: Plan): Promise<string> {
  const { work, beside, target } = plan;
  const from = join(ROOT, 'packages', one.folder);
  const folder = join(work, one.folder);
  cpSync(join(work, 'js', one.folder, 'src'), join(folder, 'dist'), { recursive: true });
  nameSources(folder);
  if (one.folder === 'cli') await bundleVerbs(join(folder, 'dist'));
  if (joins(one)) {
    const entries = entriesOf(one).map((entry) => built(entry, '.js').replace('./dist/', ''));
    await joinModules(folder, entries);
  }
  // A module finds it from `dist/` as it does from `src/`.
  const places = [...beside].map((path) => path.replace(/^src\//, 'dist/').replace(/\/$/, ''));
  for (const [n, path] of [...beside].entries()) {
    const place = join(folder, places[n] as string);
    mkdirSync(dirname(place), { recursive: true });
    cpSync(join(from, path), place, { recursive: true });
  }
  // Data that no module reads, such as a schema for editors.
  const data = (one.manifest.files ?? []).filter((name) => /\.json$/.test(name));
  for (const name of data) copyFileSync(join(from, name), join(folder, name));
  const files = ['dist', ...data, ...places.filter((path) => !path.startsWith('dist/'))];
  writeFileSync(join(folder, 'package.json'), JSON.stringify(published(one, files, plan), null, 2));
  for (const file of ['README.md', 'CHANGELOG.md']) {
    if (existsSync(join(from, file))) copyFileSync(join(from, file), join(folder, file));
  }
  copyFileSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'));
  return tarballOf(folder, target);
}

/** A verb of `hob` loads only what it needs, so its modules stay apart. */
const joins = ({ folder }: Package): boolean => folder !== 'cli';

/** Packs `folder` as it is. */
export function tarballOf(folder: string, target: string): string {
  const output = execFileSync('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', target], {
    cwd: folder,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });
  return JSON.parse(output)[0].filename;
}

/**
 * Where the project lives and who answers for it. The owner says so once, in the `package.json` of the repository, and
 * each package gets it from there.
 */
export function ownerFields(folder: string): object {
  const root = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Record<string, unknown>;
  const { repository, homepage, bugs, author, funding } = root;
  const at = typeof repository === 'string' ? { type: 'git', url: repository } : (repository as object | undefined);
  return {
    ...(at && { repository: { ...at, directory: `packages/${folder}` } }),
    ...Object.fromEntries(
      Object.entries({ homepage, bugs, author, funding }).filter(([, value]) => value !== undefined),
    ),
  };
}

function published({ folder, manifest }: Package, files: readonly string[], { all, optional }: Plan): object {
  const versions = new Map(all.map((one) => [one.manifest.name, one.manifest.version]));
  const ranges = (given: Readonly<Record<string, string>> = {}): Record<string, string> =>
    Object.fromEntries(
      Object.entries(given).map(([name, range]) => {
        if (!range.startsWith('workspace:')) return [name, range];
        const version = versions.get(name);
        if (version === undefined) throw new Error(`${manifest.name} depends on ${name}, which is not packed`);
        // A range, so that a user gets a corrected version of it without one of this package.
        return [name, `^${version}`];
      }),
    );
  const { exports, bin, peerDependencies } = manifest;
  return {
    ...manifest,
    ...ownerFields(folder),
    engines: { node: '>=24' },
    files,
    ...(joins({ folder, manifest }) && { imports: HERE }),
    exports: Object.fromEntries(
      Object.entries(exports).map(([name, file]) => [
        name,
        { types: built(file, '.d.ts'), default: built(file, '.js') },
      ]),
    ),
    ...(bin && { bin: Object.fromEntries(Object.entries(bin).map(([name, file]) => [name, built(file, '.js')])) }),
    dependencies: ranges(manifest.dependencies),
    ...(peerDependencies && { peerDependencies: ranges(peerDependencies) }),
    ...(Object.keys(optional).length > 0 && { optionalDependencies: optional }),
    devDependencies: undefined,
    scripts: undefined,
  };
}
