/**
 * Imports go one way: vat <- store-postgres <- a2a <- revocable <- caps-fs <- caps-shell <- caps-net <- guest <- manifest <- host <- cluster <- firewall <-
 * console <- tools <- mcp <- acp <- cli <- examples, test-bisim.
 *
 * A package is imported by its name and declares whom it imports; within a package no file imports itself around a
 * corner, not even for a type. A name that a file exports is for other files.
 */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { expect, test } from 'vitest';
import { blank, filesIn, importsOf, isTest, isTypeScript, packages, ROOT, read, type Source } from './sources.ts';

const ORDER = [
  'vat',
  'store-postgres',
  'a2a',
  'revocable',
  'caps-fs',
  'caps-shell',
  'caps-net',
  'guest',
  'manifest',
  'host',
  'cluster',
  'firewall',
  'console',
  'tools',
  'mcp',
  'acp',
  'chat',
  'cli',
];
/** Folders that nothing imports. */
const PROGRAMS = ['examples', 'test-bisim', 'bench'];

const nameOf = (file: string): string | undefined => /^packages\/([^/]+)\//.exec(file)?.[1];
const mayImport = (from: string | undefined, to: string): boolean =>
  ORDER.includes(to) && (from === undefined || ORDER.indexOf(to) < ORDER.indexOf(from));

/** The faults in the imports of one file, as text. */
function faults({ file, text }: Source, declared: readonly string[]): string[] {
  const from = nameOf(file);
  return importsOf(text).flatMap(({ specifier }) => {
    if (specifier.startsWith('.')) {
      const target = join(dirname(file), specifier);
      const inside = from === undefined ? nameOf(target) === undefined : target.startsWith(`packages/${from}/`);
      const sharedByTests = isTest(file) && target.startsWith('test/');
      return inside || sharedByTests ? [] : [`${file}: ${specifier} leaves the package; import it by name`];
    }
    const to = /^@hob\/([^/]+)(\/.*)?$/.exec(specifier);
    if (to === null) return [];
    const name = to[1] ?? '';
    if (to[2] !== undefined && !facesOf(name).includes(`.${to[2]}`))
      return [`${file}: ${specifier} reaches into a package; only its \`exports\` are its face`];
    if (!mayImport(from, name)) return [`${file}: ${from ?? 'a program'} may not import ${name}`];
    return from === undefined || declared.includes(`@hob/${name}`)
      ? []
      : [`${file}: @hob/${name} is not in package.json`];
  });
}

/** The first way around, as a list of files, if there is one. */
function cycle(files: readonly Source[]): string[] | undefined {
  const edges = new Map(
    files.map(({ file, text }) => [
      file,
      importsOf(text)
        .filter(({ specifier }) => specifier.startsWith('.'))
        .map(({ specifier }) => join(dirname(file), specifier)),
    ]),
  );
  const done = new Set<string>();
  const visit = (file: string, path: string[]): string[] | undefined => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return undefined;
    for (const next of edges.get(file) ?? []) {
      const found = visit(next, [...path, file]);
      if (found !== undefined) return found;
    }
    done.add(file);
    return undefined;
  };
  for (const file of edges.keys()) {
    const found = visit(file, []);
    if (found !== undefined) return found;
  }
  return undefined;
}

