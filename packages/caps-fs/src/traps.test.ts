/**
 * Tests of traps that have no better place. The table of traps in the README names the test of each.
 *
 * In both regimes: what is said of a backend is said of the one that the regime is for.
 */
import { execFile, execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { operationNames, operations } from '../test/escapes/operations.ts';
import { makeWorld } from '../test/escapes/world.ts';
import { code, openDescriptors, scratch, text } from '../test/scratch.ts';
import type { Kernel } from './base/kernel.ts';
import { chooseBackend } from './drivers/backend.ts';
import { backendInfo, openFsCap } from './index.ts';
import { openWith } from './open.ts';

const run = promisify(execFile);
/** Asked within a test: where there is no native backend, the tests of its regime are skipped before. */
const backendHere = (): string => backendInfo().backend;
const hooks = new URL('../../../scripts/resolve.mjs', import.meta.url).pathname;
const inTest = (name: string): string => new URL(`../test/${name}`, import.meta.url).pathname;
const minute = 60_000;

/** Whether this may go to the kernel as a name: one component, which does not climb. */
const component = (name: unknown): boolean => {
  const spelled = typeof name === 'string' ? name : Buffer.from(name as Uint8Array).toString('latin1');
  return spelled.length > 0 && spelled !== '..' && !/[/\0]/.test(spelled);
};

test('no system call is handed more than one name, nor one that climbs or ends in a slash: every operation, every spelling', async () => {
  const kernel = chooseBackend();
  const handed: unknown[] = [];
  const spied: Record<string, (...given: never[]) => unknown> = {};
  // Each of these takes names after the directories that they are in.
  const naming = [
    'openDirectory',
    'openAny',
    'create',
    'lstat',
    'readLink',
    'mkdir',
    'rmdir',
    'unlink',
    'link',
    'rename',
    'renameNew',
  ] as const;
  for (const call of naming) {
    const real = kernel[call] as ((...given: unknown[]) => unknown) | undefined;
    if (!real) continue;
    const at = call === 'link' || call.startsWith('rename') ? [1, 3] : [1];
    spied[call] = (...given: unknown[]) => {
      handed.push(...at.map((i) => given[i]));
      return real(...given);
    };
  }
  // The native backend hands over a whole path where the kernel itself keeps beneath: these names one by one.
  const inOne: string[] = [];
  const { shortcuts } = kernel;
  const spyOn =
    <A extends unknown[], R>(ask: (dir: number, names: string, ...rest: A) => R) =>
    (dir: number, names: string, ...rest: A): R => {
      inOne.push(...names.split('/'));
      return ask(dir, names, ...rest);
    };
  const spiedShortcuts = shortcuts && {
    open: spyOn(shortcuts.open),
    stat: spyOn(shortcuts.stat),
    read: spyOn(shortcuts.read),
    readSeen: spyOn(shortcuts.readSeen),
  };
  await using world = await makeWorld({
    l: { link: 'dir' },
    up: { link: 'dir/../file' },
    out: { link: '../outside/secret' },
    abs: { link: '/proc/self/fd' },
    'dir/deep/x': { file: 'inside' },
  });
  const cap = openWith(
    { ...kernel, ...spied, ...(spiedShortcuts && { shortcuts: spiedShortcuts }) } as Kernel,
    world.root,
  );
  onTestFinished(() => cap.close());
  const spellings = [
    'dir/file',
    'dir//./file',
    'l/',
    'l/.',
    'l/deep/x',
    'up',
    'out',
    'abs/0',
    'dir/deep/',
    'none/',
    'none/a/b',
  ];
  for (const spelling of spellings) {
    for (const operation of operationNames) await operations[operation](cap, spelling).catch(() => {});
  }
  expect(handed.length).toBeGreaterThan(200);
  expect(inOne.filter((name) => !component(name))).toEqual([]);
  expect(inOne.length > 200).toBe(backendHere() === 'native');
  expect(handed.filter((name) => name !== '.' && !component(name))).toEqual([]);
});

test('no call of node:fs that works by paths is used: it would look up again a name that was checked', () => {
  const sources = fs
    .readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => fs.readFileSync(path.join(import.meta.dirname, name), 'utf8'))
    // Comments may speak of it.
    .map((source) => source.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, ''));
  const called = new Set(sources.flatMap((source) => [...source.matchAll(/\bfs\.(\w+)/g)].map(([, name]) => name)));
  expect(called).toContain('openSync');
  const byPath = /^(?:rm|cp|glob|realpath|watch|watchFile|exists|copyFile)(?:Sync)?$/;
  expect([...called].filter((name) => byPath.test(name ?? ''))).toEqual([]);
  expect(sources.filter((source) => /recursive: true/.test(source))).toEqual([]);
});

