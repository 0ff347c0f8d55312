/** Somebody who has nothing of ours can install and run the packages of `npm run pack`. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, type TestContext, test } from 'vitest';
import { namedIn, targetOf, withCompiledNames } from '../scripts/pack/targets.ts';
import { deep } from './depth.ts';
import { type Need, requires } from './needs.ts';
import { examples, left } from './packed/examples.ts';
import { type Installed, installed, isNative, nameIn } from './packed/installed.ts';
import { newUser, type Path } from './packed/user.ts';
import { filesIn, ROOT } from './sources.ts';

let made: Installed | undefined;
beforeAll(async () => {
  made = await installed();
}, 400_000);
afterAll(() => made?.remove());

const installedOr = (context: TestContext): Installed =>
  made ?? context.skip('needs the package registry, for what Hob depends on');

test('the tarballs install in an empty folder, without tests and mutants, and every face of them loads', async (context) => {
  const { folder, tarballs } = installedOr(context);
  const names = filesIn('packages').filter((file) => /^packages\/[^/]+\/src\/index\.ts$/.test(file));
  const own = tarballs.map(nameIn).filter((name) => !isNative(name));
  expect(own.sort()).toEqual(names.map((file) => `@hob/${file.split('/')[1]}`).sort());
  const ours = join(folder, 'node_modules', '@hob');
  const shipped = readdirSync(ours, { recursive: true, encoding: 'utf8' });
  expect(shipped.filter((file) => /\.test\.|(?<!\.d)\.ts$/.test(file))).toEqual([]);
  for (const file of shipped.filter((name) => name.endsWith('.js')))
    expect(readFileSync(join(ours, file), 'utf8'), file).not.toMatch(/\bmutant\b|HOB_MUTANT/);
  const said = await newUser(folder, 'node only').run(`${facesOf(own)}console.log('all loaded');\n`);
  expect(said).toEqual({ stdout: 'all loaded\n', stderr: '', end: 0 });
});

test('the modules of a package are joined into few files, and no class is there twice', async (context) => {
  const { folder } = installedOr(context);
  const program = `import '@hob/host/lockdown';
import { openHost } from '@hob/host';
import { CapError, E } from '@hob/vat';
import { CapError as again } from '@hob/vat/errors';
import { E as peers } from '@hob/vat/peer';
import { farOf } from '@hob/vat/forwarder';
const refused = await openHost({ stateDir: '' as never, wrong: 1 } as never).catch((error) => error);
console.log(CapError === again, E === peers, refused instanceof again, typeof farOf);
`;
  const { stdout, stderr, end } = await newUser(folder, 'node only').run(program);
  expect({ stdout, stderr, end }).toEqual({ stdout: 'true true true function\n', stderr: '', end: 0 });
  const files = readdirSync(join(folder, 'node_modules', '@hob', 'vat', 'dist'), { recursive: true, encoding: 'utf8' });
  const modules = files.filter((file) => file.endsWith('.js'));
  const sources = filesIn('packages/vat/src').filter((file) => /(?<!\.test|\.d)\.ts$/.test(file));
  expect(modules.length).toBeLessThan(sources.length / 3);
});

const words = (text: string): string => text.trim().replace(/\s+/g, ' ');

// With Node alone, the examples have the fewest needs. The deep run also tries a machine that has no compiler, no Python and
// no checkout on its disks. There it runs only the examples of packages that have native parts, or that use such packages.
const paths: readonly Path[] = deep ? ['node only', 'nothing to build with'] : ['node only'];
const meetsNative = ({ name }: { readonly name: string }): boolean => /^packages\/(?:caps-fs|caps-shell|guest|host|cli|mcp|tools)\//.test(name); // biome-ignore format: one line
for (const path of paths)
  for (const { name, program, prints, needs: some } of path === 'node only' ? examples : examples.filter(meetsNative)) {
    const needs: readonly Need[] = path === 'nothing to build with' ? [...some, 'overlay'] : some;
    const as: typeof test | ReturnType<typeof requires> =
      needs.length > 0 ? requires(...(needs as [Need, ...Need[]])) : test;
    as(`example of ${name} runs from the tarballs, as a new user with PATH of ${path}`, async (context) => {
      const user = newUser(installedOr(context).folder, path);
      const { stdout, stderr, end } = await user.run(program);
      const said = typeof prints === 'string' ? words(prints) : expect.stringMatching(prints);
      expect({ said: words(stdout), stderr, end }).toEqual({ said, stderr: '', end: 0 });
      // Nothing of ours goes where the user did not ask for it.
      expect(readdirSync(user.home)).toEqual([]);
    });
  }

test('every README has an example, and every setting of one is used', () => {
  const pages = filesIn().filter((file) => /^(?:packages\/(?!bridge-python)[^/]+\/)?README\.md$/.test(file));
  expect(pages.filter((page) => !examples.some(({ name }) => name.startsWith(`${page} `)))).toEqual([]);
  expect(left).toEqual([]);
});

/** A program that loads every face of these packages and fails if one of them exports nothing. */
function facesOf(names: readonly string[]): string {
  return (
    names
      .flatMap((name) => {
        const manifest = readFileSync(join(ROOT, 'packages', name.slice('@hob/'.length), 'package.json'), 'utf8');
        return Object.keys(JSON.parse(manifest).exports).map((face) => name + face.slice(1));
      })
      // A child is a program and not a face: it waits for its parent. The examples load the lockdown, which exports nothing.
      .filter((face) => !/\/(?:child|lockdown)$/.test(face))
      .map((face) => `if (Object.keys(await import('${face}')).length === 0) throw new Error('${face} is empty');\n`)
      .join('')
  );
}

