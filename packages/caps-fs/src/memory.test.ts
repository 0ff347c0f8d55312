/**
 * Where there is no disk, what is small is done in the caller's turn: the same as elsewhere, in the same
 * order, seen as whole.
 */
import fs from 'node:fs';
import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { bytes, code, scratch, temporaries, text } from '../test/scratch.ts';
import type { Kernel } from './base/kernel.ts';
import { chooseBackend } from './drivers/backend.ts';
import type { FsCap } from './index.ts';
import { openWith } from './open.ts';

/** A cap that is told what it stands on, wherever the test runs. */
async function on(inMemory: boolean, change: (kernel: Kernel) => Partial<Kernel> = () => ({})) {
  const s = await scratch();
  onTestFinished(() => s[Symbol.asyncDispose]());
  const kernel = chooseBackend();
  const cap = openWith({ ...kernel, inMemory: () => inMemory, ...change(kernel) }, s.at('.'));
  onTestFinished(() => cap.close());
  return { cap, at: s.at };
}

test("small files are moved in the caller's turn only where there is no disk to wait for", async () => {
  for (const inMemory of [false, true]) {
    const now: string[] = [];
    const { cap } = await on(inMemory, (kernel) => ({
      ...(kernel.unnamed && {
        unnamed: {
          ...kernel.unnamed,
          writeNamed: (...given) => {
            now.push('write');
            return kernel.unnamed?.writeNamed(...given);
          },
        },
      }),
      writeNow: (...given) => {
        now.push('write');
        kernel.writeNow(...given);
      },
      readNow: (...given) => {
        now.push('read');
        return kernel.readNow(...given);
      },
    }));
    const large = 'x'.repeat(64 * 1024 + 1);
    await cap.write('large', large);
    expect(text(await cap.read('large', { offset: 0, length: large.length }))).toBe(large);
    await cap.write('durable', 'x', { durable: true });
    expect([inMemory, now]).toEqual([inMemory, []]);
    await cap.write('f', 'small');
    // A part is read through a descriptor in every backend.
    expect(text(await cap.read('f', { offset: 2 }))).toBe('all');
    expect([inMemory, now.splice(0)]).toEqual([inMemory, inMemory ? ['write', 'read'] : []]);
    await cap.copy('large', 'also large');
    expect([inMemory, now]).toEqual([inMemory, []]);
    await cap.copy('f', 'g');
    expect([inMemory, now]).toEqual([inMemory, inMemory ? ['read', 'write'] : []]);
    expect([text(await cap.read('g')), (await cap.stat('also large')).size]).toEqual(['small', large.length]);
  }
});

test('a small write, and a small copy, wait for an append that is under way', async () => {
  const asked = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const { cap, at } = await on(true, (kernel) => ({
    write: async (...given) => {
      asked.resolve();
      await gate.promise;
      return await kernel.write(...given);
    },
  }));
  // Before the cap is closed: a close waits for the append.
  onTestFinished(() => gate.resolve());
  fs.writeFileSync(at('log'), 'old');
  const appended = code(cap.append('log', ' new'));
  await asked.promise;
  const done: string[] = [];
  const copied = cap.copy('log', 'copy').finally(() => done.push('copied'));
  const replaced = cap.write('log', 'other').finally(() => done.push('replaced'));
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
  expect([done, fs.readFileSync(at('log'), 'utf8'), fs.existsSync(at('copy'))]).toEqual([[], 'old', false]);
  gate.resolve();
  expect(await appended).toBe('ok');
  await Promise.all([copied, replaced]);
  expect([fs.readFileSync(at('copy'), 'utf8'), fs.readFileSync(at('log'), 'utf8')]).toEqual(['old new', 'other']);
});

test('a reader sees the old small file or the new one, never none and never a part', async () => {
  const { cap, at } = await on(true);
  await cap.write('f', 'a'.repeat(8_192));
  const shared = new Int32Array(new SharedArrayBuffer(12));
  const reader = new Worker(
    `const { workerData: { file, shared } } = require('node:worker_threads');
     const { readFileSync } = require('node:fs');
     while (Atomics.load(shared, 1) === 0) {
       let got = '';
       try { got = readFileSync(file, 'latin1'); } catch {}
       if (got !== got.charAt(0).repeat(8192)) Atomics.add(shared, 2, 1);
       Atomics.add(shared, 0, 1);
     }`,
    { eval: true, execArgv: [], workerData: { file: at('f'), shared } },
  );
  const over = new Promise((resolve) => reader.once('exit', resolve));
  try {
    for (let i = 0; i < 300 || Atomics.load(shared, 0) < 500; i++) {
      await cap.write('f', (i % 2 === 0 ? 'b' : 'a').repeat(8_192));
    }
  } finally {
    Atomics.store(shared, 1, 1);
    await over;
  }
  expect(Atomics.load(shared, 2)).toBe(0);
  expect(fs.readdirSync(at('.'))).toEqual(['f']);
});

