/** Hooks of a manifest as real programs in the sandbox. The program, and whoever changes its file, is the attacker. */
import { createHash } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HookRun } from '@hob/firewall';
import { expect, onTestFinished } from 'vitest';
import { requires } from '../../../../test/needs.ts';
import { hookRunner } from './drivers/hooks.ts';

const test = requires('linux', 'cc', 'userns');
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

function hookOf(text: string, withinMs = 60_000) {
  const folder = mkdtempSync(join(tmpdir(), 'hob-hook-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const program = join(folder, 'check');
  writeFileSync(program, text);
  chmodSync(program, 0o755);
  const hook = { name: 'check', program, sha256: sha256(text), on: 'pre_call', withinMs } as const;
  const run = hookRunner(hook, join(folder, 'copies'));
  return { folder, program, run: (input = '{}', signal = new AbortController().signal): Promise<HookRun> => run(input, signal) }; // biome-ignore format: one line
}

test('a program in any language gets the JSON and answers; it sees no network, no file of this machine and no copy of another hook', async () => {
  const shell = hookOf('#!/bin/sh\nread -r line; pwd >&2; printf \'{"decision":"ask","context":%s}\' "$line"\n');
  expect(await shell.run('"hello"')).toEqual({ ended: 'exit', status: 0, stdout: '{"decision":"ask","context":"hello"}' }); // biome-ignore format: one line
  const nosy = hookOf(`#!/bin/sh\ncat ${shell.program} ${shell.folder}/copies/* 2>/dev/null; ls /proc/net/route >/dev/null; (echo x > /dev/tcp/127.0.0.1/1) 2>/dev/null; id -u >/dev/null; pwd\n`); // biome-ignore format: one line
  expect((await nosy.run()).stdout).toBe('/\n');
});

test('a hook that crashes, loops, floods, ends badly, does not read or is gone is told apart', async () => {
  const rows: readonly (readonly [string, Partial<HookRun>, number?])[] = [
    ['#!/bin/sh\nkill -SEGV $$\n', { ended: 'signal' }],
    ['#!/bin/sh\nwhile :; do :; done\n', { ended: 'timeout' }, 1000],
    ['#!/bin/sh\nsleep 1000 & echo x; exit 0\n', { ended: 'exit', stdout: 'x\n' }],
    ['#!/bin/sh\nhead -c 400000 /dev/zero\n', { ended: 'limit' }],
    ['#!/bin/sh\nexit 3\n', { ended: 'exit', status: 3 }],
    ['#!/bin/sh\nexec 0<&-; echo done\n', { ended: 'exit', stdout: 'done\n' }],
  ];
  for (const [text, ended, withinMs] of rows) expect([text, await hookOf(text, withinMs).run('x'.repeat(900_000))]).toEqual([text, expect.objectContaining(ended)]); // biome-ignore format: one line
  const noProgram = hookOf('#!/no/such/interpreter\n').run();
  expect(await noProgram.then(({ status }) => status !== 0, () => true)).toBe(true); // biome-ignore format: one line
});

test('a changed or missing file never runs, also if the copy of the accepted one was changed', async () => {
  const good = '#!/bin/sh\necho good\n';
  const at = hookOf(good);
  expect((await at.run()).stdout).toBe('good\n');
  writeFileSync(at.program, '#!/bin/sh\necho evil\n');
  expect(await at.run()).toMatchObject({ ended: 'changed', stdout: '' });
  rmSync(at.program);
  expect(await at.run()).toMatchObject({ ended: 'missing', stdout: '' });
  writeFileSync(at.program, good);
  const copy = join(at.folder, 'copies', sha256(good));
  chmodSync(copy, 0o755);
  writeFileSync(copy, '#!/bin/sh\necho evil\n');
  expect((await at.run()).stdout).toBe('good\n');
});

test('a call that has ended ends its hook', async () => {
  const controller = new AbortController();
  const running = hookOf('#!/bin/sh\nsleep 1000\n').run('{}', controller.signal);
  controller.abort(new Error('revoked'));
  await expect(running).rejects.toThrow();
});
