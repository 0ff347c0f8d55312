/**
 * Builds the native parts for every platform: the sandbox program of `caps-shell`, and the C part of `caps-fs`.
 *
 * Promise: the same sources give the same bytes, in every folder and on every machine. The checksums are in the
 * repository (`checksums.json` beside the sources), and a build that differs from them fails.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../pack/packages.ts';

const run = promisify(execFile);

/** Platforms by the names that Node has for them, with Zig's name of each. */
export const PLATFORMS = { 'linux-x64': 'x86_64-linux-musl', 'linux-arm64': 'aarch64-linux-musl' } as const;
export type Platform = keyof typeof PLATFORMS;

export interface Part {
  /** The package that loads it. */
  readonly of: string;
  /** Where its sources and checksums are. */
  readonly folder: string;
  readonly file: string;
  /** The arguments of each call of the compiler that makes `out` of the sources. */
  commands(sources: readonly string[], out: string): readonly (readonly string[])[];
}

const WARNINGS = ['-Wall', '-Wextra', '-Werror'];
/** Nothing of the folder, the clock or the machine gets into the file. */
const PLAIN = ['-std=gnu11', '-O2', '-g0', '-fno-sanitize=undefined', '-ffile-prefix-map=.=source', ...WARNINGS];

const objectOf = (source: string): string => source.replace(/\.c$/, '.o');
const STRIPPED = ['-s', '-Wl,--build-id=none'];

export const PARTS: readonly Part[] = [
  {
    of: 'caps-shell',
    folder: join('packages', 'caps-shell', 'sandbox'),
    file: 'hob-sandbox',
    commands: (sources, out) => [[...PLAIN, '-fstack-protector-strong', '-static', ...STRIPPED, '-o', out, ...sources]],
  },
  {
    of: 'caps-fs',
    folder: join('packages', 'caps-fs', 'native'),
    file: 'fscap.node',
    commands: (sources, out) => [
      ...sources.map((source) => [...PLAIN, '-fPIC', '-fvisibility=hidden', '-Inode-api', '-c', source]),
      // It names no C library. It uses the one that Node has loaded, be it glibc or musl.
      ['-shared', '-nostdlib', '-Wl,-z,undefs', ...STRIPPED, '-o', out, ...sources.map(objectOf)],
    ],
  },
];

export interface Checksums {
  /** The checksums of the sources that the files were built from. */
  readonly sources: string;
  readonly files: Readonly<Record<Platform, string>>;
}

const checksumsFile = ({ folder }: Part): string => join(ROOT, folder, 'checksums.json');

/** The checksums that the repository has. */
export const checksumsOf = (part: Part): Checksums => JSON.parse(readFileSync(checksumsFile(part), 'utf8'));

export function writeChecksums(part: Part, checksums: Checksums): void {
  writeFileSync(checksumsFile(part), `${JSON.stringify(checksums, null, 2)}\n`);
}

const sourcesOf = ({ folder }: Part): string[] =>
  readdirSync(join(ROOT, folder))
    .filter((name) => /\.[ch]$/.test(name))
    .sort();

/** The checksum of the sources as they are now. */
export function fingerprint(part: Part): string {
  const hash = createHash('sha256');
  for (const name of sourcesOf(part)) hash.update(`${name}\n`).update(readFileSync(join(ROOT, part.folder, name)));
  return hash.digest('hex');
}

export interface Where {
  readonly zig: string;
  /** Where the files go: `linux-x64/hob-sandbox`, … */
  readonly into: string;
  /** The cache of Zig, with its C library above all. Without it everything is compiled. */
  readonly cache: string;
}

/** Builds a part for every platform and returns the checksums. */
export async function build(part: Part, { zig, into, cache }: Where): Promise<Checksums> {
  mkdirSync(into, { recursive: true });
  const work = mkdtempSync(join(into, 'work-'));
  try {
    for (const name of sourcesOf(part)) cpSync(join(ROOT, part.folder, name), join(work, name));
    const headers = createRequire(join(ROOT, 'packages', 'caps-fs', 'package.json')).resolve('node-api-headers');
    cpSync(join(dirname(headers), 'include'), join(work, 'node-api'), { recursive: true });
    const env = { PATH: process.env['PATH'], ZIG_GLOBAL_CACHE_DIR: cache, ZIG_LOCAL_CACHE_DIR: cache };
    const files = {} as Record<Platform, string>;
    for (const [platform, target] of Object.entries(PLATFORMS) as [Platform, string][]) {
      mkdirSync(join(into, platform), { recursive: true });
      const out = join(into, platform, part.file);
      const sources = sourcesOf(part).filter((name) => name.endsWith('.c'));
      for (const args of part.commands(sources, out))
        await run(zig, ['cc', '-target', target, ...args], { cwd: work, env });
      files[platform] = createHash('sha256').update(readFileSync(out)).digest('hex');
    }
    return { sources: fingerprint(part), files };
  } finally {
    rmSync(work, { recursive: true });
  }
}

/** The differences between a build and the repository, as text. */
export function differences(part: Part, built: Checksums): string[] {
  const wanted = checksumsOf(part);
  if (wanted.sources !== built.sources)
    return [`the sources in ${part.folder} have changed since their checksums: run npm run native -- --write`];
  return (Object.keys(PLATFORMS) as Platform[])
    .filter((platform) => wanted.files[platform] !== built.files[platform])
    .map((platform) => `${platform}/${part.file} has other bytes than its checksum in ${part.folder}: do not ship it`);
}
