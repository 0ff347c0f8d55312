import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { requires } from '../../../../test/needs.ts';
import { openDescriptors, SECRET, scratch, temporaries } from '../../test/scratch.ts';
import { type Kernel, KernelError, type Shortcuts, type Status, type Unnamed } from '../base/kernel.ts';
import { byCodePoint } from '../base/names.ts';
import { openFsCap } from '../index.ts';
import { chooseBackend } from './backend.ts';
import { nativeKernel } from './native.ts';
import { nodeKernel } from './node-fs.ts';

const built = fileURLToPath(new URL('../../node_modules/.native/fscap.node', import.meta.url));
const errno = (act: () => unknown): string => {
  try {
    act();
    return 'ok';
  } catch (error) {
    return error instanceof KernelError ? error.errno : String(error);
  }
};

/**
 * The kernel with the C part, or `undefined` where that is not built. The tests then skip themselves.
 */
function native(): (Kernel & { shortcuts: Shortcuts; unnamed: Unnamed }) | undefined {
  const kernel = nativeKernel();
  return typeof kernel === 'string' ? undefined : (kernel as ReturnType<typeof native>);
}

/** Both make some of it only when it is asked for. */
const all = (status: Status | undefined): Status | undefined =>
  status && {
    kind: status.kind,
    mode: status.mode,
    links: status.links,
    owner: status.owner,
    size: status.size,
    mtime: status.mtime,
    ctime: status.ctime,
    stamp: status.stamp,
  };

test('the C part returns what Node returns, to the nanosecond, and nothing where there is a link', async (context) => {
  const kernel = native();
  if (!kernel) return context.skip('the C part is not built');
  await using s = await scratch();
  const proc = nodeKernel();
  fs.mkdirSync(s.at('d/e'), { recursive: true });
  fs.writeFileSync(s.at('d/f'), 'four');
  fs.utimesSync(s.at('d/f'), -1.5, -86_400.25);
  fs.symlinkSync('f', s.at('d/l'));
  fs.symlinkSync('d', s.at('m'));
  const root = kernel.openRoot(s.at('.'));
  onTestFinished(() => proc.close(root));
  const dir = proc.openDirectory(root, 'd');
  for (const name of ['f', 'l', 'e']) {
    expect(all(kernel.shortcuts.stat(root, `d/${name}`))).toEqual(all(proc.lstat(dir, name)));
    expect(all(kernel.lstat(dir, name))).toEqual(all(proc.lstat(dir, name)));
    const held = proc.openAny(dir, name);
    expect(all(kernel.fstat(held))).toEqual(all(proc.fstat(held)));
    proc.close(held);
  }
  expect(kernel.lstat(dir, 'none')).toBeUndefined();
  expect(errno(() => kernel.lstat(-1, 'f'))).toBe(errno(() => proc.lstat(-1, 'f')));
  expect(kernel.freeSpaceOf(dir).total).toBe(proc.freeSpaceOf(dir).total);
  expect(kernel.mountOf(dir)).toBe(proc.mountOf(dir));
  proc.close(dir);
  for (const path of ['m/f', 'd/l', 'm/none']) expect(kernel.shortcuts.open(root, path, false)).toBeUndefined();
  expect(kernel.shortcuts.stat(root, 'm/f')).toBeUndefined();
  expect(await kernel.shortcuts.read(root, 'd/l', 99, false)).toBeUndefined();
  expect(errno(() => kernel.shortcuts.open(root, 'none/x', false))).toBe('ENOENT');
  expect(errno(() => kernel.shortcuts.open(root, 'd/f/x', false))).toBe('ENOTDIR');
  // Nothing of ours gives it such paths; were it to happen, the kernel refuses them too.
  for (const path of ['../outside/secret', '/etc']) expect(kernel.shortcuts.open(root, path, false)).toBeUndefined();
  expect(kernel.shortcuts.open(root, 'x'.repeat(5_000), false)).toBeUndefined();
});