interface Manifest {
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

/** The entries of `exports`, as `.` and `./name`. */
function facesOf(name: string): string[] {
  const file = `packages/${name}/package.json`;
  return existsSync(join(ROOT, file)) ? Object.keys(JSON.parse(read(file).text).exports ?? {}) : [];
}

function dependenciesOf(name: string): string[] {
  const file = `packages/${name}/package.json`;
  if (!existsSync(join(ROOT, file))) return [];
  const manifest: Manifest = JSON.parse(read(file).text);
  const { dependencies, devDependencies, peerDependencies, optionalDependencies } = manifest;
  return Object.keys({ ...dependencies, ...devDependencies, ...peerDependencies, ...optionalDependencies });
}

for (const name of packages) {
  const files = filesIn(`packages/${name}`).filter(isTypeScript);

  test(`${name} imports only what lies below it, by name`, () => {
    const declared = dependenciesOf(name);
    expect(files.flatMap((file) => faults(read(file), declared))).toEqual([]);
    const ours = declared
      .filter((dependency) => dependency.startsWith('@hob/'))
      .map((dependency) => dependency.slice(5));
    expect(ours.filter((dependency) => !mayImport(name, dependency))).toEqual([]);
  });

  test(`${name} has no import cycle`, () => {
    expect(cycle(files.map(read))).toBe(undefined);
  });
}

test('programs import packages by name', () => {
  const files = PROGRAMS.flatMap(filesIn).filter(isTypeScript);
  expect(files.flatMap((file) => faults(read(file), []))).toEqual([]);
});

test('the checker sees what it is for', () => {
  const wrong = (file: string, text: string, declared: string[] = ['@hob/vat', '@hob/host']) =>
    faults({ file, text }, declared).map((fault) => fault.slice(file.length + 2));
  expect(wrong('packages/revocable/src/a.ts', "import { E } from '@hob/vat'; import './b.ts'")).toEqual([]);
  expect(wrong('packages/vat/src/a.ts', "import '@hob/host'")).toEqual(['vat may not import host']);
  expect(wrong('packages/vat/src/a.ts', "import type { X } from '@hob/host'")).toEqual(['vat may not import host']);
  expect(wrong('packages/vat/src/a.ts', "import '@hob/vat'")).toEqual(['vat may not import vat']);
  expect(wrong('packages/host/src/a.ts', "await import('@hob/guest')")).toEqual(['@hob/guest is not in package.json']);
  expect(wrong('packages/host/src/a.ts', "export * from '@hob/vat/src/turn.ts'")[0]).toMatch(/reaches into/);
  expect(wrong('packages/host/src/a.ts', "import '../../vat/src/index.ts'")[0]).toMatch(/leaves the package/);
  expect(wrong('packages/host/src/a.ts', "import '../../../test/needs.ts'")[0]).toMatch(/leaves the package/);
  expect(wrong('packages/host/src/a.test.ts', "import '../../../test/needs.ts'")).toEqual([]);
  expect(wrong('examples/a.ts', "import '../packages/vat/src/index.ts'")[0]).toMatch(/leaves the package/);
  expect(wrong('examples/a.ts', "import '@hob/host'; import './b.ts'")).toEqual([]);

  const around = (b: string) =>
    cycle([
      { file: 'a.ts', text: "import './b.ts'" },
      { file: 'b.ts', text: b },
    ]);
  expect(around("import { a } from './a.ts'")).toEqual(['a.ts', 'b.ts', 'a.ts']);
  expect(around("import type { A } from './a.ts'")).toEqual(['a.ts', 'b.ts', 'a.ts']);
});

const EXPORTED =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type|enum) ([\w$]+)/gm;

/** The exported names of `products` that no other of the files uses. */
function unused(products: readonly string[], files: readonly Source[]): string[] {
  const users = new Map<string, number>();
  const code = new Map(files.map(({ file, text }) => [file, blank(text)]));
  for (const text of code.values())
    for (const name of new Set(text.match(/[A-Za-z_$][\w$]*/g))) users.set(name, (users.get(name) ?? 0) + 1);
  return products.flatMap((file) =>
    [...(code.get(file) ?? '').matchAll(EXPORTED)]
      .map(([, name = '']) => name)
      .filter((name) => users.get(name) === 1)
      .map((name) => `${file}: ${name}`),
  );
}

test('every exported name of a product file is used by another file, a test at least', () => {
  const files = filesIn().filter((file) => isTypeScript(file) && !file.startsWith('test/fixtures/'));
  const products = files.filter((file) => packages.some((name) => file.startsWith(`packages/${name}/src/`)));
  expect(
    unused(
      products.filter((file) => !isTest(file)),
      files.map(read),
    ),
  ).toEqual([]);
});

test('a name in a comment or in a string is no use of it', () => {
  const files = [
    { file: 'a.ts', text: 'export const one = 1;\nexport function two() {}\nexport type Three = typeof one;' },
    { file: 'b.ts', text: `// one\nimport { two } from './a.ts';\nexport const text = 'Three';` },
  ];
  expect(unused(['a.ts'], files)).toEqual(['a.ts: one', 'a.ts: Three']);
});
