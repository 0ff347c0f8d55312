/** The end of a file, and many files in one call. */
import fs from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { code, scratch } from '../../test/scratch.ts';

test('tail returns the last lines, as a person counts them, of a text of any size', async () => {
  await using s = await scratch({ maxReadBytes: 200_000 });
  const lines = fc.array(fc.string({ unit: fc.constantFrom('a', 'ü', '\r', ' ', '\u{1f600}'), maxLength: 6 }), {
    maxLength: 8,
  });
  await fc.assert(
    fc.asyncProperty(lines, fc.boolean(), fc.nat(10), async (some, ended, tail) => {
      const text = some.join('\n') + (ended && some.length > 0 ? '\n' : '');
      fs.writeFileSync(s.at('f'), text);
      const all = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
      expect(await s.cap.readText('f', { tail })).toBe(tail === 0 ? '' : all.slice(-tail).join(''));
    }),
    { numRuns: 60 },
  );
  const long = Array.from({ length: 100_000 }, (_, i) => `line ${i} é`);
  fs.writeFileSync(s.at('log'), `${long.join('\n')}\n`);
  expect(await s.cap.readText('log', { tail: 3 })).toBe(`${long.slice(-3).join('\n')}\n`);
  expect(await s.cap.readText('log', { tail: 9_000 })).toBe(`${long.slice(-9_000).join('\n')}\n`);
  expect(await code(s.cap.readText('log', { tail: 90_000 }))).toBe('FS_LIMIT');
  expect(await code(s.cap.readText('log', { tail: 1, line: 1 }))).toBe('invalid');
});

test('readMany reads each file or says why not, and no more than one read may', async () => {
  await using s = await scratch({ maxReadBytes: 10 });
  fs.writeFileSync(s.at('a'), 'aaaa');
  fs.writeFileSync(s.at('b'), 'bbbb');
  fs.writeFileSync(s.at('binary'), Buffer.from([0xff]));
  fs.mkdirSync(s.at('d'));
  const read = await s.cap.readMany(['a', '../x', 'none', 'd', 'binary', 'b', 'a']);
  expect(read.map((one) => ('text' in one ? one.text : one.code))).toEqual([
    ...['aaaa', 'PATH_ESCAPES', 'NOT_FOUND', 'IS_A_DIRECTORY', 'UNSUPPORTED', 'bbbb', 'FS_LIMIT'],
  ]);
  expect(read[0]).toEqual({ path: 'a', text: 'aaaa', version: (await s.cap.stat('a')).version });
  expect(await code(s.cap.readMany(Array.from({ length: 1_001 }, () => 'a')))).toBe('FS_LIMIT');
  expect(await code(s.cap.readMany([1 as never]))).toBe('PATH_INVALID');
  // Bytes count, and not characters.
  fs.writeFileSync(s.at('accents'), 'éé');
  const accents = await s.cap.readMany(['accents', 'accents', 'accents']);
  expect(accents.map((one) => ('text' in one ? one.text : one.code))).toEqual(['éé', 'éé', 'FS_LIMIT']);
  const part = await (await s.cap.except(['a'])).readMany(['a', 'b']);
  expect(part.map((one) => ('text' in one ? one.text : one.code))).toEqual(['NOT_PERMITTED', 'bbbb']);
});