test('a directory has the same names and kinds by the C part, and no more of them than were asked for', async (context) => {
  const kernel = native();
  if (!kernel) return context.skip('the C part is not built');
  await using s = await scratch();
  const proc = nodeKernel();
  const fd = kernel.openRoot(s.at('.'));
  onTestFinished(() => proc.close(fd));
  expect(kernel.children(fd, 10)).toEqual([]);
  fs.mkdirSync(s.at('d'));
  fs.symlinkSync('nowhere', s.at('l'));
  for (const name of ['\ufffd', '.hidden', 'a\nb', '\u{1f600}', 'x'.repeat(255)]) fs.writeFileSync(s.at(name), '');
  // The second would be read as the name of another file that is there.
  const raw = (name: string, ...more: number[]): Buffer =>
    Buffer.concat([Buffer.from(`${s.at('.')}/${name}`), Buffer.from(more)]);
  for (const name of ['no', '']) fs.writeFileSync(raw(name, 0xff), '');
  const sorted = <E>(all: E[]): E[] => all.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  const same = async (max: number): Promise<number> => {
    const children = sorted(kernel.children(fd, max));
    expect(children).toEqual(sorted(proc.children(fd, max)));
    expect(await kernel.names(fd, max)).toEqual(await proc.names(fd, max));
    return children.length;
  };
  expect(await same(100)).toBe(7);
  for (let i = 0; i < 5_000; i++) fs.writeFileSync(s.at(`many-${i}-${'y'.repeat(40)}`), '');
  expect(await same(10_000)).toBe(5_007);
  for (const max of [1, 1_000, 4_999]) expect(kernel.children(fd, max).length).toBe(max);
  // Names that are none do not count: a directory would seem to end before its end.
  for (const one of [kernel, proc]) expect((await one.names(fd, 5_007)).length).toBe(5_007);
  for (const one of [kernel, proc]) expect((await one.names(fd, 4_999)).length).toBe(4_999);
  const file = kernel.openAny(fd, '.hidden');
  expect(errno(() => kernel.children(file, 1))).toBe('ENOTDIR');
  proc.close(file);
});

test('names come in the order of their code points, in whatever order they were made', async (context) => {
  const kernel = native();
  if (!kernel) return context.skip('the C part is not built');
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.stringMatching(/^[ab~\ud7ff\uffee\u{10000}-\u{10002}]{1,8}$/u)),
      async (names) => {
        await using s = await scratch();
        const fd = kernel.openRoot(s.at('.'));
        try {
          for (const name of names) fs.writeFileSync(s.at(name), '');
          expect(await kernel.names(fd, 1_000)).toEqual([...names].sort(byCodePoint));
        } finally {
          kernel.close(fd);
        }
      },
    ),
    { numRuns: 40 },
  );
});

test('UTF-8 is told from other text by its bytes', async (context) => {
  const kernel = native();
  if (!kernel) return context.skip('the C part is not built');
  await using s = await scratch();
  const fd = kernel.openRoot(s.at('.'));
  onTestFinished(() => kernel.close(fd));
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const good = new Set<string>();
  const leads = [
    0x41, 0x7f, 0x80, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf4, 0xf5, 0xff,
  ];
  const next = [0x41, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc2];
  const names = leads.flatMap((lead) => [
    [lead],
    ...next.flatMap((a) => [[lead, a], [lead, a, 0x80], ...[0x41, 0x80, 0xbf, 0xc0].map((b) => [lead, a, 0x80, b])]),
  ]);
  for (const name of names) {
    fs.writeFileSync(Buffer.concat([Buffer.from(`${s.at('.')}/`), Buffer.from(name)]), '');
    try {
      good.add(decoder.decode(Uint8Array.from(name)));
    } catch {}
  }
  const listed = await kernel.names(fd, 10_000);
  expect(new Set(listed)).toEqual(good);
  expect(listed).toEqual(await nodeKernel().names(fd, 10_000));
});

test('a read in one trip gives a small file whole, and opens nothing else', async (context) => {
  const kernel = native();
  if (!kernel) return context.skip('the C part is not built');
  await using s = await scratch();
  fs.writeFileSync(s.at('f'), 'content');
  fs.writeFileSync(s.at('empty'), '');
  fs.mkdirSync(s.at('d'));
  const root = kernel.openRoot(s.at('.'));
  onTestFinished(() => kernel.close(root));
  const before = openDescriptors();
  expect(Buffer.from((await kernel.shortcuts.read(root, 'f', 7, false)) ?? []).toString()).toBe('content');
  for (const [path, max] of [
    ['f', 6],
    ['empty', 9],
    ['d', 9],
  ] as const) {
    expect(await kernel.shortcuts.read(root, path, max, false)).toBeUndefined();
    expect(await kernel.shortcuts.readSeen(root, path, max, false)).toBeUndefined();
  }
  expect(errno(() => kernel.shortcuts.read(root, 'none', 9, false))).toBe('ENOENT');
  expect(openDescriptors()).toBe(before);
});

requires('mkfifo')('a FIFO is not opened by a read in one trip, however many ask', async (context) => {
  const kernel = native();
  if (!kernel) return context.skip('the C part is not built');
  await using s = await scratch();
  execFileSync('mkfifo', [s.at('fifo')]);
  const root = kernel.openRoot(s.at('.'));
  onTestFinished(() => kernel.close(root));
  const asked = await Promise.all(Array.from({ length: 8 }, () => kernel.shortcuts.read(root, 'fifo', 9, false)));
  expect(asked).toEqual(Array.from({ length: 8 }, () => undefined));
});

