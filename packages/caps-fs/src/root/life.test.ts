import fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { code, openDescriptors, scratch } from '../../test/scratch.ts';
import { nodeKernel } from '../drivers/node-fs.ts';
import type { FsCap } from '../index.ts';
import { backendInfo, openFsCap } from '../index.ts';
import { openWith } from '../open.ts';

test('close while reads are in flight: each read its own file or was refused, none another’s', async () => {
  await using s = await scratch();
  for (const d of ['a', 'b']) {
    fs.mkdirSync(s.at(d));
    fs.writeFileSync(s.at(`${d}/f`), d.repeat(100_000));
  }
  for (let round = 0; round < 60; round++) {
    const a = await s.cap.subdir('a');
    const reads = Array.from({ length: 12 }, () => a.readText('f').catch((e: { code: string }) => e.code));
    const closed = a.close();
    // The number that close() frees would be taken by this one.
    const b = await s.cap.subdir('b');
    // The queued reads had not begun.
    for (const got of await Promise.all(reads)) expect(['a'.repeat(100_000), 'CLOSED']).toContain(got);
    await closed;
    expect(await code(a.readText('f'))).toBe('CLOSED');
    expect(await code(a.close())).toBe('ok');
    await b.close();
  }
});

test('a holder that makes one call after another lets timers run, although each returns at once', async () => {
  await using s = await scratch();
  fs.writeFileSync(s.at('f'), 'x');
  for (const ask of [
    () => s.cap.stat('f'),
    () => s.cap.read('f'),
    () => s.cap.search('y'),
  ] as (() => Promise<unknown>)[]) {
    let over = false;
    setTimeout(() => (over = true), 1);
    let asked = 0;
    // Without it this many are asked, and the timer is still waiting.
    for (; !over && asked < 20_000; asked++) await ask();
    expect(over).toBe(true);
  }
});

test('every operation on a closed cap says CLOSED', async () => {
  await using s = await scratch();
  await s.cap.write('f', 'x');
  const cap = await s.cap.subdir('.');
  await cap.close();
  const asked = [
    cap.read('f'),
    cap.readText('f'),
    cap.write('f', ''),
    cap.append('f', ''),
    cap.edit('f', []),
    cap.list(),
    cap.entries(),
    cap.stat('f'),
    cap.mkdir('d'),
    cap.remove('f'),
    cap.rename('f', 'g'),
    cap.copy('f', 'g'),
    cap.glob('*'),
    cap.search('x'),
    cap.openRead('f'),
    cap.openWrite('f'),
    cap.subdir('.'),
    cap.readOnly(),
    cap.only([]),
    cap.except([]),
    cap.withQuota({}),
    cap.read('../x'),
  ];
  for (const refused of asked) expect(await code(refused)).toBe('CLOSED');
});

test('closing goes down, never up', async () => {
  await using s = await scratch();
  await s.cap.mkdir('d');
  const sub = await s.cap.subdir('d');
  const facet = await sub.readOnly();
  await facet.close();
  expect(await code(facet.list())).toBe('CLOSED');
  expect(await code(sub.list())).toBe('ok');
  const other = await sub.readOnly();
  const deeper = await other.subdir('.');
  await sub.close();
  expect([await code(other.list()), await code(deeper.list())]).toEqual(['CLOSED', 'CLOSED']);
  expect(await code(s.cap.list())).toBe('ok');
});

test('closing goes down however deep a holder has made it, and no stack runs out', async () => {
  await using s = await scratch();
  await s.cap.write('f', 'x');
  const top = await s.cap.subdir('.');
  const chain = [top, await top.readOnly()];
  const source = await chain[1]!.openRead('f');
  for (let i = 0; i < 12_000; i++) chain.push(await chain.at(-1)!.readOnly());
  const deepest = chain.at(-1)!;
  const below = await deepest.openRead('f');
  // The whole close waits for everything below, so one that misses something would be waited for without end.
  void top.close();
  try {
    expect(await Promise.all([deepest.read('f'), source.next(), below.next(), top.read('f')].map(code))).toEqual(
      Array.from({ length: 4 }, () => 'CLOSED'),
    );
  } finally {
    await below.return();
    for (const cap of chain.toReversed()) await cap.close();
  }
  expect(await code(s.cap.read('f'))).toBe('ok');
});

test('an operation that is queued when the cap closes does nothing and makes nothing', async () => {
  await using s = await scratch({ maxConcurrent: 1 });
  await s.cap.write('f', 'x'.repeat(1_000_000));
  const before = openDescriptors();
  const cap = await s.cap.subdir('.');
  const running = cap.readText('f');
  const more = [
    cap.subdir('.'),
    cap.readOnly(),
    cap.openRead('f'),
    cap.openWrite('g'),
    cap.write('h', ''),
    cap.read('f'),
  ];
  const asked = [running, ...more];
  const closed = cap.close();
  expect(await Promise.all(asked.map(code))).toEqual(['ok', ...more.map(() => 'CLOSED')]);
  await closed;
  expect(fs.existsSync(s.at('h'))).toBe(false);
  expect(openDescriptors()).toBe(before);
});

