/** The view of the registry and of a user's tools on the packages: their `package.json`, source maps, and bills of materials. */
import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, type TestContext, test } from 'vitest';
import { faultsOf } from '../scripts/pack/check.ts';
import { publishable } from '../scripts/pack/packages.ts';
import { fileNameOf } from '../scripts/pack/sbom.ts';
import { ownerFields, tarballOf } from '../scripts/pack/tarball.ts';
import { requires } from './needs.ts';
import { type Installed, installed } from './packed/installed.ts';
import { ROOT } from './sources.ts';

let made: Installed | undefined;
beforeAll(async () => {
  made = await installed();
}, 400_000);
afterAll(() => made?.remove());

interface Published {
  readonly description?: string;
  readonly keywords?: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: unknown;
  readonly bin?: Readonly<Record<string, string>>;
  readonly repository?: unknown;
}

/** Each package with its folder as installed. */
function each(
  context: TestContext,
): { readonly name: string; readonly folder: string; readonly manifest: Published }[] {
  const { folder } = made ?? context.skip('needs the package registry, for what Hob depends on');
  return publishable().map(({ manifest: { name } }) => {
    const at = join(folder, 'node_modules', name);
    return { name, folder: at, manifest: JSON.parse(fs.readFileSync(join(at, 'package.json'), 'utf8')) };
  });
}

const filesOf = (folder: string): string[] =>
  fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