test('a file that changes each time it is read is BUSY after eight more attempts, and not before', async () => {
  await using s = await scratch();
  fs.mkdirSync(s.at('d'));
  fs.writeFileSync(s.at('d/secret'), 'inside');
  fs.writeFileSync(s.at('f'), 'inside');
  const kernel = chooseBackend('proc');
  let left = 0;
  /** While it is opened the name is a link to outside; whoever then wants to read the link finds none. */
  const asLink = <R>(name: unknown, outside: string, open: () => R): R => {
    if (left === 0) return open();
    left -= 1;
    const [at, kept] = [s.at(String(name)), s.at('kept')];
    fs.renameSync(at, kept);
    fs.symlinkSync(outside, at);
    try {
      return open();
    } finally {
      fs.unlinkSync(at);
      fs.renameSync(kept, at);
    }
  };
  const cap = openWith(
    {
      ...kernel,
      openDirectory: (dir, name) =>
        name === 'd'
          ? asLink(name, s.outside('.'), () => kernel.openDirectory(dir, name))
          : kernel.openDirectory(dir, name),
      openAny: (dir, name) =>
        name === 'f' ? asLink(name, s.outside('secret'), () => kernel.openAny(dir, name)) : kernel.openAny(dir, name),
    },
    s.at('.'),
  );
  onTestFinished(() => cap.close());
  const before = openDescriptors();
  const asked: Readonly<Record<string, () => Promise<unknown>>> = {
    'd/secret': async () => text(await cap.read('d/secret')),
    f: async () => text(await cap.read('f')),
    list: () => cap.list('d'),
    write: () => cap.write('d/secret', 'inside'),
    append: () => cap.append('d/log', 'inside'),
    mkdir: () => cap.mkdir('d/x/y', { recursive: true }),
    rename: () => cap.rename('d/log', 'd/moved'),
    copy: () => cap.copy('f', 'd/copied'),
    subdir: async () => await (await cap.subdir('d')).close(),
    remove: () => cap.remove('d/moved'),
  };
  for (const [what, ask] of Object.entries(asked)) {
    left = 9;
    expect([what, await code(ask()), left]).toEqual([what, 'BUSY', 0]);
    left = 8;
    expect([what, await code(ask()), left]).toEqual([what, 'ok', 0]);
  }
  expect(fs.readdirSync(s.outside('.'))).toEqual(['secret']);
  expect(openDescriptors()).toBe(before);
});

requires('linux')(
  'a file that says 0 bytes and has content is read to its end, in each way, and no further than the limit',
  async () => {
    const cap = await openFsCap('/proc/sys/kernel', { limits: { maxReadBytes: 64 } });
    onTestFinished(() => cap.close());
    expect((await cap.stat('ostype')).size).toBe(0);
    expect(text(await cap.read('ostype'))).toBe('Linux\n');
    expect(await cap.readText('ostype')).toBe('Linux\n');
    expect(text(await cap.read('ostype', { offset: 2, length: 3 }))).toBe('nux');
    expect(text(await cap.read('ostype', { offset: 99 }))).toBe('');
    const source = await cap.openRead('ostype');
    expect(text(await source.next())).toBe('Linux\n');
    expect(await source.next()).toBeUndefined();
    await source.return();
    expect((await cap.edit('ostype', [{ oldText: 'Linux', newText: 'none' }], { dryRun: true })).diff).toContain(
      '-Linux',
    );
    // No size tells that it is too much: only the reading does.
    const few = await openFsCap('/proc/sys/kernel', { limits: { maxReadBytes: 5 } });
    onTestFinished(() => few.close());
    expect(await code(few.read('ostype'))).toBe('FS_LIMIT');
    expect(await code(few.readText('ostype'))).toBe('FS_LIMIT');
    expect(text(await few.read('ostype', { length: 5 }))).toBe('Linux');
  },
);

