import fs from 'node:fs';
import { expect, test } from 'vitest';
import { bytes, code, scratch } from '../../test/scratch.ts';
import { changingMethods, type FsCap } from '../index.ts';

const changing: ReadonlySet<string> = new Set(changingMethods);

/** A call of each method, which would work. The compiler asks for a row for each new one. */
const calls: { readonly [K in keyof FsCap]: (cap: FsCap) => Promise<unknown> } = {
  read: (cap) => cap.read('f'),
  readText: (cap) => cap.readText('f'),
  readMany: (cap) => cap.readMany(['f']),
  readlink: (cap) => cap.readlink('l'),
  openRead: (cap) => cap.openRead('f').then((source) => source.return()),
  stat: (cap) => cap.stat('f'),
  list: (cap) => cap.list(),
  entries: (cap) => cap.entries(),
  tree: (cap) => cap.tree(),
  glob: (cap) => cap.glob('*'),
  search: (cap) => cap.search('a'),
  searchReport: (cap) => cap.searchReport('a'),
  subdir: (cap) => cap.subdir('.'),
  readOnly: (cap) => cap.readOnly(),
  only: (cap) => cap.only(['read']),
  except: (cap) => cap.except(['x']),
  withQuota: (cap) => cap.withQuota({ bytes: 1 }),
  write: (cap) => cap.write('f', 'x'),
  append: (cap) => cap.append('f', 'x'),
  edit: (cap) => cap.edit('f', [{ oldText: 'a', newText: 'b' }]),
  mkdir: (cap) => cap.mkdir('n'),
  remove: (cap) => cap.remove('f'),
  rename: (cap) => cap.rename('f', 'g'),
  copy: (cap) => cap.copy('f', 'g'),
  openWrite: (cap) => cap.openWrite('g'),
  writeAt: (cap) => cap.writeAt('f', 0, 'x'),
  truncate: (cap) => cap.truncate('f', 0),
  chmod: (cap) => cap.chmod('f', '+x'),
  setTimes: (cap) => cap.setTimes('f', { mtime: 0 }),
  symlink: (cap) => cap.symlink('f', 'm'),
  close: (cap) => cap.close(),
};

test('read-only holds for everything that is made from it: the methods that change something are refused, and no others', async () => {
  await using s = await scratch();
  await s.cap.mkdir('d/e', { recursive: true });
  await s.cap.write('d/e/f', 'a');
  await s.cap.symlink('f', 'd/e/l');
  const readOnly = await (await s.cap.subdir('d')).readOnly();
  const below = await readOnly.subdir('e');
  const again = await (await (await below.withQuota({ bytes: 9 })).except([])).subdir('.');
  const before = await below.entries();
  for (const cap of [below, again]) {
    expect(Object.keys(cap).sort()).toEqual(Object.keys(calls).sort());
    for (const [method, call] of Object.entries(calls).filter(([name]) => name !== 'close'))
      expect([method, await code(call(cap))]).toEqual([method, changing.has(method) ? 'READ_ONLY' : 'ok']);
    expect(await code(cap.edit('f', [{ oldText: 'a', newText: 'b' }], { dryRun: true }))).toBe('READ_ONLY');
    expect(await below.entries()).toEqual(before);
  }
});

test('only() leaves these operations, also below, and cannot be widened', async () => {
  await using s = await scratch();
  await s.cap.mkdir('d');
  await s.cap.write('d/f', 'a');
  const cap = await s.cap.only(['readText', 'subdir', 'only']);
  const sub = await cap.subdir('d');
  expect(await sub.readText('f')).toBe('a');
  for (const refused of [sub.read('f'), sub.list(), sub.write('f', 'x'), sub.readOnly(), sub.stat('f')]) {
    expect(await code(refused)).toBe('NOT_PERMITTED');
  }
  const wider = await sub.only(['readText', 'write', 'list']);
  expect(await code(wider.write('f', 'x'))).toBe('NOT_PERMITTED');
  expect(await code(wider.subdir('.'))).toBe('NOT_PERMITTED');
  // Its own end is always the holder's.
  expect(await code(wider.close())).toBe('ok');
  expect(await code(s.cap.only(['nothing' as 'read']))).toBe('invalid');
  expect(await code(s.cap.only(['__proto__' as 'read']))).toBe('invalid');
});

