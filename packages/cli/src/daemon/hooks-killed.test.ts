/** A host that is killed while a hook looks at a call: the call never goes on, and is never made twice. */
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { requires } from '../../../../test/needs.ts';
import { hobHome } from '../../test/hob.ts';
import { LineClient } from '../../test/mcp-client.ts';

const test = requires('linux', 'cc', 'userns');

/** Its file says by its name which calls it holds up: those of `b.txt`. */
const HOOK = `#!/bin/sh
read -r line
case "$line" in *b.txt*) sleep 1000;; *c.txt*) echo '{"action":"block","message":"not c"}';; *) echo '{"action":"allow"}';; esac
`;

const manifest = `version: 1
roots: { project: project }
firewall:
  mode: observe
  hooks:
    check: { program: check.sh, sha256: ${createHash('sha256').update(HOOK).digest('hex')}, on: pre_tool_call, caps: [src], methods: [write], within: 1m }
session:
  mode: autonomous
  caps: { src: { fs: project/src, can: [read, list, write] } }
`;

interface Line {
  readonly k: string;
  readonly method?: string;
  readonly hooked?: boolean;
}

test('kill -9 while a hook runs: the file is not written, nobody is asked, and the next call is looked at again', async () => {
  const hob = hobHome(manifest);
  const program = join(hob.folder, 'config/check.sh');
  writeFileSync(program, HOOK);
  chmodSync(program, 0o755);
  const host = await hob.serve();
  const client = await LineClient.open(hob, 'newer');
  const write = (path: string): ReturnType<LineClient['call']> =>
    client.call('write', { cap: 'src', path, text: 'one' });
  expect((await write('a.txt')).isError).toBe(undefined);
  const blocked = await write('c.txt');
  expect([blocked.isError, blocked.content![0]!.text]).toEqual([true, expect.stringContaining('the hook check blocks this call: not c')]); // biome-ignore format: one line
  void write('b.txt').catch(() => {});
  const lines = async (): Promise<readonly Line[]> => (await hob.run('ledger', 'export')).out.trim().split('\n').map((one) => JSON.parse(one) as Line); // biome-ignore format: one line
  const hooked = (all: readonly Line[]): number =>
    all.filter(({ k, hooked: is }) => k === 'call' && is === true).length;
  await hob.until(lines, (all) => hooked(all) === 3);
  host.child.kill('SIGKILL');
  await host.ended;
  await hob.serve();
  expect(await hob.json('inbox')).toEqual([]);
  const after = await lines();
  // Two hooks had their say, of three calls.
  expect([hooked(after), after.filter(({ k }) => k === 'assess').length]).toEqual([3, 2]);
  const file = (name: string): boolean => existsSync(join(hob.folder, 'config/project/src', name));
  expect([file('a.txt'), file('b.txt'), file('c.txt')]).toEqual([true, false, false]);
}, 400_000);