requires('mkfifo')(
  'one call finds the files that do not contain a text, and opens only regular files',
  async (context) => {
    const kernel = native();
    if (!kernel?.filesWithout) return context.skip('the C part is not built');
    await using s = await scratch();
    const files: Record<string, string | Buffer> = {
      a: 'hay\n'.repeat(3_000),
      b: `${'hay\n'.repeat(3_000)}needle`,
      'c\nd': 'needl',
      empty: '',
      binary: 'hay\0',
      'late-nul': `${'x'.repeat(8_192)}\0`,
      large: 'x'.repeat(100_001),
    };
    for (const [name, content] of Object.entries(files)) fs.writeFileSync(s.at(name), content);
    fs.symlinkSync('a', s.at('link'));
    fs.mkdirSync(s.at('dir'));
    execFileSync('mkfifo', [s.at('fifo')]);
    // A writer waits in its open until somebody opens the FIFO for reading.
    const writer = spawn('sh', ['-c', 'echo ready; echo opened > "$0"; echo over', s.at('fifo')]);
    onTestFinished(() => void writer.kill('SIGKILL'));
    let said = '';
    writer.stdout.on('data', (part: Buffer) => {
      said += part.toString();
    });
    while (said === '') await new Promise((resolve) => setTimeout(resolve, 5));
    const root = kernel.openRoot(s.at('.'));
    onTestFinished(() => kernel.close(root));
    const before = openDescriptors();
    const look = (names: readonly string[], bytes = 1 << 23): readonly number[] => [
      ...Array.from(kernel.filesWithout?.(root, names, 100_000, bytes, Buffer.from('needle')) ?? []),
    ];
    const names = [...Object.keys(files), 'link', 'dir', 'fifo', 'none', 'x'.repeat(300)];
    expect(look(names)).toEqual([12_000, -1, 5, 0, -1, 8_193, -1, -1, -1, -1, -1, -1]);
    // It stops before a file that is larger than the bytes left. If that is the first file, the caller must read it.
    expect(look(['a', 'empty', 'a', 'a'], 13_000)).toEqual([12_000, 0]);
    expect(look(['a', 'a', 'a'], 24_000)).toEqual([12_000, 12_000]);
    expect(look(['a', 'a'], 11_999)).toEqual([-1]);
    expect(openDescriptors()).toBe(before);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(said).toBe('ready\n');
    // Another reader opens the FIFO. The writer goes on, so it was waiting until then.
    expect(execFileSync('cat', [s.at('fifo')], { encoding: 'utf8' })).toBe('opened\n');
  },
);

test('a file without a name leaves nothing, and takes no name that is taken', async (context) => {
  const kernel = native();
  if (!kernel) return context.skip('the C part is not built');
  await using s = await scratch();
  fs.writeFileSync(s.at('taken'), 'theirs');
  const root = kernel.openRoot(s.at('.'));
  onTestFinished(() => kernel.close(root));
  const fd = await kernel.unnamed.write(root, 0o666, 0o640, Buffer.from('mine'));
  if (fd === undefined) return context.skip('this file system has no files without a name');
  expect(fs.readdirSync(s.at('.'))).toEqual(['taken']);
  expect(errno(() => kernel.unnamed.name(fd, root, 'taken'))).toBe('EEXIST');
  kernel.unnamed.name(fd, root, 'mine');
  kernel.close(fd);
  expect([fs.readFileSync(s.at('mine'), 'utf8'), fs.statSync(s.at('mine')).mode & 0o7777]).toEqual(['mine', 0o640]);
  expect(errno(() => kernel.renameNew?.(root, 'mine', root, 'taken'))).toBe('EEXIST');
  expect(kernel.renameNew?.(root, 'mine', root, 'moved')).toBe(true);
  expect(fs.readFileSync(s.at('taken'), 'utf8')).toBe('theirs');
  expect(temporaries(s.at('.'))).toEqual([]);
});

test('asked for by name it is there or the error is UNSUPPORTED with the reason; else proc does it', async () => {
  const kernel = nativeKernel();
  await using s = await scratch();
  fs.symlinkSync(s.outside('secret'), s.at('l'));
  if (typeof kernel === 'string') {
    await expect(openFsCap(s.at('.'), { backend: 'native' })).rejects.toThrow(/^not supported here: .*native/);
  } else expect(chooseBackend('native').backend).toBe('native');
  expect(chooseBackend('proc').backend).toBe('proc');
  for (const backend of ['proc', ...(typeof kernel === 'string' ? [] : ['native'])] as const) {
    const cap = await openFsCap(s.at('.'), { backend: backend as 'proc' });
    await expect(cap.read('l')).rejects.toThrow(/^resolved outside root$/);
    await cap.close();
  }
  expect(fs.readFileSync(s.outside('secret'), 'utf8')).toBe(SECRET);
});