requires('cc')(
  'durable waits for the file, then gives it its name, then waits for its directory; without it the directory is not waited for',
  async (context) => {
    await using s = await scratch();
    const observer = s.outside('syncs');
    execFileSync('cc', ['-O2', '-o', observer, inTest('syncs.c')]);
    const log = s.outside('log');
    const watched = await code(run(observer, [log, process.execPath, '--version']));
    if (String(watched) === '3') context.skip('needs to be let watch a process of its own (ptrace)');
    const child = [process.execPath, '--import', hooks, inTest('durable-child.ts'), backendHere(), s.at('.')];
    await run(observer, [log, ...child], { env: { ...process.env, CAPS_FS_BACKEND: undefined } });
    const seen = fs
      .readFileSync(log, 'utf8')
      .split('\n')
      .map((line) => (line === `sync ${s.at('.')}` ? 'directory' : line.replace(/ .*/, '')))
      // A name may take two steps: one that nobody uses, then its own.
      .filter((what, i, all) => what !== '' && !(what === 'name' && all[i - 1] === 'name'));
    const durable = ['sync', 'name', 'directory'];
    const whole = ['sync', 'name'];
    expect(seen).toEqual([...durable, ...durable, ...durable, ...whole, ...whole, ...whole]);
    expect(fs.readdirSync(s.at('.')).sort()).toEqual(['ffalse', 'ftrue', 'gfalse', 'gtrue']);
  },
  minute,
);

test('a root that was said relatively stays what it was, wherever the process goes', async () => {
  await using s = await scratch();
  for (const place of [s.at('dir'), s.at('tree/a'), s.outside('dir'), s.outside('tree'), s.outside('root')])
    fs.mkdirSync(place, { recursive: true });
  for (const file of [s.at('secret'), s.at('dir/secret')]) fs.writeFileSync(file, 'inside');
  for (const file of ['dir/secret', 'root/secret', 'only-outside']) fs.writeFileSync(s.outside(file), 'outside');
  const child = [process.execPath, '--import', hooks, inTest('chdir-child.ts'), backendHere()];
  const { stdout } = await run(child[0] ?? '', child.slice(1), {
    cwd: path.dirname(s.at('.')),
    env: { ...process.env, CAPS_FS_BACKEND: undefined },
  });
  expect(JSON.parse(stdout)).toEqual({
    read: 'inside',
    below: 'inside',
    list: ['dir', 'made', 'secret'],
    glob: ['dir', 'dir/copied', 'dir/deep', 'dir/deep/er', 'dir/secret', 'made', 'secret'],
    search: ['inside', 'inside', 'inside'],
    pattern: ['inside', 'inside', 'inside'],
    there: 'NOT_FOUND',
  });
  expect(fs.readdirSync(s.outside('.')).sort()).toEqual(['dir', 'only-outside', 'root', 'secret', 'tree']);
  expect(fs.readdirSync(s.outside('dir'))).toEqual(['secret']);
});

test('a directory that changes while it is opened is opened', async () => {
  await using s = await scratch();
  const kernel = chooseBackend();
  let changes = 0;
  const cap = openWith(
    {
      ...kernel,
      lstat(dir, name) {
        const seen = kernel.lstat(dir, name);
        // After the first look and before the second.
        fs.writeFileSync(s.at(`made${changes++}`), '');
        return seen;
      },
    },
    s.at('.'),
  );
  onTestFinished(() => cap.close());
  expect(changes).toBe(1);
  expect(await cap.list()).toEqual(['made0']);
});

test('names that mean something to an object are names like others, in every operation that keeps names', async () => {
  await using s = await scratch();
  const names = ['__proto__', 'constructor', 'hasOwnProperty', 'toString', 'valueOf'];
  for (const name of names) {
    await s.cap.mkdir(`${name}/${name}`, { recursive: true });
    await s.cap.write(`${name}/${name}/then`, name);
  }
  expect(await s.cap.list()).toEqual([...names].sort());
  expect((await s.cap.entries()).map((entry) => entry.name)).toEqual([...names].sort());
  expect(await s.cap.glob('**/then')).toEqual([...names].sort().map((name) => `${name}/${name}/then`));
  expect((await s.cap.search('constructor')).map((hit) => hit.path)).toEqual(['constructor/constructor/then']);
  const rest = await s.cap.except(['__proto__', 'constructor']);
  expect(await rest.list()).toEqual(['hasOwnProperty', 'toString', 'valueOf']);
  expect(await code(rest.read('toString/__proto__'))).toBe('NOT_PERMITTED');
  fs.writeFileSync(s.at('.gitignore'), '__proto__\n');
  expect((await s.cap.search('to', { glob: 'then' })).map((hit) => hit.path)).toEqual([
    'constructor/constructor/then',
    'toString/toString/then',
  ]);
});