test('an excepted name is neither shown nor reached, by any way of naming it', async () => {
  await using s = await scratch();
  await s.cap.mkdir('d/.git', { recursive: true });
  for (const f of ['.env', '.env.local', 'd/.env', 'd/.git/config', 'd/ok', 'key.pem']) await s.cap.write(f, 'secret');
  fs.symlinkSync('.env', s.at('alias'));
  fs.symlinkSync('d/.git', s.at('repo'));
  const cap = await s.cap.except(['.env*', '.git', '*.p?m']);
  expect(await cap.list()).toEqual(['alias', 'd', 'repo']);
  expect((await cap.entries('d')).map(({ name }) => name)).toEqual(['ok']);
  const sub = await cap.subdir('d');
  const asked: Record<string, Promise<unknown>> = {
    read: cap.read('.env'),
    missing: cap.read('.env.none'),
    link: cap.read('alias'),
    throughLink: cap.read('repo/config'),
    parent: cap.read('d/.git/config'),
    list: cap.list('d/.git'),
    sub: sub.readText('.env'),
    stat: sub.stat('.git'),
    subdir: sub.subdir('.git'),
    write: cap.write('.env', 'mine'),
    create: cap.write('new.pem', 'mine'),
    stream: cap.openRead('key.pem'),
    rename: cap.rename('.env', 'seen'),
    renameTo: cap.rename('d/ok', '.envy'),
    copy: cap.copy('.env', 'seen'),
    mkdir: cap.mkdir('a/.git/b', { recursive: true }),
    remove: cap.remove('.env'),
    removeAll: cap.remove('d', { recursive: true }),
    edit: cap.edit('alias', [{ oldText: 'secret', newText: '' }]),
  };
  // All are asked at once: none may count as unheard while another is waited for.
  for (const answer of Object.values(asked)) answer.catch(() => {});
  for (const [what, answer] of Object.entries(asked)) {
    expect([what, await code(answer)]).toEqual([what, what === 'edit' ? 'NOT_A_FILE' : 'NOT_PERMITTED']);
  }
  expect(fs.readFileSync(s.at('d/.git/config'), 'utf8')).toBe('secret');
});

test('a pattern is one name; a hostile one takes no time', async () => {
  await using s = await scratch();
  for (const bad of ['', '.', '..', 'a/b', '/', 'a\0', 'x'.repeat(256)]) {
    expect(await code(s.cap.except([bad]))).toBe('invalid');
  }
  await s.cap.write('a'.repeat(250), '');
  const cap = await s.cap.except([`${'*a'.repeat(100)}b`, '?', 'x*y']);
  // One that tries every way would not end.
  expect((await cap.list()).length).toBe(1);
  expect(await code(cap.write('z', ''))).toBe('NOT_PERMITTED');
  expect(await code(cap.write('zz', ''))).toBe('ok');
  expect(await code(cap.write('xy', ''))).toBe('NOT_PERMITTED');
});

test('patterns that would be compared for long are refused together, and what is left is compared where nobody waits', async () => {
  // A busy machine gets its time.
  await using s = await scratch({ maxSearchMs: 60_000 });
  const run = `*${'a'.repeat(100)}b*`;
  expect(await code(s.cap.except([run, run, run]))).toBe('FS_LIMIT');
  const two = await s.cap.except([run, run]);
  expect(await code(two.except([run]))).toBe('FS_LIMIT');
  // Patterns as people write them weigh little.
  await s.cap.except(Array.from({ length: 128 }, (_, i) => `*.secret-of-${i}`));
  await s.cap.except(Array.from({ length: 20 }, () => '*credentials*'));
  for (let i = 0; i < 90; i++) await s.cap.write(`aaa${i}`, '');
  await s.cap.write(`x${'a'.repeat(100)}bx`, '');
  expect([(await two.list()).length, (await two.glob('*')).length, (await two.entries()).length]).toEqual([90, 90, 90]);
});