requires('cc')('where there is a C compiler it builds, and runs on any Linux since 2014 (glibc 2.17)', (context) => {
  execFileSync(process.execPath, [fileURLToPath(new URL('../../native/build.mjs', import.meta.url))], {
    stdio: 'pipe',
  });
  let symbols: string;
  try {
    symbols = execFileSync('objdump', ['-T', built], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    return context.skip('needs objdump');
  }
  const versions = [...symbols.matchAll(/GLIBC_2\.(\d+)/g)].map((found) => Number(found[1]));
  expect(versions.length).toBeGreaterThan(0);
  expect(Math.max(...versions)).toBeLessThanOrEqual(17);
});

test('the C part also loads in a thread of the same process', async (context) => {
  if (!native()) return context.skip('the C part is not built');
  const worker = new Worker(
    `const { parentPort, workerData } = require('node:worker_threads');
     parentPort.postMessage(typeof require(workerData).openBeneath);`,
    { eval: true, workerData: built, execArgv: [] },
  );
  expect(await new Promise((told) => worker.once('message', told))).toBe('function');
  await worker.terminate();
});

test('a small file that is in memory is read at once, a large one and what is no file are not opened for it', async (context) => {
  const kernel = native();
  if (!kernel) return context.skip('the C part is not built');
  await using s = await scratch();
  const proc = nodeKernel();
  const root = kernel.openRoot(s.at('.'));
  onTestFinished(() => proc.close(root));
  const before = openDescriptors();
  for (const size of [1, 4096, 65_536, 65_537, 300_000]) {
    const content = Buffer.alloc(size, `${size};`);
    fs.writeFileSync(s.at('f'), content);
    for (const inMemory of [true, false]) {
      const got = kernel.shortcuts.read(root, 'f', size, inMemory);
      if (inMemory) expect(got instanceof Promise, `${size} bytes`).toBe(size > 65_536);
      expect(Buffer.from((await got) ?? []).equals(content), `${size} bytes`).toBe(true);
      const seen = await kernel.shortcuts.readSeen(root, 'f', size, inMemory);
      expect(Buffer.from(seen?.bytes ?? []).equals(content), `${size} bytes`).toBe(true);
      expect(all(seen?.status)).toEqual(all(proc.lstat(root, 'f')));
      // Over what was asked for: looked at, not read.
      expect(await kernel.shortcuts.read(root, 'f', size - 1, inMemory)).toBeUndefined();
    }
  }
  fs.mkdirSync(s.at('d'));
  expect(await kernel.shortcuts.read(root, 'd', 9, false)).toBeUndefined();
  expect(openDescriptors()).toBe(before);
});

test('a read that is still under way needs its directory no more, and shows no memory that the file did not fill', async (context) => {
  const kernel = native();
  if (!kernel) return context.skip('the C part is not built');
  await using s = await scratch();
  const root = kernel.openRoot(s.at('.'));
  onTestFinished(() => kernel.close(root));
  fs.mkdirSync(s.at('d'));
  const content = Buffer.alloc(200_000, 'content;');
  const before = openDescriptors();
  for (const wanted of [content.length, 70_000, 9, 0, 0, 0]) {
    fs.writeFileSync(s.at('d/f'), content);
    const dir = kernel.openDirectory(root, 'd');
    const reading = kernel.shortcuts.readSeen(dir, 'f', content.length, false);
    kernel.close(dir);
    // It may have been read by then, or not, or half.
    fs.truncateSync(s.at('d/f'), wanted);
    const { bytes } = (await reading) ?? { bytes: new Uint8Array(0) };
    expect(bytes.length).toBeGreaterThanOrEqual(wanted);
    expect(bytes.buffer.byteLength).toBe(bytes.length);
    // The kernel may still hand out the part that is being cut off, as NUL bytes.
    const odd = bytes.findIndex((byte, i) => byte !== content[i] && (byte !== 0 || i < wanted));
    expect(odd, `cut to ${wanted}, read ${bytes.length}`).toBe(-1);
  }
  expect(openDescriptors()).toBe(before);
});

test('a file that says more than it has is what it has', async (context) => {
  const kernel = native();
  if (!kernel) return context.skip('the C part is not built');
  if (!fs.existsSync('/sys/kernel/uevent_seqnum')) return context.skip('there is no sysfs');
  const root = kernel.openRoot('/sys/kernel');
  onTestFinished(() => kernel.close(root));
  const said = fs.statSync('/sys/kernel/uevent_seqnum').size;
  for (const inMemory of [true, false]) {
    const bytes = (await kernel.shortcuts.read(root, 'uevent_seqnum', said, inMemory)) ?? new Uint8Array(0);
    expect(Buffer.from(bytes).toString()).toMatch(/^\d+\n$/);
    expect(bytes.buffer.byteLength).toBe(bytes.length);
  }
});
