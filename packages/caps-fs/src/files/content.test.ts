import fs from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bytes, code, scratch, text } from '../../test/scratch.ts';

test('a range is what it says, and past the end there is nothing', async () => {
  await using s = await scratch();
  await s.cap.write('f', '0123456789');
  expect(text(await s.cap.read('f', { offset: 3, length: 4 }))).toBe('3456');
  expect(text(await s.cap.read('f', { offset: 8, length: 4 }))).toBe('89');
  expect(text(await s.cap.read('f', { offset: 8 }))).toBe('89');
  expect(text(await s.cap.read('f', { offset: 99 }))).toBe('');
  expect(text(await s.cap.read('f', { length: 0 }))).toBe('');
  for (const bad of [{ offset: -1 }, { length: 1.5 }, { offset: Number.NaN }, { length: '3' as unknown as number }]) {
    expect(await code(s.cap.read('f', bad))).toBe('invalid');
  }
});

test('the bytes that were read belong to the reader alone', async () => {
  await using s = await scratch();
  await s.cap.write('f', 'content');
  const [a, b] = await Promise.all([s.cap.read('f'), s.cap.read('f')]);
  a.fill(0);
  expect(text(b)).toBe('content');
  expect(b.buffer.byteLength).toBe(7);
});

test('limits on reading and writing hold before any memory is taken, and say which they are', async () => {
  await using s = await scratch({ maxReadBytes: 10, maxWriteBytes: 20 });
  await s.cap.write('f', 'x'.repeat(20));
  fs.truncateSync(fs.realpathSync(s.at('f')), 2 ** 40);
  await expect(s.cap.read('f')).rejects.toThrow('limit reached: maxReadBytes 10, it has 1099511627776 bytes');
  expect((await s.cap.read('f', { offset: 2 ** 39, length: 10 })).length).toBe(10);
  expect(await code(s.cap.read('f', { length: 11 }))).toBe('FS_LIMIT');
  expect(await code(s.cap.copy('f', 'g'))).toBe('FS_LIMIT');
  expect(await code(s.cap.write('g', 'x'.repeat(21)))).toBe('FS_LIMIT');
  expect(await code(s.cap.write('g', 'é'.repeat(11)))).toBe('FS_LIMIT');
  expect(await code(s.cap.append('g', new Uint8Array(1024 * 1024 + 1)))).toBe('FS_LIMIT');
  expect(await s.cap.list()).toEqual(['f']);
});

test('text is read whole or by lines, as it stands; what is no UTF-8 is not called text', async () => {
  await using s = await scratch();
  await s.cap.write('f', '\ufeffone\r\ntwo\n\nfour');
  expect(await s.cap.readText('f')).toBe('\ufeffone\r\ntwo\n\nfour');
  expect(await s.cap.readText('f', { line: 2, lines: 2 })).toBe('two\n\n');
  expect(await s.cap.readText('f', { line: 4 })).toBe('four');
  expect(await s.cap.readText('f', { line: 5, lines: 9 })).toBe('');
  expect(await s.cap.readText('f', { lines: 0 })).toBe('');
  expect(await code(s.cap.readText('f', { line: 0 }))).toBe('invalid');
  await s.cap.write('b', new Uint8Array([0x61, 0xff]));
  expect(await code(s.cap.readText('b'))).toBe('UNSUPPORTED');
  expect(await code(s.cap.edit('b', [{ oldText: 'a', newText: 'b' }]))).toBe('UNSUPPORTED');
});

test('only text and real bytes are data', async () => {
  await using s = await scratch();
  const pretender = Object.create(Uint8Array.prototype) as Uint8Array;
  for (const bad of [pretender, [1, 2], null, 7, { length: 3 }, '\ud800', new Uint16Array(2), new ArrayBuffer(2)]) {
    expect(await code(s.cap.write('f', bad as string))).toBe('invalid');
    expect(await code(s.cap.append('f', bad as string))).toBe('invalid');
  }
  expect(await s.cap.list()).toEqual([]);
});

