/**
 * Writes a software bill of materials (CycloneDX) for each package: `hob-vat-0.1.0.cdx.json` beside `hob-vat-0.1.0.tgz`.
 *
 * It lists each package that a user gets, in the version that the lockfile has and the tests ran with, with its hash.
 * The same commit gives the same file: it has no time and no random number.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PNPM } from '../setup.mjs';
import { type Package, ROOT } from './packages.ts';

interface Bom {
  readonly serialNumber?: string;
  readonly metadata: { readonly timestamp?: string; readonly component: { readonly name: string } };
  readonly components: readonly { readonly 'bom-ref': string }[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

/** Returns the files. */
export function writeBoms(all: readonly Package[], target: string): string[] {
  const chosen = all.flatMap((one) => ['--filter', one.manifest.name]);
  // Only from the lockfile: what happens to be installed has no say.
  const args = [
    'sbom',
    '--sbom-format',
    'cyclonedx',
    '--sbom-spec-version',
    '1.6',
    '--lockfile-only',
    '--prod',
    '--split',
  ];
  const npm = ['exec', '--yes', '--prefer-offline', `--package=${PNPM}`, '--', 'pnpm'];
  const out = join(target, '%s-%v.cdx.json');
  execFileSync('npm', [...npm, ...args, ...chosen, '--out', out], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 2],
    shell: process.platform === 'win32',
  });
  const files = all.map(({ manifest }) => join(target, `${fileNameOf(manifest.name)}-${manifest.version}.cdx.json`));
  const missing = files.filter((file) => !readdirSync(target).some((name) => file === join(target, name)));
  if (missing.length > 0) throw new Error(`no bill of materials was made: ${missing.join(', ')}`);
  for (const file of files) {
    writeFileSync(file, `${JSON.stringify(lasting(JSON.parse(readFileSync(file, 'utf8')) as Bom), null, 2)}\n`);
  }
  return files;
}

/** The same without the time and the random number, in an order that does not change from run to run. */
function lasting({ serialNumber: _, metadata: { timestamp: __, ...metadata }, ...rest }: Bom): object {
  return {
    ...rest,
    metadata,
    components: rest.components.toSorted((a, b) => (a['bom-ref'] < b['bom-ref'] ? -1 : 1)),
    dependencies: rest.dependencies
      .map((one) => ({ ...one, dependsOn: one.dependsOn.toSorted() }))
      .toSorted((a, b) => (a.ref < b.ref ? -1 : 1)),
  };
}

/** The package of a native part, which the lockfile does not know. */
export interface NativePackage {
  readonly name: string;
  readonly version: string;
  /** The file in it, and its SHA-256. */
  readonly file: string;
  readonly checksum: string;
  /** The libraries whose code is in the file. */
  readonly linked: readonly string[];
}

/** Writes the bill of materials of a native package. Returns the file. */
export function writeNativeBom(made: NativePackage, target: string): string {
  const { name, version, file, checksum, linked } = made;
  const ref = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  const bom = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { type: 'library', 'bom-ref': ref, name, version, purl: ref } },
    components: [
      { type: 'file', 'bom-ref': file, name: file, hashes: [{ alg: 'SHA-256', content: checksum }] },
      ...linked.map((library) => ({ type: 'library', 'bom-ref': library, name: library })),
    ],
    dependencies: [
      { ref, dependsOn: [file] },
      { ref: file, dependsOn: linked },
    ],
  };
  const path = join(target, `${fileNameOf(name)}-${version}.cdx.json`);
  writeFileSync(path, `${JSON.stringify(bom, null, 2)}\n`);
  return path;
}

/** `@hob/vat` is `hob-vat` in the name of a file, as npm has it. */
export function fileNameOf(name: string): string {
  return name.replace(/^@/, '').replace('/', '-');
}
