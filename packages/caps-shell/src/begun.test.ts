/** A program that began is a status, whatever becomes of the sandbox around it: an error would have a caller run it twice. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { FsCap } from '@hob/caps-fs';
import { expect } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { code, directory, processesWith, scratch, shell } from '../test/shell.ts';

const test = requires('linux', 'cc', 'userns');
const later = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const childrenOf = (parent: number): number[] =>
  readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map(Number).filter((pid) => parentOf(pid) === parent); // biome-ignore format: one line
function parentOf(pid: number): number {
  try {
    return Number(
      readFileSync(`/proc/${pid}/stat`, 'latin1')
        .replace(/^.*\) . /s, '')
        .split(' ')[0],
    );
  } catch {
    return -1;
  }
}
/** The outer processes of the jobs of this process. */
const helpers = (): number[] => childrenOf(process.pid).filter((pid) => processesWith('hob-sandbox').includes(pid));
const kill = (pid: number | undefined): void => {
  try {
    if (pid !== undefined) process.kill(pid, 'SIGKILL');
  } catch {
    // It has just ended.
  }
};

test('whichever process of the sandbox is killed after the program began, there is a status, and nothing is left', async () => {
  const folder = scratch();
  const sh = await shell({ mounts: { '/ws': await directory(folder) } });
  for (const which of ['outer', 'pid 1'] as const) {
    // Many, so that their end takes the kernel a while.
    const run = sh.run('echo said; for i in $(seq 300); do setsid sleep 19.4935 & done; echo x > began; sleep 19.4935');
    while (!existsSync(join(folder, 'began')) || processesWith('19.4935').length < 301) await later();
    const [outer = 0] = helpers();
    kill(which === 'outer' ? outer : childrenOf(outer)[0]);
    expect(await run).toMatchObject({ status: 137, ended: 'signal', stdout: 'said\n' });
    expect(processesWith('19.4935')).toEqual([]);
    rmSync(join(folder, 'began'));
  }
  expect(await sh.run('echo next')).toMatchObject({ status: 0, stdout: 'next\n' });
});

test('at whatever moment a process of the sandbox is killed: where there is an error, nothing ran', async () => {
  const folder = scratch();
  const sh = await shell({ mounts: { '/ws': await directory(folder) } });
  const ends = new Set<string>();
  for (let turns = 0; turns < 60; turns += 1) {
    const run = sh.run('echo x > began; sleep 0.01').then(
      () => 'status',
      (error: { code: string }) => error.code,
    );
    for (let n = 0; n < turns >> 1; n += 1) await later();
    const [outer] = helpers();
    kill(turns % 2 === 0 || outer === undefined ? outer : childrenOf(outer)[0]);
    const end = await run;
    ends.add(end);
    if (end !== 'status') expect([end, existsSync(join(folder, 'began'))]).toEqual(['E_SANDBOX_UNAVAILABLE', false]);
    rmSync(join(folder, 'began'), { force: true });
  }
  expect([...ends].filter((end) => end !== 'status' && end !== 'E_SANDBOX_UNAVAILABLE')).toEqual([]);
});

test('a job runs where the hard limit of open files is low', () => {
  const child = join(import.meta.dirname, '..', 'test', 'started-child.ts');
  const hooks = new URL('../../../scripts/resolve.mjs', import.meta.url).href;
  for (const most of [1025, 1024, 128]) {
    const command = `ulimit -n ${most}; exec "$0" --no-warnings --import ${hooks} ${child}`;
    const { stdout } = spawnSync('bash', ['-c', command, process.execPath], { encoding: 'utf8' });
    expect([most, stdout]).toEqual([most, 'ran\n']);
  }
});

test('a directory that is closed while a job of it starts is told as revoked, at whatever moment', async () => {
  const cap: FsCap = await directory();
  const codes = new Set<string>();
  for (let turns = 0; turns < 40; turns += 1) {
    const sub = await cap.readOnly();
    const sh = await shell({ mounts: { '/ws': sub } });
    const run = sh.run('sleep 60').then(
      ({ ended }) => ended,
      (error: { code: string }) => error.code,
    );
    for (let n = 0; n < turns; n += 1) await (turns < 20 ? Promise.resolve() : later());
    await sub.close();
    codes.add(await run);
    codes.add(await code(sh.run('true')));
  }
  expect([...codes]).toEqual(['revoked']);
});