test('each package says what it is, and takes corrected versions of what it depends on', (context) => {
  for (const { name, manifest } of each(context)) {
    expect(manifest.description, name).toMatch(/^\S.{15,}[^.]$/);
    expect(manifest.keywords?.length, name).toBeGreaterThanOrEqual(5);
    expect(manifest.devDependencies, name).toBeUndefined();
    for (const [on, range] of Object.entries(manifest.dependencies ?? {}))
      expect(range, `${name}: ${on}`).toMatch(/^\^\d/);
    // A program that a user can start begins with the line that names its interpreter.
    for (const file of Object.values(manifest.bin ?? {}))
      expect(
        fs.readFileSync(
          join(ROOT, 'packages', name.slice(5), file.replace('/dist/', '/src/').replace(/js$/, 'ts')),
          'utf8',
        ),
      ).toMatch(/^#!\/usr\/bin\/env node\n/);
  }
});

test('the owner names the repository once, and each package points to its folder there', () => {
  const root = JSON.parse(fs.readFileSync(join(ROOT, 'package.json'), 'utf8')) as { repository?: unknown };
  for (const { folder, manifest } of publishable()) {
    expect(Object.keys(manifest).filter((name) => ['repository', 'homepage', 'bugs', 'author'].includes(name))).toEqual(
      [],
    );
    const fields = ownerFields(folder) as { repository?: { directory: string } };
    expect(fields.repository?.directory).toBe(root.repository === undefined ? undefined : `packages/${folder}`);
  }
});

test('each module has a source map with the text of its source', (context) => {
  for (const { name, folder } of each(context)) {
    // Except files that only name a place. A bundle has no map. It is a script, and the tarball also has its modules.
    const modules = filesOf(join(folder, 'dist')).filter((file) => /(?<!\.here)\.js$/.test(file)); // biome-ignore format: one line
    expect(modules.length, name).toBeGreaterThan(0);
    for (const file of modules) {
      const map = JSON.parse(fs.readFileSync(`${file}.map`, 'utf8')) as { sources: string[]; sourcesContent: string[] };
      const paths = map.sources.map((source) => resolve(file, '..', source).slice(folder.length + 1));
      expect(
        paths.filter((path) => !/^src\/.*\.ts$/.test(path)),
        file,
      ).toEqual([]);
      const texts = paths.map((path) => fs.readFileSync(join(ROOT, 'packages', name.slice('@hob/'.length), path), 'utf8')); // biome-ignore format: one line
      expect(map.sourcesContent, file).toEqual(texts);
    }
  }
});

test('no file of a package tells where it was made', (context) => {
  for (const { folder } of each(context))
    for (const file of filesOf(folder)) {
      const text = fs.readFileSync(file, 'utf8');
      for (const place of [ROOT, `${tmpdir()}/hob-`, '.hob/pack-'])
        expect(text.includes(place), `${file}: ${place}`).toBe(false);
    }
});

requires('zig')('the tarball of each native part has a bill of materials with the hash of its file', (context) => {
  const { tarballs } = made ?? context.skip('needs the package registry, for what Hob depends on');
  const folder = join(tarballs[0] as string, '..');
  const natives = fs.readdirSync(folder).filter((name) => /-linux-(?:x64|arm64)-.*\.tgz$/.test(name));
  expect(natives.length).toBe(4);
  for (const name of natives) {
    const bom = JSON.parse(fs.readFileSync(join(folder, name.replace(/\.tgz$/, '.cdx.json')), 'utf8'));
    const listing = execFileSync('tar', ['-xzOf', join(folder, name), `package/${bom.components[0].name}`], {
      maxBuffer: 1 << 26,
    });
    expect(bom.components[0].hashes).toEqual([{ alg: 'SHA-256', content: hash('sha256', listing, 'hex') }]);
  }
});

test('each tarball has a bill of materials with all that a user gets, in the versions of the lockfile', (context) => {
  const { tarballs } = made ?? context.skip('needs the package registry, for what Hob depends on');
  const folder = join(tarballs[0] as string, '..');
  for (const { manifest } of publishable()) {
    const file = join(folder, `${fileNameOf(manifest.name)}-${manifest.version}.cdx.json`);
    const bom = JSON.parse(fs.readFileSync(file, 'utf8'));
    expect([bom.bomFormat, bom.metadata.component.purl]).toEqual([
      'CycloneDX',
      `pkg:npm/${manifest.name.replace('@', '%40')}@${manifest.version}`,
    ]);
    // The same commit gives the same file.
    expect([bom.serialNumber, bom.metadata.timestamp]).toEqual([undefined, undefined]);
    const listed = (
      bom.components as {
        group?: string;
        name: string;
        version: string;
        externalReferences?: { hashes?: unknown[] }[];
      }[]
    ).map((one) => ({ ...one, name: one.group === undefined ? one.name : `${one.group}/${one.name}` }));
    const names = listed.map(({ name }) => name);
    for (const name of Object.keys(manifest.dependencies ?? {})) expect(names, file).toContain(name);
    expect(names.filter((name) => /vitest|fast-check|typescript/.test(name))).toEqual([]);
    const lock = fs.readFileSync(join(ROOT, 'pnpm-lock.yaml'), 'utf8');
    for (const { name, version, externalReferences } of listed.filter((one) => !one.name.startsWith('@hob/'))) {
      expect(lock).toMatch(new RegExp(`^ {2}'?${name}@${version.replaceAll('.', '\\.')}'?:$`, 'm'));
      expect(externalReferences?.flatMap(({ hashes = [] }) => hashes).length, name).toBeGreaterThan(0);
    }
  }
});

/** A tarball of a package with these files. */
function tarballWith(manifest: object, files: Readonly<Record<string, string>>): string {
  const folder = fs.mkdtempSync(join(tmpdir(), 'hob-publish-'));
  onTestFinished(() => fs.rmSync(folder, { recursive: true }));
  const usual = { name: 'some-package', version: '1.0.0', type: 'module', license: 'Apache-2.0', files: ['dist'] };
  fs.mkdirSync(join(folder, 'dist'));
  for (const [file, text] of Object.entries({ ...files, 'package.json': JSON.stringify({ ...usual, ...manifest }) }))
    fs.writeFileSync(join(folder, file), text);
  return join(folder, tarballOf(folder, folder));
}

test('packing notices what a user would trip over: a missing file, missing types, types that lead nowhere', async () => {
  const main = { '.': { types: './dist/index.d.ts', default: './dist/index.js' } };
  const files = { 'dist/index.js': 'export const a = 1;\n', 'dist/index.d.ts': 'export declare const a: number;\n' };
  expect(await faultsOf(tarballWith({ exports: main }, files))).toEqual([]);
  const missing = await faultsOf(tarballWith({ exports: { ...main, './b': './dist/b.js' } }, files));
  expect(missing.join('\n')).toMatch(/publint: .*dist\/b\.js.* does not exist/);
  const untyped = { ...files, 'dist/b.js': 'export const b = 1;\n' };
  expect((await faultsOf(tarballWith({ exports: { ...main, './b': './dist/b.js' } }, untyped))).join('\n')).toMatch(
    /attw: UntypedResolution at \.\/b/,
  );
  const broken = { ...files, 'dist/index.d.ts': "export { a } from './gone.js';\n" };
  expect((await faultsOf(tarballWith({ exports: main }, broken))).join('\n')).toMatch(/attw: InternalResolutionError/);
});
