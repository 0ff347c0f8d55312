/**
 * `npm run pack [-- --into DIR] [--here] [--without-native]`: tarballs of JavaScript and types, one per package, in `dist/`; and
 * one for each native part and platform (`pack/platforms.ts`), unless they are left out: then programs need a compiler.
 * With `--here` the platform is this machine's alone, so `npm install DIR/*.tgz` takes all of them.
 *
 * Promise: what is packed runs below a `node_modules`, where Node refuses to strip types; it holds what the package's
 * `exports` and `bin` reach, by import or by `new URL(FILE, import.meta.url)`, and nothing else (no tests). A file that
 * is reached and missing ends this by its name. Each tarball passes `publint` and `attw`, and has a bill of materials
 * (`.cdx.json`) beside it.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { commandLine } from '../test/command.ts';
import { faultsOf } from './pack/check.ts';
import { compile } from './pack/compile.ts';
import { publishable, ROOT } from './pack/packages.ts';
import { nativePartsOf, packNativeParts, platformsFor } from './pack/platforms.ts';
import { writeBoms } from './pack/sbom.ts';
import { pack } from './pack/tarball.ts';

const {
  into,
  here = false,
  withoutNative = false,
} = commandLine('npm run pack --')
  .description('Tarballs of JavaScript and types, one per package.')
  .option('--into <dir>', 'where they go (default: dist)')
  .option('--here', 'native parts for this machine alone, to install the tarballs of the folder')
  .option('--without-native', 'leaves the native parts out')
  .parse()
  .opts<{ into?: string; here?: boolean; withoutNative?: boolean }>();
const platforms = withoutNative ? [] : platformsFor(here);
const target = resolve(process.env['INIT_CWD'] ?? '.', into ?? join(ROOT, 'dist'));
// Within the repository: the compiler looks for the packages' dependencies from here upwards.
mkdirSync(join(ROOT, '.hob'), { recursive: true });
const work = mkdtempSync(join(ROOT, '.hob', 'pack-'));
try {
  mkdirSync(target, { recursive: true });
  // The page of the console is built from what is here now.
  execFileSync(process.execPath, [join(ROOT, 'packages', 'console', 'build.mjs')], { stdio: 'inherit' });
  const all = publishable();
  const reached = compile(all, work);
  const faults: string[] = [];
  for (const one of all) {
    const beside = reached.get(one) ?? new Set<string>();
    const optional = nativePartsOf(one, platforms);
    const tarball = join(target, await pack(one, { all, work, beside, optional, target }));
    faults.push(...(await faultsOf(tarball)));
    console.log(tarball);
  }
  for (const name of withoutNative ? [] : await packNativeParts(all, platforms, { work, target }))
    console.log(join(target, name));
  for (const file of writeBoms(all, target)) console.error(file);
  if (faults.length > 0) {
    console.error(faults.join('\n'));
    process.exitCode = 1;
  }
} finally {
  rmSync(work, { recursive: true });
}
