/** Files that must not be in the repository, and files that each package must have. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { filesIn, packages, ROOT, read } from './sources.ts';

const files = filesIn();
const texts = files.filter((file) => !/\.(?:png|jpg|gif|ico|sqlite|db|zst|tgz|wasm|node)$/.test(file));

/** Put together here, so that this file does not name them either. */
const host = (...parts: string[]): string => parts.join('.');
const REGISTRIES = [
  host('registry', 'npmjs', 'org'),
  host('npmjs', 'com'),
  host('registry', 'yarnpkg', 'com'),
  host('pypi', 'org'),
  host('files', 'pythonhosted', 'org'),
  host('crates', 'io'),
  host('proxy', 'golang', 'org'),
  host('npmmirror', 'com'),
];
const MACHINE_PATH = new RegExp(`(?:file://|(?<![\\w.~@*})/-]))/(?:${['work', 'root', 'home', 'Users'].join('|')})/`);

test('no file names the host of a package registry', () => {
  const faults = texts.flatMap((file) => {
    const { text } = read(file);
    return REGISTRIES.filter((name) => text.includes(name)).map((name) => `${file}: ${name}`);
  });
  expect(faults).toEqual([]);
});

test('no file names a path of the machine it was written on', () => {
  const faults = texts.flatMap((file) => {
    const lines = read(file).text.split('\n');
    return lines.flatMap((line, index) => (MACHINE_PATH.test(line) ? [`${file}:${index + 1}: ${line.trim()}`] : []));
  });
  expect(faults).toEqual([]);
});

test('that checker knows a path of a machine from an address and a relative one', () => {
  const slash = '/';
  for (const path of [`${slash}work/x`, `'${slash}root/.ssh'`, `file://${slash}home/a`, `cd ${slash}Users/a`]) {
    expect(MACHINE_PATH.test(path), path).toBe(true);
  }
  for (const path of ['https://a.b/work/x', './work/x', 'a/home/b', '~/work/', '/workspace/x', '/etc/passwd']) {
    expect(MACHINE_PATH.test(path), path).toBe(false);
  }
});

test('no file has the marks of an unfinished merge', () => {
  const marked = texts.filter((file) => /^(?:<{7} |>{7} )/m.test(read(file).text));
  expect(marked).toEqual([]);
});

test('Hob runs where it is: no container is needed to set it up, and one Dockerfile serves', () => {
  expect(files.filter((file) => /(?:^|\/)(?:Dockerfile|docker-compose|compose\.ya?ml)/i.test(file))).toEqual([
    'packages/cli/container/Dockerfile',
    'packages/cli/container/compose.yaml',
  ]);
});

test('the root has what a stranger looks for', () => {
  for (const file of ['README.md', 'LICENSE', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md', '.ci/run']) {
    expect(files, file).toContain(file);
  }
});

for (const name of packages) {
  test(`package ${name} says what it is`, () => {
    const has = (file: string): boolean => files.includes(`packages/${name}/${file}`);
    expect(has('README.md'), 'README.md').toBe(true);
    if (has('pyproject.toml')) {
      expect(read(`packages/${name}/pyproject.toml`).text).toMatch(/\nlicense = "Apache-2\.0"\n/);
      return;
    }
    if (!files.some((file) => file.startsWith(`packages/${name}/src/`))) return;
    expect(has('src/index.ts'), 'src/index.ts').toBe(true);
    const manifest = JSON.parse(read(`packages/${name}/package.json`).text);
    expect(manifest).toMatchObject({ name: `@hob/${name}`, license: 'Apache-2.0', type: 'module' });
    expect(manifest.description).toMatch(/\w/);
  });
}

/** Their scripts are for old package managers: the program is in a package of its platform (`test/browser.test.ts`). */
const WORK_WITHOUT = ['esbuild: postinstall'];

test('no installed package needs an install script, and none is let run', () => {
  // pnpm is called with --ignore-scripts: a package that needs its script would be broken, one that is listed as built
  // would run a stranger's code on every machine.
  for (const file of ['package.json', 'pnpm-workspace.yaml']) {
    expect(read(file).text).not.toMatch(/onlyBuiltDependencies|allowBuilds|neverBuiltDependencies/);
  }
  const store = join(ROOT, 'node_modules', '.pnpm');
  const faults = readdirSync(store).flatMap((entry) => {
    const modules = join(store, entry, 'node_modules');
    if (entry === 'node_modules' || !existsSync(modules)) return [];
    const names = readdirSync(modules).flatMap((name) =>
      name.startsWith('@') ? readdirSync(join(modules, name)).map((inner) => `${name}/${inner}`) : [name],
    );
    return names.flatMap((name) => {
      const folder = join('node_modules', '.pnpm', entry, 'node_modules', name);
      if (!existsSync(join(ROOT, folder, 'package.json'))) return [];
      const scripts: Record<string, string> = JSON.parse(read(join(folder, 'package.json')).text).scripts ?? {};
      const needs = ['preinstall', 'install', 'postinstall'].filter((script) => script in scripts);
      if (existsSync(join(ROOT, folder, 'binding.gyp'))) needs.push('binding.gyp');
      return needs.length === 0 ? [] : [`${name}: ${needs.join(', ')}`];
    });
  });
  expect([...new Set(faults)].filter((fault) => !WORK_WITHOUT.includes(fault))).toEqual([]);
});