test('a quota is one meter, whoever of its holders spends it', async () => {
  await using s = await scratch();
  await s.cap.mkdir('d');
  const cap = await s.cap.withQuota({ bytes: 10, files: 2 });
  const sub = await cap.subdir('d');
  await cap.write('a', '1234');
  await sub.write('b', '1234');
  expect(await code(sub.write('c', ''))).toBe('FS_LIMIT');
  expect(await code(cap.mkdir('m'))).toBe('FS_LIMIT');
  expect(await code(cap.copy('a', 'c'))).toBe('FS_LIMIT');
  expect(await code(cap.write('a', '123'))).toBe('FS_LIMIT');
  expect(await code(cap.append('a', '123'))).toBe('FS_LIMIT');
  await cap.append('a', '12');
  const sink = await cap.openWrite('a');
  expect(await code(sink.write(bytes('1')))).toBe('FS_LIMIT');
  await sink.abort();
  expect(fs.readFileSync(s.at('a'), 'utf8')).toBe('123412');
  // The one who set it is not bound by it.
  await s.cap.write('c', 'as much as one likes');
  for (const bad of [{ bytes: -1 }, { files: 0.5 }, { bytes: Number.NaN }]) {
    expect(await code(s.cap.withQuota(bad))).toBe('invalid');
  }
});

test('an append that a quota refuses leaves no empty file', async () => {
  await using s = await scratch();
  const cap = await s.cap.withQuota({ bytes: 3, files: 2 });
  expect(await code(cap.append('log', 'four'))).toBe('FS_LIMIT');
  expect(await s.cap.list()).toEqual([]);
  await cap.append('log', 'xx');
  expect(await code(cap.append('log', 'xx'))).toBe('FS_LIMIT');
  await cap.append('log', 'x');
  expect(await s.cap.readText('log')).toBe('xxx');
  await cap.append('empty', '');
  expect(await code(cap.append('more', ''))).toBe('FS_LIMIT');
});

test('naming an excepted name has one error, whatever the way to it leads to, and nothing is made on the way', async () => {
  await using s = await scratch();
  await s.cap.write('file', '');
  fs.symlinkSync('/etc', s.at('out'));
  fs.symlinkSync('out', s.at('again'));
  const cap = await s.cap.except(['.env']);
  for (const way of ['none', 'file', 'out', 'again', '.env', 'none/.env']) {
    for (const path of [`${way}/.env`, `${way}/.env/x`]) {
      const asked = {
        read: cap.read(path),
        text: cap.readText(path),
        list: cap.list(path),
        entries: cap.entries(path),
        stat: cap.stat(path),
        subdir: cap.subdir(path),
        search: cap.search('x', { path }),
        openRead: cap.openRead(path),
        mkdir: cap.mkdir(path),
        parents: cap.mkdir(path, { recursive: true }),
        write: cap.write(path, ''),
        append: cap.append(path, ''),
        edit: cap.edit(path, []),
        remove: cap.remove(path),
        rename: cap.rename('file', path),
        copy: cap.copy('file', path),
        copyOut: cap.copy(path, 'there'),
      };
      const codes = await Promise.all(Object.values(asked).map(code));
      expect([path, ...codes]).toEqual([path, ...codes.map(() => 'NOT_PERMITTED')]);
    }
  }
  expect(await s.cap.list()).toEqual(['again', 'file', 'out']);
});

test('quotas inside quotas have an end', async () => {
  await using s = await scratch();
  let cap = s.cap;
  for (let i = 0; i < 64; i++) cap = await cap.withQuota({});
  expect(await code(cap.withQuota({}))).toBe('FS_LIMIT');
  expect(await code(cap.write('f', 'x'))).toBe('ok');
});

test('64 writers on a quota of 100 bytes write 100, not 101', async () => {
  await using s = await scratch();
  const cap = await s.cap.withQuota({ bytes: 100 });
  const codes = await Promise.all(Array.from({ length: 64 }, (_, i) => code(cap.append(`f${i % 4}`, '1234'))));
  expect(codes.filter((c) => c === 'ok').length).toBe(25);
  expect(codes.filter((c) => c === 'FS_LIMIT').length).toBe(39);
});

test('a quota inside a quota spends both, and the narrower one decides', async () => {
  await using s = await scratch();
  const outer = await s.cap.withQuota({ bytes: 10 });
  const inner = await outer.withQuota({ bytes: 6 });
  expect(await code(inner.write('a', '12345678'))).toBe('FS_LIMIT');
  await inner.write('a', '123456');
  expect(await code(outer.write('b', '12345'))).toBe('FS_LIMIT');
  await outer.write('b', '1234');
});
