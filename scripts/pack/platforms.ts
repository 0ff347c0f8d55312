/**
 * The packages that hold the native parts, one for each part and platform: `@hob/sandbox-linux-x64` and so on.
 *
 * The package that loads a part names all of them in `optionalDependencies`, and npm installs the one that fits the
 * machine. Nothing is built at installation, and no script runs.
 */
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, differences, PARTS, type Part, PLATFORMS, type Platform } from '../native/build.ts';
import { setUpZig } from '../zig.mjs';
import { type Package, ROOT } from './packages.ts';
import { writeNativeBom } from './sbom.ts';
import { ownerFields, tarballOf } from './tarball.ts';

/** All platforms, or that of this machine. */
export const platformsFor = (here: boolean): readonly Platform[] =>
  (Object.keys(PLATFORMS) as Platform[]).filter((name) => !here || name === `${process.platform}-${process.arch}`);

const nameOf = ({ of }: Part, platform: Platform): string => `@hob/${of === 'caps-shell' ? 'sandbox' : of}-${platform}`;

/** The optional dependencies of a package: its native parts, in its own version. */
export function nativePartsOf(
  { folder, manifest }: Package,
  platforms: readonly Platform[],
): Readonly<Record<string, string>> {
  const own = PARTS.filter(({ of }) => of === folder);
  return Object.fromEntries(own.flatMap((part) => platforms.map((each) => [nameOf(part, each), manifest.version])));
}

/** Builds all native parts below `work` and packs those of `platforms`. Returns the names of the tarballs. */
export async function packNativeParts(
  all: readonly Package[],
  platforms: readonly Platform[],
  { work, target }: { readonly work: string; readonly target: string },
): Promise<string[]> {
  const { zig, missing } = await setUpZig();
  if (zig === undefined) throw new Error(`${missing}; npm run pack -- --without-native leaves the native parts out`);
  const into = join(work, 'native');
  const tarballs: string[] = [];
  for (const part of PARTS) {
    const built = await build(part, { zig, into, cache: join(ROOT, '.toolchain', 'zig-cache') });
    const faults = differences(part, built);
    if (faults.length > 0) throw new Error(faults.join('\n'));
    const version = all.find(({ folder }) => folder === part.of)?.manifest.version;
    for (const platform of platforms) {
      const folder = join(work, `${part.of}-${platform}`);
      mkdirSync(folder);
      copyFileSync(join(into, platform, part.file), join(folder, part.file));
      copyFileSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'));
      copyFileSync(join(zig, '..', 'lib', 'libc', 'musl', 'COPYRIGHT'), join(folder, 'LICENSE-musl'));
      const manifest = manifestOf(part, platform, version);
      writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest, null, 2));
      writeFileSync(join(folder, 'README.md'), readmeOf(part, platform, built.files[platform]));
      tarballs.push(tarballOf(folder, target));
      const linked = part.of === 'caps-shell' ? ['musl'] : [];
      const checksum = built.files[platform];
      writeNativeBom(
        { name: nameOf(part, platform), version: String(version), file: part.file, checksum, linked },
        target,
      );
    }
  }
  return tarballs;
}

function manifestOf(part: Part, platform: Platform, version: string | undefined): object {
  const [os, cpu] = platform.split('-');
  return {
    name: nameOf(part, platform),
    version,
    description: `The native part of @hob/${part.of} for ${platform}`,
    license: 'Apache-2.0 AND MIT',
    ...ownerFields(part.of),
    files: [part.file, 'LICENSE-musl'],
    // `preferUnplugged`: it is loaded or run from its place on the disk.
    preferUnplugged: true,
    os: [os],
    cpu: [cpu],
  };
}

const readmeOf = (part: Part, platform: Platform, checksum: string): string =>
  `# ${nameOf(part, platform)}\n\nThe native part of \`@hob/${part.of}\` for ${platform}. That package loads it; there is nothing to import.\n\n` +
  `\`npm run native\` builds it from \`${part.folder}\` in Hob's repository, with the same bytes on every machine:\n\n    sha256 ${checksum}\n`;
