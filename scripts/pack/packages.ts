/** The packages that are published, and the sources that each of them names in `exports` and `bin`. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT: string = join(import.meta.dirname, '..', '..');

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly files?: readonly string[];
  readonly exports: Readonly<Record<string, string>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  /** Packages that its user may install beside it. */
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

export interface Package {
  /** Its name below `packages/`. */
  readonly folder: string;
  readonly manifest: Manifest;
}

export function publishable(): Package[] {
  return readdirSync(join(ROOT, 'packages'))
    .filter((folder) => existsSync(join(ROOT, 'packages', folder, 'src', 'index.ts')))
    .map((folder) => ({
      folder,
      manifest: JSON.parse(readFileSync(join(ROOT, 'packages', folder, 'package.json'), 'utf8')),
    }));
}

/** The sources where a user enters, below the package's folder. The compiler follows their imports. */
export function entriesOf({ manifest }: Package): string[] {
  return [...Object.values(manifest.exports), ...Object.values(manifest.bin ?? {})];
}

/** How a package and its subpaths are called in imports, and the source behind each. */
export function namesOf({ folder, manifest }: Package): [name: string, sources: string[]][] {
  return Object.entries(manifest.exports).map(([subpath, file]) => [
    manifest.name + subpath.slice(1),
    [join(ROOT, 'packages', folder, file)],
  ]);
}

/** Where the file of a source is in the tarball. */
export function built(file: string, extension: string): string {
  return file.replace(/^\.\/src\//, './dist/').replace(/\.ts$/, extension);
}