test('create, version, mode, links, quota and a directory that is gone are as with a disk', async () => {
  const seen = await Promise.all(
    [false, true].map(async (inMemory) => {
      const { cap, at } = await on(inMemory);
      return await told(cap, at);
    }),
  );
  expect(seen[1]).toEqual(seen[0]);
  expect(seen[1]?.codes).toEqual({
    never: 'NOT_FOUND',
    new: 'ok',
    again: 'EXISTS',
    version: 'ok',
    stale: 'STALE',
    staleGone: 'STALE',
    link: 'NOT_A_FILE',
    dir: 'IS_A_DIRECTORY',
    slash: 'IS_A_DIRECTORY',
    none: 'NOT_FOUND',
    bytes: 'FS_LIMIT',
    gone: 'NOT_FOUND',
    copy: 'ok',
    copyOver: 'EXISTS',
    copyLink: 'ok',
    copyToLink: 'NOT_A_FILE',
    copyDir: 'IS_A_DIRECTORY',
    copyEmpty: 'ok',
    copyQuota: 'FS_LIMIT',
    copyGone: 'NOT_FOUND',
  });
});

async function told(cap: FsCap, at: (name: string) => string) {
  const codes: Record<string, string> = {};
  codes['never'] = await code(cap.write('f', 'x', { create: 'never' }));
  codes['new'] = await code(cap.write('f', '1', { create: 'new' }));
  const usual = fs.statSync(at('f')).mode & 0o7777;
  codes['again'] = await code(cap.write('f', 'x', { create: 'new' }));
  const { version } = await cap.stat('f');
  fs.chmodSync(at('f'), 0o4751);
  const now = (await cap.stat('f')).version;
  codes['version'] = await code(cap.write('f', '2', { version: now }));
  codes['stale'] = await code(cap.write('f', 'x', { version }));
  codes['staleGone'] = await code(cap.write('g', 'x', { version }));
  fs.symlinkSync('f', at('l'));
  codes['link'] = await code(cap.write('l', 'x'));
  fs.mkdirSync(at('d'));
  codes['dir'] = await code(cap.write('d', 'x'));
  codes['slash'] = await code(cap.write('f/', 'x'));
  codes['none'] = await code(cap.write('none/f', 'x'));
  const little = await cap.withQuota({ bytes: 3, files: 1 });
  await little.write('q', 'abc');
  codes['bytes'] = await code(little.write('q', 'd'));
  const held = await cap.subdir('d');
  codes['copy'] = await code(cap.copy('f', 'd/copy'));
  const copied = fs.statSync(at('d/copy')).mode & 0o7777;
  codes['copyOver'] = await code(cap.copy('q', 'd/copy'));
  codes['copyLink'] = await code(cap.copy('l', 'd/linked'));
  codes['copyToLink'] = await code(cap.copy('q', 'l'));
  codes['copyDir'] = await code(cap.copy('d', 'e'));
  fs.writeFileSync(at('empty'), '');
  codes['copyEmpty'] = await code(cap.copy('empty', 'd/empty'));
  codes['copyQuota'] = await code(little.copy('q', 'd/q'));
  const copies = fs.readdirSync(at('d')).map((name) => [name, fs.readFileSync(at(`d/${name}`), 'utf8')]);
  fs.rmSync(at('d'), { recursive: true });
  codes['gone'] = await code(held.write('f', 'x'));
  codes['copyGone'] = await code(cap.copy('f', 'd/copy'));
  const written = await cap.write('long'.padEnd(255, 'n'), bytes('at last'));
  expect(written.version).toBe((await cap.stat('long'.padEnd(255, 'n'))).version);
  expect(temporaries(at('.'))).toEqual([]);
  return {
    codes,
    usual,
    copied,
    copies: copies.toSorted(),
    mode: fs.statSync(at('f')).mode & 0o7777,
    content: fs.readFileSync(at('f'), 'utf8'),
    names: await cap.list(),
  };
}
