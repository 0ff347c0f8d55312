/** The threat model as one table, and what does not fit into a table. */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { bytes, code, openDescriptors, SECRET, scratch, text } from '../test/scratch.ts';
import { openFsCap } from './index.ts';

/** The root has `dir/file` ("inside") and, beside it, `outside/secret`. */
async function world() {
  const s = await scratch();
  fs.mkdirSync(s.at('dir/deep'), { recursive: true });
  fs.writeFileSync(s.at('dir/file'), 'inside');
  return s;
}

interface Case {
  readonly path: string;
  /** Link name -> its text; `OUTSIDE` and `ROOT` stand for paths of the host. */
  readonly links?: Readonly<Record<string, string>>;
  readonly read: string;
  readonly list?: string;
}

const cases: readonly Case[] = [
  { path: 'dir/file', read: 'ok' },
  { path: 'dir', read: 'IS_A_DIRECTORY', list: 'ok' },
  { path: 'dir/file/', read: 'NOT_A_DIRECTORY' },
  { path: 'dir/file/.', read: 'NOT_A_DIRECTORY' },
  { path: 'dir/file/x', read: 'NOT_A_DIRECTORY' },
  { path: 'none', read: 'NOT_FOUND' },
  { path: 'none/x', read: 'NOT_FOUND' },
  { path: '../outside/secret', read: 'PATH_ESCAPES' },
  { path: 'dir/../../outside/secret', read: 'PATH_ESCAPES' },
  { path: '/etc/passwd', read: 'PATH_ABSOLUTE' },

  { path: 'l', links: { l: 'dir/file' }, read: 'ok' },
  { path: 'l/file', links: { l: 'dir' }, read: 'ok' },
  { path: 'l', links: { l: './dir//deep/../file' }, read: 'ok' },
  { path: 'dir/l', links: { 'dir/l': '../dir/file' }, read: 'ok' },
  { path: 'dir/deep/l', links: { 'dir/deep/l': '../../dir/deep/../file' }, read: 'ok' },
  { path: 'a', links: { a: 'b', b: 'c/file', c: 'dir' }, read: 'ok' },
  { path: 'l/', links: { l: 'dir' }, read: 'IS_A_DIRECTORY', list: 'ok' },
  { path: 'l/.', links: { l: 'dir' }, read: 'IS_A_DIRECTORY', list: 'ok' },
  { path: 'l', links: { l: 'dir/file/' }, read: 'NOT_A_DIRECTORY' },
  { path: 'l', links: { l: 'none' }, read: 'NOT_FOUND' },
  // The text before `..` is walked, not cut: `m` leads two deep, so `m/../file` is `dir/file`.
  { path: 'l', links: { m: 'dir/deep', l: 'm/../file' }, read: 'ok' },

  { path: 'l', links: { l: 'OUTSIDE/secret' }, read: 'RESOLVED_OUTSIDE' },
  { path: 'l', links: { l: 'OUTSIDE/none' }, read: 'RESOLVED_OUTSIDE' },
  { path: 'l', links: { l: '../outside/secret' }, read: 'RESOLVED_OUTSIDE' },
  { path: 'l', links: { l: '../outside/none' }, read: 'RESOLVED_OUTSIDE' },
  { path: 'l/secret', links: { l: 'OUTSIDE' }, read: 'RESOLVED_OUTSIDE' },
  { path: 'l/secret', links: { l: '../outside' }, read: 'RESOLVED_OUTSIDE' },
  { path: 'l', links: { l: '..' }, read: 'RESOLVED_OUTSIDE', list: 'RESOLVED_OUTSIDE' },
  { path: 'l/', links: { l: 'OUTSIDE' }, read: 'RESOLVED_OUTSIDE', list: 'RESOLVED_OUTSIDE' },
  { path: 'l/.', links: { l: 'OUTSIDE' }, read: 'RESOLVED_OUTSIDE', list: 'RESOLVED_OUTSIDE' },
  { path: 'dir/l', links: { 'dir/l': '../../outside/secret' }, read: 'RESOLVED_OUTSIDE' },
  { path: 'l', links: { l: 'dir/../../outside/secret' }, read: 'RESOLVED_OUTSIDE' },
  { path: 'a', links: { a: 'b', b: 'OUTSIDE/secret' }, read: 'RESOLVED_OUTSIDE' },
  // Leaving and coming back is leaving: otherwise the result would tell where the root lies.
  { path: 'l', links: { l: '../root/dir/file' }, read: 'RESOLVED_OUTSIDE' },
  { path: 'l', links: { l: 'ROOT/dir/file' }, read: 'RESOLVED_OUTSIDE' },
  { path: 'l', links: { l: '/' }, read: 'RESOLVED_OUTSIDE', list: 'RESOLVED_OUTSIDE' },
  { path: 'l', links: { l: '/proc/self/root/etc/passwd' }, read: 'RESOLVED_OUTSIDE' },
  { path: 'l', links: { l: '/proc/self/cwd' }, read: 'RESOLVED_OUTSIDE' },

  { path: 'l', links: { l: 'l' }, read: 'LINK_LOOP' },
  { path: 'a', links: { a: 'b', b: 'a' }, read: 'LINK_LOOP' },
  { path: 'l/x', links: { l: 'l/l' }, read: 'LINK_LOOP' },
  {
    path: 'b9',
    links: Object.fromEntries(
      Array.from({ length: 10 }, (_, i) => [`b${i}`, i ? `b${i - 1}/../b${i - 1}/../b${i - 1}` : 'dir']),
    ),
    read: 'LINK_LOOP',
  },
];