test('packing finds each file that a module names, and gives a compiled one its new name', () => {
  const text = `
    const a = new URL('./thread.ts', import.meta.url);
    new Worker(new URL("../b/other-thread.ts", import.meta.url), {});
    fileURLToPath(new URL('../../sandbox/', import.meta.url));
    createRequire(import.meta.url)(file);
    new Worker(PROGRAM, { eval: true });`;
  const { named, faults } = namedIn(text);
  expect([named.map(({ path }) => path), faults]).toEqual([
    ['./thread.ts', '../b/other-thread.ts', '../../sandbox/'],
    [],
  ]);
  const compiled = withCompiledNames(text, named);
  expect(namedIn(compiled).named.map(({ path }) => path)).toEqual([
    './thread.js',
    '../b/other-thread.js',
    '../../sandbox/',
  ]);
  expect(compiled).toHaveLength(text.length);
});

test('packing refuses every other way to reach a file of the package, with its line', () => {
  for (const text of [
    "join(import.meta.dirname, 'thread.ts')",
    'readFileSync(import.meta.filename)',
    'new URL(`./${name}.js`, import.meta.url)',
    "new URL('./a.js', import.meta.dirname)",
    'const here = import.meta.url',
    'const { url } = import.meta',
    "import.meta.resolve('./a.js')",
    "new Worker('./thread.js')",
    'new Worker(`./${name}.js`)',
  ])
    expect(namedIn(`\n${text};`).faults, text).toEqual([expect.stringMatching(/^line 2: /)]);
});

test('packing fails by name when a file that a module names is missing, or outside of the package', () => {
  const folder = mkdtempSync(join(tmpdir(), 'hob-targets-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'src', 'drivers', 'a.ts');
  mkdirSync(join(folder, 'src', 'drivers'), { recursive: true });
  mkdirSync(join(folder, 'sandbox'));
  writeFileSync(join(folder, 'src', 'drivers', 'thread.ts'), '');
  writeFileSync(join(folder, 'sandbox', 'main.c'), '');
  const target = (named: string) => targetOf(named, file, folder, ['build/made']);
  expect(target('./thread.ts')).toEqual({ path: 'src/drivers/thread.ts', kind: 'module' });
  expect(target('../../sandbox/main.c')).toEqual({ path: 'sandbox/main.c', kind: 'file' });
  expect(target('../../sandbox/')).toEqual({ path: 'sandbox', kind: 'folder' });
  expect(target('../../build/made')).toEqual({ path: 'build/made', kind: 'made' });
  expect(() => target('./gone.ts')).toThrow(`${file}: its file ./gone.ts is not there`);
  expect(() => target('../../../other/src/a.ts')).toThrow('outside of the package');
});
