import { expect, test } from 'vitest';
import { bytes, code, scratch } from '../../test/scratch.ts';
import { chooseBackend } from '../drivers/backend.ts';
import { openWith } from '../open.ts';

const MiB = 1024 * 1024;

test('below the floor of free space every write is refused, and the disk is asked before the byte is written', async () => {
  await using s = await scratch();
  let free = 0;
  let total = 100 * 1024 * MiB;
  const cap = openWith({ ...chooseBackend(), freeSpaceOf: () => ({ free, total }) }, s.at('.'));
  await s.cap.write('f', 'old');
  const codes = async () => [
    await code(cap.write('f', 'new')),
    await code(cap.write('g', 'new')),
    await code(cap.append('f', 'new')),
    // Not an empty file either: a million of them fill a disk, too.
    await code(cap.append('j', 'new')),
    await code(cap.edit('f', [{ oldText: 'old', newText: 'new' }])),
    await code(cap.mkdir('d')),
    await code(cap.mkdir('e/e', { recursive: true })),
    await code(cap.copy('f', 'h')),
    await code(cap.openWrite('i')),
  ];
  for (free of [0, 64 * MiB - 1]) expect(new Set(await codes())).toEqual(new Set(['NO_SPACE']));
  // Operations that make room still work, and so does reading.
  expect(await cap.readText('f')).toBe('old');
  await cap.rename('f', 'g');
  await cap.remove('g');
  expect(await s.cap.list()).toEqual([]);
  // One write may not pass the floor at one go either; a stream meets it on its way.
  free = 65 * MiB;
  expect(await code(cap.write('f', new Uint8Array(MiB + 1)))).toBe('NO_SPACE');
  expect(await code(cap.write('f', new Uint8Array(MiB)))).toBe('ok');
  const sink = await cap.openWrite('s');
  await sink.write(bytes('x'));
  free = 64 * MiB;
  expect(await code(sink.write(bytes('x')))).toBe('NO_SPACE');
  await sink.abort();
  // A small disk keeps a twentieth; one that does not say keeps nothing.
  total = 20 * MiB;
  free = MiB;
  expect(await code(cap.write('f', 'x'))).toBe('NO_SPACE');
  free = 2 * MiB;
  expect(await code(cap.write('f', 'x'))).toBe('ok');
  [free, total] = [0, 0];
  expect(await code(cap.write('f', 'x'))).toBe('ok');
  await cap.close();
});