/** Asked at once: none may count as unheard while another is waited for. */
function heard<P extends Promise<unknown>>(asked: readonly P[]): readonly P[] {
  for (const answer of asked) answer.catch(() => {});
  return asked;
}

test.each(cases)('$path with $links', async ({ path, links = {}, read, list }) => {
  await using s = await world();
  const before = openDescriptors();
  for (const [name, target] of Object.entries(links)) {
    fs.symlinkSync(target.replace('OUTSIDE', s.outside('.')).replace('ROOT', s.at('.')), s.at(name));
  }
  expect(await code(s.cap.read(path))).toBe(read);
  if (read === 'ok') expect(text(await s.cap.read(path))).toBe('inside');
  expect(await code(s.cap.list(path))).toBe(list ?? (read === 'ok' ? 'NOT_A_DIRECTORY' : read));
  // No operation gets further than read does.
  if (read === 'RESOLVED_OUTSIDE' || read.startsWith('PATH_')) {
    const { cap } = s;
    const below = `${path}/x`;
    for (const refused of heard([
      cap.write(below, 'x'),
      cap.append(below, 'x'),
      cap.mkdir(below, { recursive: true }),
      cap.remove(below, { recursive: true }),
      cap.rename('dir/file', below),
      cap.copy('dir/file', below),
      cap.copy(path, 'stolen'),
      cap.readText(path),
      cap.stat(below),
      cap.entries(path),
      cap.subdir(path),
      cap.openRead(path),
      cap.openWrite(below),
      cap.edit(below, [{ oldText: 'a', newText: 'b' }]),
    ])) {
      expect(await code(refused)).toBe(read);
    }
  }
  expect(fs.readdirSync(s.outside('.'))).toEqual(['secret']);
  expect(fs.readFileSync(s.outside('secret'), 'utf8')).toBe(SECRET);
  expect(openDescriptors()).toBe(before);
});

test('the seed texts are word for word, and no error says more than its table', async () => {
  await using s = await world();
  fs.symlinkSync(s.outside('secret'), s.at('symlink-to-outside'));
  await expect(s.cap.read('symlink-to-outside')).rejects.toThrow(/^resolved outside root$/);
  await expect(s.cap.read('../../../etc/passwd')).rejects.toThrow(/^path escapes$/);
  await expect(s.cap.read('/etc/passwd')).rejects.toThrow(/^absolute paths forbidden$/);
  for (const failing of heard([s.cap.read('none'), s.cap.mkdir('dir'), s.cap.remove('dir'), s.cap.list('dir/file')])) {
    const error = (await failing.catch((thrown: unknown) => thrown)) as Error;
    expect(Object.keys(error)).toEqual(['code']);
    expect(error.cause).toBeUndefined();
    expect(error.message).not.toMatch(/\/|E[A-Z]{3,}\b|errno|proc|caps-fs-/);
  }
});

test('the seed’s subdirectory is a cap of its own, with its own boundary', async () => {
  await using s = await scratch();
  fs.mkdirSync(s.at('skills/hermes-fs-as-cap'), { recursive: true });
  fs.mkdirSync(s.at('other-skill'));
  fs.writeFileSync(s.at('skills/hermes-fs-as-cap/SKILL.md'), 'skill');
  fs.writeFileSync(s.at('other-skill/SKILL.md'), 'other');
  fs.symlinkSync('../other-skill/SKILL.md', s.at('skills/up'));
  const sub = await s.cap.subdir('skills');
  expect(text(await sub.read('hermes-fs-as-cap/SKILL.md'))).toBe('skill');
  expect(await code(sub.read('../other-skill/SKILL.md'))).toBe('PATH_ESCAPES');
  // Fine from the root, outside from here: that is attenuation.
  expect(text(await s.cap.read('skills/up'))).toBe('other');
  expect(await code(sub.read('up'))).toBe('RESOLVED_OUTSIDE');
});