test('writes that wait for their turn hold 64 MiB of the process, not more', async () => {
  await using s = await scratch({ maxConcurrent: 1 });
  const data = new Uint8Array(16 * 1024 * 1024);
  const first = code(s.cap.write('f', 'x'.repeat(100_000)));
  const asked = Array.from({ length: 6 }, () => code(s.cap.write('g', data)));
  const small = code(s.cap.append('h', 'x'));
  expect((await Promise.all(asked)).sort()).toEqual(['FS_LIMIT', 'FS_LIMIT', 'ok', 'ok', 'ok', 'ok']);
  expect([await first, await small]).toEqual(['ok', 'FS_LIMIT']);
  // Given back when their turn has come.
  expect(await Promise.all(Array.from({ length: 4 }, () => code(s.cap.write('g', data))))).toEqual([
    'ok',
    'ok',
    'ok',
    'ok',
  ]);
});

test('edits that wait for their turn count as writes do', async () => {
  await using s = await scratch({ maxConcurrent: 1 });
  await s.cap.write('f', 'x');
  const newText = 'y'.repeat(1024 * 1024);
  const asked = Array.from({ length: 80 }, () => code(s.cap.edit('f', [{ oldText: 'none', newText }])));
  const codes = await Promise.all(asked);
  // One runs, and 63 wait: with 64 the passages that they look for would be too much.
  expect(codes.filter((one) => one === 'NO_MATCH').length).toBe(64);
  expect(codes.filter((one) => one === 'FS_LIMIT').length).toBe(16);
});

test('what waits is counted in bytes, and not in characters', async () => {
  await using s = await scratch({ maxConcurrent: 1 });
  await s.cap.write('f', 'x');
  // Three bytes each: 1 MiB. One runs, and 63 wait.
  const newText = '€'.repeat(349_525);
  const edits = Array.from({ length: 80 }, () => code(s.cap.edit('f', [{ oldText: 'none', newText }])));
  expect((await Promise.all(edits)).filter((one) => one === 'FS_LIMIT').length).toBe(16);
  const paths = Array.from({ length: 1_000 }, () => '€'.repeat(1_000));
  const reads = Array.from({ length: 40 }, () => code(s.cap.readMany(paths)));
  // One runs, and 22 wait, with 3 MB each.
  expect((await Promise.all(reads)).filter((one) => one === 'FS_LIMIT').length).toBe(17);
});

test('attenuations that wait for their turn count with their patterns', async () => {
  await using s = await scratch({ maxConcurrent: 1 });
  await s.cap.write('f', 'x'.repeat(1_000_000));
  const running = s.cap.readText('f');
  const patterns = Array.from({ length: 256 }, (_, i) => `${i}`.padEnd(255, 'x'));
  const asked = Array.from({ length: 1_100 }, () => s.cap.except(patterns));
  const codes = await Promise.all(asked.map(code));
  await running;
  expect(codes.filter((one) => one === 'FS_LIMIT').length).toBe(1_100 - Math.floor((64 * 1024 * 1024) / (256 * 255)));
});

test('no operation, refused or not, keeps a descriptor', async () => {
  const before = openDescriptors();
  {
    await using s = await scratch();
    fs.mkdirSync(s.at('d/e'), { recursive: true });
    fs.symlinkSync('../d/e', s.at('d/l'));
    fs.symlinkSync('/etc', s.at('out'));
    const held = openDescriptors();
    for (let i = 0; i < 20; i++) {
      for (const path of ['d/e/f', 'd/l/f', 'out/f', 'none/f', 'd/e', '.']) {
        const { cap } = s;
        await Promise.allSettled([
          cap.write(path, 'x'),
          cap.read(path),
          cap.append(path, 'y'),
          cap.stat(path),
          cap.list(path),
          cap.entries(path),
          cap.copy(path, `d/copy${i}`),
          cap.rename(path, 'd/f'),
          cap.rename('d/f', path),
          cap.mkdir(path),
          cap.remove(path),
          cap.edit(path, [{ oldText: 'x', newText: 'z' }]),
          cap.mkdir(path, { recursive: true }),
          cap.subdir(path).then((sub) => sub.close()),
          cap.openRead(path).then((r) => r.return()),
          cap.openWrite(path).then((w) => w.abort()),
          cap.remove(path, { recursive: true }),
        ]);
      }
    }
    expect(openDescriptors()).toBe(held);
    const left = await Promise.all([s.cap.subdir('d'), s.cap.readOnly(), s.cap.openWrite('w')]);
    expect(left.length).toBe(3);
  }
  expect(openDescriptors()).toBe(before);
});