test('appenders do not interleave', async () => {
  await using s = await scratch();
  const lines = Array.from({ length: 40 }, (_, i) => `${String(i).padStart(4, '0').repeat(5_000)}\n`);
  await Promise.all(lines.map((line) => s.cap.append('log', line)));
  const got = await s.cap.readText('log');
  expect(got.split('\n').sort().join('\n').trim()).toBe(lines.join('').trim());
});

test('a copy has the content and the mode, and goes over nothing', async () => {
  await using s = await scratch();
  const content = new Uint8Array(600_000).map((_, i) => i % 251);
  await s.cap.write('f', content);
  fs.chmodSync(s.at('f'), 0o750);
  await s.cap.copy('f', 'g');
  expect(fs.readFileSync(s.at('g')).equals(content)).toBe(true);
  expect(fs.statSync(s.at('g')).mode & 0o777).toBe(0o750);
  expect(await code(s.cap.copy('f', 'g'))).toBe('EXISTS');
  expect(await code(s.cap.copy('f', 'f'))).toBe('EXISTS');
  await s.cap.mkdir('d');
  expect(await code(s.cap.copy('d', 'e'))).toBe('IS_A_DIRECTORY');
  expect(await code(s.cap.copy('f', 'd'))).toBe('EXISTS');
});

test('a directory of files behaves as a Map of names and bytes', async () => {
  const name = fc.constantFrom('a', 'b', '__proto__', 'constructor', 'hasOwnProperty', 'ü', '𝒳', ' ', 'a\nb');
  const content = fc.uint8Array({ maxLength: 40 });
  const step = fc.oneof(
    fc.record({ op: fc.constant('write' as const), name, content }),
    fc.record({ op: fc.constant('append' as const), name, content }),
    fc.record({ op: fc.constant('remove' as const), name, content }),
    fc.record({ op: fc.constant('rename' as const), name, content, to: name }),
    fc.record({ op: fc.constant('copy' as const), name, content, to: name }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
      await using s = await scratch();
      const model = new Map<string, Uint8Array>();
      for (const given of steps) {
        const { op, name, content } = given;
        const old = model.get(name);
        if (op === 'write') {
          await s.cap.write(name, content);
          model.set(name, content);
        } else if (op === 'append') {
          await s.cap.append(name, content);
          model.set(name, new Uint8Array([...(old ?? []), ...content]));
        } else if (op === 'remove') {
          expect(await code(s.cap.remove(name))).toBe(old ? 'ok' : 'NOT_FOUND');
          model.delete(name);
        } else {
          const free = !model.has(given.to);
          expect(await code(s.cap[op](name, given.to))).toBe(!old ? 'NOT_FOUND' : free ? 'ok' : 'EXISTS');
          if (old && free) model.set(given.to, old);
          if (old && free && op === 'rename') model.delete(name);
        }
      }
      expect(new Set(await s.cap.list())).toEqual(new Set(model.keys()));
      for (const [name, content] of model) expect(await s.cap.read(name)).toEqual(content);
      expect((await s.cap.entries()).map((e) => [e.name, e.size])).toEqual(
        (await s.cap.list()).map((n) => [n, model.get(n)?.length]),
      );
    }),
    { numRuns: 60 },
  );
});

test('a written file is read back, for any bytes and any name', async () => {
  await using s = await scratch();
  const name = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 30 })
    .filter((n) => !/[/\0]/.test(n) && n !== '.' && n !== '..' && n.isWellFormed());
  await fc.assert(
    fc.asyncProperty(name, fc.uint8Array({ maxLength: 2_000 }), async (name, content) => {
      await s.cap.write(name, content);
      expect(await s.cap.read(name)).toEqual(content);
      expect(await s.cap.list()).toEqual([name]);
      await s.cap.remove(name);
    }),
    { numRuns: 100 },
  );
});

test('bytes given as a Buffer over shared memory are copied as bytes', async () => {
  await using s = await scratch();
  const shared = Buffer.from(new SharedArrayBuffer(4)).fill(65);
  await s.cap.write('f', shared);
  expect(await s.cap.read('f')).toEqual(bytes('AAAA'));
});