test('a final link is never written through nor replaced, wherever it leads', async () => {
  await using s = await world();
  for (const target of [s.outside('secret'), 'dir/file', 'none', s.outside('none')]) {
    fs.symlinkSync(target, s.at('l'));
    expect(await code(s.cap.write('l', 'x'))).toBe('NOT_A_FILE');
    expect(await code(s.cap.append('l', 'x'))).toBe('NOT_A_FILE');
    expect(await code(s.cap.openWrite('l'))).toBe('NOT_A_FILE');
    expect(await code(s.cap.edit('l', [{ oldText: 'i', newText: 'x' }]))).toBe('NOT_A_FILE');
    expect(await code(s.cap.write('l', 'x', { create: 'new' }))).toBe('NOT_A_FILE');
    expect(await code(s.cap.copy('dir/file', 'l'))).toBe('NOT_A_FILE');
    expect(await code(s.cap.mkdir('l'))).toBe('EXISTS');
    expect(await code(s.cap.mkdir('l', { recursive: true }))).not.toBe('ok');
    expect((await s.cap.stat('l')).kind).toBe('link');
    await s.cap.rename('l', 'moved');
    await s.cap.remove('moved');
  }
  expect(fs.readFileSync(s.at('dir/file'), 'utf8')).toBe('inside');
  expect(fs.readdirSync(s.outside('.'))).toEqual(['secret']);
  expect(fs.readFileSync(s.outside('secret'), 'utf8')).toBe(SECRET);
});

test('mkdir -p does not fill in where a dangling link points', async () => {
  await using s = await world();
  fs.symlinkSync('made', s.at('inner'));
  fs.symlinkSync(s.outside('made'), s.at('outer'));
  expect(await code(s.cap.mkdir('inner/x', { recursive: true }))).toBe('NOT_FOUND');
  expect(await code(s.cap.mkdir('outer/x', { recursive: true }))).toBe('RESOLVED_OUTSIDE');
  expect(fs.existsSync(s.at('made')) || fs.existsSync(s.outside('made'))).toBe(false);
});

requires('mkfifo')('a FIFO, a socket and a device are refused without being opened', async () => {
  await using s = await world();
  execFileSync('mkfifo', [s.at('fifo')]);
  const server = net.createServer().listen(s.at('socket'));
  await new Promise((listening) => server.once('listening', listening));
  const names = ['fifo', 'socket'];
  if (process.getuid?.() === 0) {
    execFileSync('mknod', [s.at('null'), 'c', '1', '3']);
    names.push('null');
  }
  // Eight: were one opened, the four threads of the pool would all be stuck and the read after it too.
  for (let round = 0; round < 8; round++) {
    for (const name of names) {
      expect(await code(s.cap.read(name))).toBe('NOT_A_FILE');
      expect(await code(s.cap.write(name, 'x'))).toBe('NOT_A_FILE');
      expect(await code(s.cap.append(name, 'x'))).toBe('NOT_A_FILE');
      expect(await code(s.cap.openRead(name))).toBe('NOT_A_FILE');
      expect(await code(s.cap.copy(name, 'c'))).toBe('NOT_A_FILE');
      expect(await code(s.cap.read(`${name}/x`))).toBe('NOT_A_DIRECTORY');
      expect((await s.cap.stat(name)).kind).toBe('other');
    }
  }
  expect(text(await s.cap.read('dir/file'))).toBe('inside');
  await new Promise((closed) => server.close(closed));
});

test('append refuses a file with two names; write gives this name a file of its own', async () => {
  await using s = await world();
  fs.linkSync(s.outside('secret'), s.at('hard'));
  expect(await code(s.cap.append('hard', 'x'))).toBe('NOT_A_FILE');
  await s.cap.write('hard', 'mine');
  expect(fs.readFileSync(s.outside('secret'), 'utf8')).toBe(SECRET);
});

