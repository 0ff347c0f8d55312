/**
 * The door of a job beside a program that connects by itself, and a job with a door beside one without.
 *
 * Promise: both sides clone the same repository over TLS from one server in another process, into an empty folder.
 */
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFsCap } from '@hob/caps-fs';
import { makeNetCap } from '@hob/caps-net';
import { makeShellCap, type ShellCap } from '@hob/caps-shell';
import type { Suite } from './measure.ts';

const server = fork(join(import.meta.dirname, 'git-server.ts'));
const [{ port, cert }] = (await once(server, 'message')) as [{ readonly port: number; readonly cert: string }];
const folder = mkdtempSync(join(tmpdir(), 'hob-bench-door-'));
chmodSync(folder, 0o755);
writeFileSync(join(folder, 'ca.pem'), cert);
const files = await openFsCap(folder);
// The name of the server is known to nobody, so the cap is for its address: git then names none in TLS.
const cap = makeNetCap({ host: '127.0.0.1', port, addresses: ['127.0.0.1'], limits: { bytes: 2 ** 40 } });
const world = { mounts: { '/ws': files }, env: { NO_PROXY: '', no_proxy: '' } };
const [withDoor, without] = [await makeShellCap({ ...world, net: [cap] }), await makeShellCap(world)];

const clone = `rm -rf copy; git -c http.sslCAInfo=ca.pem clone -q https://127.0.0.1:${port}/repo copy`;
async function inJob(shell: ShellCap, text: string): Promise<void> {
  const { status, stderr } = await shell.run(text);
  if (status !== 0) throw new Error(stderr);
}
/** Without the proxies and the settings of whoever runs this. */
const quiet = { PATH: process.env['PATH'], HOME: folder, GIT_CONFIG_NOSYSTEM: '1' };
async function plain(text: string): Promise<void> {
  const child = spawn('/bin/bash', ['-c', text], { cwd: folder, env: quiet, stdio: 'ignore' });
  const [status] = (await once(child, 'close')) as [number];
  if (status !== 0) throw new Error(`it ended with ${status}`);
}
const ms = (act: () => Promise<void>) => async (n: number) => {
  const began = performance.now();
  for (let at = 0; at < n; at += 1) await act();
  return (performance.now() - began) / n;
};

export const suite: Suite = {
  name: 'net-door',
  cases: [
    {
      name: 'git clone of 16 MiB vs unsandboxed',
      ...{ n: 1, rounds: 7, unit: 'ms' },
      ours: ms(() => inJob(withDoor, clone)),
      peer: ms(() => plain(clone)),
      goal: { text: '<= 1.15 x unsandboxed', met: ({ ratio }) => ratio <= 1.15 },
      whenMissed:
        'on a loaded machine the sandbox takes the difference: a clone from a folder of the job is as much slower',
    },
    {
      name: 'bash -c true with a door vs without',
      ...{ n: 15, unit: 'ms' },
      ours: ms(() => inJob(withDoor, 'true')),
      peer: ms(() => inJob(without, 'true')),
      goal: { text: '<= + 10 ms', met: ({ ours, peer }) => ours <= peer + 10 },
    },
  ],
  close: async () => {
    await Promise.all([withDoor.close(), without.close()]);
    await Promise.all([files.close(), cap[Symbol.asyncDispose]()]);
    server.disconnect();
    rmSync(folder, { recursive: true, force: true });
  },
};
