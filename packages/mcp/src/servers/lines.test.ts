/** Lines of a server, cut anywhere, and longer than anybody keeps. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Line, LineReader } from './lines.ts';

const chunks = (bytes: Uint8Array, cuts: readonly number[]): readonly Uint8Array[] => {
  const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return at.slice(1).map((end, n) => bytes.subarray(at[n], end));
};
const read = (reader: LineReader, parts: readonly Uint8Array[]): readonly Line[] =>
  parts.flatMap((part) => [...reader.add(part)]);

test('lines are the same wherever the bytes are cut, and no more is kept of one than it may have', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 60 }).map((line) => line.replaceAll(/[\n[{]/g, ''));
  fc.assert(
    fc.property(fc.array(text, { maxLength: 12 }), fc.array(fc.nat(2000), { maxLength: 20 }), (lines, cuts) => {
      const reader = new LineReader(40);
      const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
      const found: Line[] = [];
      for (const part of chunks(bytes, cuts)) {
        found.push(...reader.add(part));
        expect(reader.kept).toBeLessThanOrEqual(40 + 256);
      }
      const wanted = lines.map((line) => {
        const size = Buffer.byteLength(line);
        return size <= 40 ? { text: line } : { tooLong: size };
      });
      expect(found).toEqual(wanted.map((one) => expect.objectContaining(one)));
    }),
  );
});

test('of a line of 100 MB its ends are kept, with the id that stands there', () => {
  const reader = new LineReader(1024);
  const part = Buffer.alloc(2 ** 20, 'x');
  read(reader, [Buffer.from('{"id":7,"result":"')]);
  for (let n = 0; n < 100; n += 1) {
    expect(read(reader, [part])).toEqual([]);
    expect(reader.kept).toBeLessThanOrEqual(256);
  }
  const [line] = read(reader, [Buffer.from('","id":8}\n{}\n')]);
  expect(line).toMatchObject({ tooLong: 100 * 2 ** 20 + 27 });
  expect((line as { readonly ends: string }).ends).toMatch(/"id":7[\s\S]*"id":8/);
});

test('what is no UTF-8, and what is nested deeper than anybody needs, is bad; brackets in texts are none', () => {
  const one = (text: string | Uint8Array): Line | undefined =>
    read(new LineReader(10_000), [Buffer.from(text), Buffer.from('\n')])[0];
  expect(one(Uint8Array.of(0x22, 0xff, 0x22))).toEqual({ bad: true });
  expect(one(`${'['.repeat(129)}${']'.repeat(129)}`)).toEqual({ bad: true });
  for (const good of [`${'[{'.repeat(64)}`, `"${'[\\"'.repeat(300)}"`, `${'[],'.repeat(1000)}`])
    expect(one(good)).toEqual({ text: good });
});