test('with the whole host as root, /proc and what its magic links lead to stay out of reach', async () => {
  const cap = await openFsCap('/');
  for (const path of [
    'proc/self/root/etc/passwd',
    'proc/self/cwd',
    'proc/self/exe',
    'proc/self/fd/0',
    'proc/self/status',
    'proc/version',
    'proc/none',
    'proc/none/none',
    'dev/shm/none',
  ]) {
    expect(await code(cap.read(path)), path).toBe('RESOLVED_OUTSIDE');
  }
  expect(await code(cap.list('proc'))).toBe('RESOLVED_OUTSIDE');
  expect(await code(cap.stat('proc'))).toBe('RESOLVED_OUTSIDE');
  expect(await code(cap.subdir('proc/self'))).toBe('RESOLVED_OUTSIDE');
  expect(await code(cap.mkdir('dev/shm/caps-fs-test'))).toBe('RESOLVED_OUTSIDE');
  const proc = (await cap.entries()).find(({ name }) => name === 'proc');
  expect(proc).toEqual({ name: 'proc', kind: 'other', size: 0, mtime: 0, version: '' });
  await cap.close();
});

requires('userns', 'unshare')('a bind mount of the same file system beneath the root is outside', async () => {
  await using s = await world();
  fs.mkdirSync(s.at('mounted/d'), { recursive: true });
  fs.writeFileSync(s.at('mounted/f'), '');
  const script = `mount --bind "$OUT" "$ROOT/mounted/d" && mount --bind "$OUT/secret" "$ROOT/mounted/f" && exec "$NODE" "$CHILD" "$ROOT"`;
  const answers = execFileSync('unshare', ['--user', '--map-root-user', '--mount', 'sh', '-c', script], {
    encoding: 'utf8',
    env: {
      ...process.env,
      OUT: s.outside('.'),
      ROOT: s.at('.'),
      NODE: process.execPath,
      CHILD: new URL('../test/mounts-child.ts', import.meta.url).pathname,
    },
  });
  const { refused, seen, left } = JSON.parse(answers) as { refused: string[][]; seen: string[][]; left: string[] };
  for (const [what, answer] of refused) expect(`${what} ${answer}`).toBe(`${what} RESOLVED_OUTSIDE`);
  expect(seen).toEqual([
    ['d', 'other'],
    ['f', 'other'],
  ]);
  expect(left).toEqual(['secret']);
  expect(fs.readFileSync(s.outside('secret'), 'utf8')).toBe(SECRET);
});

requires('root')('in a sticky directory for all, a stranger’s link is not followed', async () => {
  await using s = await world();
  fs.mkdirSync(s.at('tmp'));
  fs.chmodSync(s.at('tmp'), 0o1777);
  for (const [name, owner] of [
    ['strangers', 12_345],
    ['ours', 0],
  ] as const) {
    fs.symlinkSync('../dir/file', s.at(`tmp/${name}`));
    fs.lchownSync(s.at(`tmp/${name}`), owner, owner);
  }
  expect(await code(s.cap.read('tmp/strangers'))).toBe('NOT_PERMITTED');
  expect(await code(s.cap.read('tmp/ours'))).toBe('ok');
  fs.chmodSync(s.at('tmp'), 0o755);
  expect(await code(s.cap.read('tmp/strangers'))).toBe('ok');
});

test('no path of the host is in the object, however it is printed', async () => {
  await using s = await world();
  const sub = await (await s.cap.subdir('dir')).readOnly();
  for (const cap of [s.cap, sub]) {
    expect(JSON.stringify({ cap })).toBe('{"cap":"[FsCap]"}');
    expect(inspect(cap)).toBe('[FsCap]');
    expect(`${cap}`).toBe('[FsCap]');
    expect(Object.isFrozen(cap)).toBe(true);
    expect(Reflect.ownKeys(cap).every((key) => typeof Reflect.get(cap, key) === 'function')).toBe(true);
  }
});

test('a renamed directory stays the same directory; one that takes its name is a stranger', async () => {
  await using s = await world();
  const sub = await s.cap.subdir('dir');
  fs.renameSync(s.at('dir'), s.at('moved'));
  fs.symlinkSync(s.outside('.'), s.at('dir'));
  expect(text(await sub.read('file'))).toBe('inside');
  fs.rmSync(s.at('moved'), { recursive: true });
  for (const gone of heard([
    sub.read('file'),
    sub.list(),
    sub.stat('.'),
    sub.write('x', ''),
    sub.mkdir('y'),
    sub.subdir('.'),
  ])) {
    expect(await code(gone)).toBe('NOT_FOUND');
  }
});

test('arguments are taken when the call is made, not when it gets its turn', async () => {
  await using s = await world();
  const data = bytes('as it was');
  const options = { create: 'new' as 'new' | 'any' };
  const written = s.cap.write('f', data, options);
  data.fill(0);
  options.create = 'any';
  await written;
  expect(text(await s.cap.read('f'))).toBe('as it was');
});
