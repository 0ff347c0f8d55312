/**
 * The packages as a user has them: packed, and installed by npm in an empty folder. For tests.
 *
 * Packing and installing take half a minute, so the result is kept in `.toolchain/packed` until a source changes. Each
 * caller gets a copy that other users can read, wherever this checkout lies.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { withLock } from '../../scripts/lock.mjs';
import { inherited } from '../mutants/environment.ts';
import { needs } from '../probes.ts';
import { filesIn, ROOT } from '../sources.ts';

const run = promisify(execFile);
const KEPT = join(ROOT, '.toolchain', 'packed');

/** Without the caller's npm settings: this runs below `npm test`. Without options of Node: those are of tests. */
export const plainEnv: Readonly<Record<string, string | undefined>> = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(?:npm_|INIT_CWD|NODE_OPTIONS|VITEST|HOB_)/.test(name)),
);

export interface Installed {
  /** It has `node_modules`, and `tarballs`. */
  readonly folder: string;
  readonly tarballs: readonly string[];
  remove(): void;
}

/**
 * Makes a copy, in the folder `into` if it is given. Undefined where the package registry, which has what Hob depends
 * on, cannot be reached.
 */
export async function installed(into?: string): Promise<Installed | undefined> {
  const folder = into ?? fs.mkdtempSync(join(tmpdir(), 'hob-packed-'));
  fs.mkdirSync(folder, { recursive: true });
  const remove = (): void => fs.rmSync(folder, { recursive: true, force: true });
  fs.chmodSync(folder, 0o755);
  const there = await withLock(
    join(ROOT, '.toolchain', 'packed-lock'),
    () => {},
    async () => {
      const kept = join(KEPT, digest());
      if (!fs.existsSync(kept) && !(await make(kept))) return false;
      fs.cpSync(kept, folder, { recursive: true, verbatimSymlinks: true });
      return true;
    },
  );
  if (!there) {
    remove();
    return undefined;
  }
  const tarballs = tarballsIn(join(folder, 'tarballs')).map((name) => join(folder, 'tarballs', name));
  return { folder, tarballs, remove };
}

/** Changes with everything that packing reads. */
function digest(): string {
  const hash = createHash('sha256').update(`${process.version} ${process.env['HOB_MUTANT']} ${needs('zig')}`);
  const inputs =
    /^(?:packages\/|scripts\/(?:pack|native|zig)|LICENSE$|tsconfig\.json$|package\.json$|pnpm-lock\.yaml$|test\/packed\/)/;
  for (const file of filesIn().filter((each) => inputs.test(each)))
    hash.update(`\n${file}\n`).update(fs.readFileSync(join(ROOT, file)));
  return hash.digest('hex').slice(0, 16);
}

/** Returns false if the registry is not there. */
async function make(kept: string): Promise<boolean> {
  fs.rmSync(KEPT, { recursive: true, force: true });
  const work = `${kept}.new`;
  const into = join(work, 'tarballs');
  fs.mkdirSync(into, { recursive: true });
  const env = { ...plainEnv, ...inherited() };
  const native = needs('zig') ? [] : ['--without-native'];
  await run(process.execPath, [join(ROOT, 'scripts', 'pack.ts'), '--into', into, ...native], { env });
  // Overrides, too: a tarball's own dependency on another of ours would else be asked of the registry, by name.
  const all = Object.fromEntries(tarballsIn(into).map((file) => [nameIn(file), `file:tarballs/${file}`]));
  // A user asks for the packages only. Those of the platforms come as their optional dependencies.
  const own = Object.fromEntries(Object.entries(all).filter(([name]) => !isNative(name)));
  fs.writeFileSync(
    join(work, 'package.json'),
    JSON.stringify({ private: true, type: 'module', dependencies: own, overrides: all }),
  );
  try {
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--fetch-retries=0'];
    const shell = process.platform === 'win32';
    await run('npm', ['install', ...flags], { cwd: work, env: plainEnv, timeout: 90_000, shell });
  } catch (error) {
    const said = String((error as { stderr?: unknown }).stderr);
    if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ECONNRESET|CERT/.test(said)) return false;
    throw error;
  }
  fs.renameSync(work, kept);
  return true;
}

/** Without the bills of materials, which lie beside them. */
function tarballsIn(folder: string): string[] {
  return fs.readdirSync(folder).filter((name) => name.endsWith('.tgz'));
}

/** Whether it is a package of a native part: `@hob/sandbox-linux-x64`. */
export const isNative = (name: string): boolean => /-linux-(?:x64|arm64)$/.test(name);

/** `hob-vat-0.1.0.tgz` holds `@hob/vat`. */
export function nameIn(tarball: string): string {
  return basename(tarball).replace(/^hob-(.*)-\d+\.\d+\.\d+.*\.tgz$/, '@hob/$1');
}
