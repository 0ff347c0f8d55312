import fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { bytes, code, openDescriptors, scratch, temporaries, text } from '../../test/scratch.ts';

test('bytes that are written in pieces are read in pieces, and are the same', async () => {
  await using s = await scratch();
  const before = openDescriptors();
  const sink = await s.cap.openWrite('f');
  const pieces = Array.from({ length: 20 }, (_, i) => new Uint8Array(100_000).fill(i));
  // Not awaited one by one: the order is the order of the calls.
  await Promise.all(pieces.map((piece) => sink.write(piece)));
  await Promise.all([sink.close(), sink.close()]);
  const source = await s.cap.openRead('f');
  const got: Uint8Array[] = [];
  for (let chunk = await source.next(70_000); chunk; chunk = await source.next(70_000)) got.push(chunk);
  expect(Buffer.concat(got).equals(Buffer.concat(pieces))).toBe(true);
  expect(got.every((chunk) => chunk.length <= 70_000)).toBe(true);
  expect(await source.next()).toBeUndefined();
  await source.return();
  expect(openDescriptors()).toBe(before);
});

test('one pull at a time; after return() the end; after the cap closed, CLOSED', async () => {
  await using s = await scratch();
  await s.cap.write('f', 'content');
  const source = await s.cap.openRead('f');
  const both = await Promise.all([source.next(3).then(text), code(source.next(3))]);
  expect(both).toEqual(['con', 'BUSY']);
  expect(text(await source.next())).toBe('tent');
  await source.return();
  await source.return();
  expect(await source.next()).toBeUndefined();
  const sub = await s.cap.subdir('.');
  const other = await sub.openRead('f');
  const sink = await sub.openWrite('g');
  await sub.close();
  expect(await code(other.next())).toBe('CLOSED');
  expect(await code(sink.write(bytes('x')))).toBe('CLOSED');
  expect(await code(sink.close())).toBe('CLOSED');
  expect(await s.cap.list()).toEqual(['f']);
  expect(temporaries(s.at('.'))).toEqual([]);
});

test('a stream that is forgotten ends by itself, and a writer’s temporary with it', async () => {
  await using s = await scratch({ maxIdleMs: 30 });
  await s.cap.write('f', 'content');
  const before = openDescriptors();
  const source = await s.cap.openRead('f');
  const sink = await s.cap.openWrite('g');
  await sink.write(bytes('half'));
  await sleep(80);
  expect(openDescriptors()).toBe(before);
  expect(temporaries(s.at('.'))).toEqual([]);
  expect(await code(source.next())).toBe('FS_LIMIT');
  expect(await code(sink.close())).toBe('FS_LIMIT');
});

test('streams, chunks and what is not awaited are limited', async () => {
  await using s = await scratch({ maxStreams: 3, maxStreamBytes: 6_000_000 });
  await s.cap.write('f', 'content');
  const open = await Promise.all([s.cap.openRead('f'), s.cap.openRead('f'), s.cap.openWrite('g')]);
  expect(await code(s.cap.openRead('f'))).toBe('FS_LIMIT');
  expect(await code(s.cap.openWrite('h'))).toBe('FS_LIMIT');
  const sink = open[2];
  expect(await code(sink.write(new Uint8Array(1024 * 1024 + 1)))).toBe('FS_LIMIT');
  const flood = Array.from({ length: 5 }, () => code(sink.write(new Uint8Array(1024 * 1024))));
  expect(await Promise.all(flood)).toEqual(['ok', 'ok', 'ok', 'ok', 'FS_LIMIT']);
  expect(await code(sink.write(new Uint8Array(1024 * 1024)))).toBe('ok');
  expect(await code(sink.write(new Uint8Array(1024 * 1024)))).toBe('FS_LIMIT');
  for (const stream of open) await ('return' in stream ? stream.return() : stream.abort());
  // The places are free again, also after an open that failed.
  for (let i = 0; i < 10; i++) expect(await code(s.cap.openRead('none'))).toBe('NOT_FOUND');
  await (await s.cap.openRead('f')).return();
});

test('a chunk cannot be changed after it was pushed, and what was pulled is the puller’s alone', async () => {
  await using s = await scratch();
  const sink = await s.cap.openWrite('f');
  const chunk = bytes('as pushed');
  const pushed = sink.write(chunk);
  chunk.fill(0);
  await pushed;
  await sink.close();
  const source = await s.cap.openRead('f');
  const first = await source.next(2);
  const second = await source.next(2);
  expect(first?.buffer).not.toBe(second?.buffer);
  await source.return();
  expect(fs.readFileSync(s.at('f'), 'utf8')).toBe('as pushed');
});