test('256 open subdirectories and not one more; closing one makes room', async () => {
  await using s = await scratch();
  await s.cap.mkdir('d');
  const open: FsCap[] = [];
  for (let i = 0; i < 256; i++) open.push(await s.cap.subdir('d'));
  expect(await code(s.cap.subdir('d'))).toBe('FS_LIMIT');
  expect(await code(open[0]!.subdir('.'))).toBe('FS_LIMIT');
  await open[0]!.close();
  open[0] = await s.cap.subdir('d');
  expect(await code(s.cap.subdir('d'))).toBe('FS_LIMIT');
});

test('1,024 open subdirectories in the process, over all roots', async () => {
  const scratches = await Promise.all(Array.from({ length: 5 }, () => scratch()));
  // Held: what nobody holds any more gives its descriptor back.
  const held: FsCap[] = [];
  for (const { cap } of scratches.slice(0, 4)) for (let i = 0; i < 256; i++) held.push(await cap.subdir('.'));
  expect(await code(scratches[4]!.cap.subdir('.'))).toBe('FS_LIMIT');
  expect(held).toHaveLength(1024);
  for (const s of scratches) await s[Symbol.asyncDispose]();
});

test('a cap that nobody holds any more gives its descriptor back, and what was made from it lives on', async () => {
  const { gc } = globalThis as { gc?: () => void };
  await using s = await scratch();
  await s.cap.write('f', 'x');
  const before = openDescriptors();
  let below: FsCap | undefined = await (await s.cap.subdir('.')).subdir('.');
  for (let i = 0; i < 20; i++) await s.cap.subdir('.');
  for (let i = 0; i < 50 && gc && openDescriptors() > before + 1; i++) {
    await sleep(5);
    gc();
  }
  // Fewer where something of a test before this one was collected only now.
  if (gc) expect(openDescriptors()).toBeLessThanOrEqual(before + 1);
  expect(await below.readText('f')).toBe('x');
  await below.close();
  below = undefined;
});

test('nothing of a closed cap stays in memory', async (context) => {
  const { gc } = globalThis as { gc?: () => void };
  if (!gc) return context.skip('needs --expose-gc');
  await using s = await scratch();
  const closed = async (): Promise<WeakRef<FsCap>> => {
    const cap = await s.cap.readOnly();
    await cap.close();
    return new WeakRef(cap);
  };
  const caps = await Promise.all(Array.from({ length: 20 }, closed));
  const left = (): number => caps.filter((cap) => cap.deref()).length;
  for (let i = 0; i < 100 && left() > 1; i++) {
    await sleep(5);
    gc();
  }
  expect(left()).toBeLessThanOrEqual(1);
});

test('where the walk cannot be had there is no capability', async () => {
  await using s = await scratch();
  expect(() => openWith({ ...nodeKernel(), supported: false }, s.at('.'))).toThrow(/^not supported here/);
  // A /proc that leads elsewhere is found out with the first descriptor, which is closed again.
  const before = openDescriptors();
  const odd = { ...nodeKernel(), lstat: () => undefined };
  expect(() => openWith(odd, s.at('.'))).toThrow(/^not supported here/);
  expect(openDescriptors()).toBe(before);
  expect(await code(openFsCap(s.at('.'), { backend: 'realpath' as 'proc' }))).toBe('invalid');
  expect(await code(openFsCap(s.at('none')))).toBe('NOT_FOUND');
  await s.cap.write('f', '');
  expect(await code(openFsCap(s.at('f')))).toBe('NOT_A_DIRECTORY');
  for (const limits of [{ maxReadByte: 1 }, { maxReadBytes: 0 }, JSON.parse('{"__proto__": 1}')]) {
    expect(await code(openFsCap(s.at('.'), { limits }))).toBe('invalid');
  }
});

test('which backend there is, the host can ask; a name that is none is refused, from the environment too', async () => {
  await using s = await scratch();
  expect(['proc', 'native']).toContain(backendInfo().backend);
  expect('backendInfo' in s.cap).toBe(false);
  const before = process.env['CAPS_FS_BACKEND'];
  try {
    process.env['CAPS_FS_BACKEND'] = 'realpath';
    expect(await code(openFsCap(s.at('.')))).toBe('invalid');
    process.env['CAPS_FS_BACKEND'] = 'proc';
    expect(backendInfo()).toEqual({ backend: 'proc' });
    // The option of the caller wins over the environment.
    expect(await code(openFsCap(s.at('.'), { backend: 'realpath' as 'proc' }))).toBe('invalid');
  } finally {
    if (before === undefined) delete process.env['CAPS_FS_BACKEND'];
    else process.env['CAPS_FS_BACKEND'] = before;
  }
});
