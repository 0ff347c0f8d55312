import { fork } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { bytes, code, scratch, temporaries, text } from '../../test/scratch.ts';
import { backendInfo } from '../index.ts';

test('kill -9 in the middle of a write leaves the old file or the new one, and nothing that is listed', async () => {
  await using s = await scratch();
  fs.writeFileSync(s.at('f'), 'z'.repeat(1024 * 1024));
  for (let kill = 0; kill < 5; kill++) {
    const child = fork(new URL('../../test/writer-child.ts', import.meta.url), [s.at('.')], { execArgv: [] });
    const exit = once(child, 'exit');
    await once(child, 'message');
    const end = performance.now() + 60 + 7 * kill;
    while (performance.now() < end) whole(await s.cap.readText('f'));
    child.kill('SIGKILL');
    await exit;
    whole(await s.cap.readText('f'));
    expect(await s.cap.list()).toEqual(['f']);
  }
  // A leftover of a kill goes with its directory.
  await s.cap.mkdir('d');
  fs.writeFileSync(s.at('d/.~caps-0123456789abcdef'), 'left');
  expect(await s.cap.list('d')).toEqual([]);
  await s.cap.remove('d', { recursive: true });
});

function whole(content: string): void {
  expect(content.length).toBe(1024 * 1024);
  expect(content).toBe(content.charAt(0).repeat(1024 * 1024));
}

test('of 32 writers at once exactly one is last, whole; of 32 that create the file exactly one is first', async () => {
  await using s = await scratch();
  await Promise.all(Array.from({ length: 32 }, (_, i) => s.cap.write('any', `${i};`.repeat(20_000))));
  const [first = ''] = (await s.cap.readText('any')).split(';');
  expect(await s.cap.readText('any')).toBe(`${first};`.repeat(20_000));
  const codes = await Promise.all(Array.from({ length: 32 }, () => code(s.cap.write('new', 'x', { create: 'new' }))));
  expect(codes.filter((c) => c === 'ok').length).toBe(1);
  expect(codes.filter((c) => c === 'EXISTS').length).toBe(31);
  expect(temporaries(s.at('.'))).toEqual([]);
});

test('`create` and `version` are honoured; a refused write leaves the file as it was and no temporary file', async () => {
  await using s = await scratch();
  expect(await code(s.cap.write('f', 'x', { create: 'never' }))).toBe('NOT_FOUND');
  const { version } = await s.cap.write('f', '1', { create: 'new', durable: true });
  expect((await s.cap.stat('f')).version).toBe(version);
  expect(await code(s.cap.write('f', 'x', { create: 'new' }))).toBe('EXISTS');
  const next = await s.cap.write('f', '2', { version });
  expect(await code(s.cap.write('f', 'x', { version }))).toBe('STALE');
  fs.appendFileSync(s.at('f'), 'by another');
  expect(await code(s.cap.write('f', 'x', next))).toBe('STALE');
  fs.rmSync(s.at('f'));
  expect(await code(s.cap.write('f', 'x', next))).toBe('STALE');
  expect(await code(s.cap.write('none/f', 'x'))).toBe('NOT_FOUND');
  expect(await code(s.cap.write('d/', 'x'))).toBe('IS_A_DIRECTORY');
  expect(await code(s.cap.write('.', 'x'))).toBe('IS_A_DIRECTORY');
  expect(await s.cap.list()).toEqual([]);
  expect(temporaries(s.at('.'))).toEqual([]);
});

test('a change while the content is on its way is noticed before the name moves', async () => {
  await using s = await scratch();
  const { version } = await s.cap.write('f', 'old');
  const written = s.cap.write('f', new Uint8Array(8 * 1024 * 1024), { version });
  fs.writeFileSync(s.at('f'), 'theirs');
  expect(await code(written)).toBe('STALE');
  expect(await s.cap.readText('f')).toBe('theirs');
  expect(temporaries(s.at('.'))).toEqual([]);
});

test('the mode of what is replaced stays, set-id bits never do, and a new file has the usual one', async () => {
  await using s = await scratch();
  await s.cap.write('f', '1');
  expect(fs.statSync(s.at('f')).mode & 0o7777).toBe(0o666 & ~process.umask());
  for (const mode of [0o600, 0o755, 0o4755, 0o644]) {
    fs.chmodSync(s.at('f'), mode);
    await s.cap.write('f', 'x');
    expect(fs.statSync(s.at('f')).mode & 0o7777).toBe(mode & 0o777);
  }
});

test('a name of 255 bytes can be written, replaced, copied and removed', async () => {
  await using s = await scratch();
  const long = 'n'.repeat(255);
  await s.cap.write(long, '1');
  await s.cap.write(long, '2');
  await s.cap.copy(long, 'm'.repeat(255));
  expect(await s.cap.list()).toEqual(['m'.repeat(255), long]);
  await s.cap.remove(long);
});

test('a writer that is not closed shows nothing and leaves nothing', async () => {
  await using s = await scratch();
  const sink = await s.cap.openWrite('f');
  await sink.write(bytes('half'));
  expect(await s.cap.list()).toEqual([]);
  // Where files without a name can be had there is not even a temporary.
  expect(temporaries(s.at('.')).length).toBe(backendInfo().backend === 'native' ? 0 : 1);
  await sink.abort();
  await sleep(0);
  expect(temporaries(s.at('.'))).toEqual([]);
  expect(text(await s.cap.read('f').catch(() => undefined))).toBe('');
});
