/**
 * A program that began gives a status, even if the sandbox around it is killed. After an error a caller would
 * run it twice.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { FsCap } from '@hob/caps-fs';
import { expect } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { builds } from '../test/builds.ts';
import { replaceImageFile } from '../test/replaced-image.ts';
import { code, directory, processesWith, scratch, shell } from '../test/shell.ts';

const test = requires('linux', 'cc', 'userns');
const later = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** The fields of /proc/PID/stat from the state on; undefined if there is no such process. */
const statOf = (pid: number): readonly string[] | undefined => {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'latin1').replace(/^.*\) /s, '').split(' '); // biome-ignore format: one line
  } catch {
    return undefined;
  }
};
const childrenOf = (parent: number): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => Number(statOf(pid)?.[1] ?? -1) === parent);
/** A zombie is over. The time of its start tells a process from a later one with its number. */
const startOf = (pid: number): string | undefined => {
  const stat = statOf(pid);
  return stat === undefined || /^[ZX]/.test(stat[0] ?? '') ? undefined : stat[19];
};
/** A process, and all that it made. */
const familyOf = (pid: number): number[] => [pid, ...childrenOf(pid).flatMap(familyOf)];
/** The outer processes of the jobs of this process: its children, or those of the program that it started ahead. */
const helpers = (): number[] => {
  const named = processesWith('hob-sandbox');
  const mine = childrenOf(process.pid);
  return [...mine, ...mine.flatMap(childrenOf)].filter((pid) => named.includes(pid));
};
const kill = (pid: number | undefined): void => {
  try {
    if (pid !== undefined) process.kill(pid, 'SIGKILL');
  } catch {
    // It has just ended.
  }
};

test('if any process of the sandbox is killed after the program began, there is a status, and nothing is left', async () => {
  const folder = scratch();
  copyFileSync(builds().tool, join(folder, 'tool'));
  const sh = await shell({ mounts: { '/ws': await directory(folder) } });
  for (const which of ['outer', 'pid 1'] as const) {
    // The kernel takes long to end these. They do not hold the output of the job: its end would wait for them.
    const run = sh.run(`echo said; exec > mapped 2>&1
      for i in 1 2 3 4; do ./tool maps 30000 600 & done; sleep 600`);
    while (!existsSync(join(folder, 'mapped')) || readFileSync(join(folder, 'mapped')).length < 4 * 'mapped\n'.length)
      await later();
    const [outer = -1] = helpers();
    // As root there is a second child, a zombie: the process that looked for mounts.
    const [pid1 = -1] = childrenOf(outer).filter((pid) => startOf(pid) !== undefined);
    const living = familyOf(pid1).map((pid) => ({ pid, start: startOf(pid) }));
    expect(living.length).toBeGreaterThanOrEqual(6);
    kill(which === 'outer' ? outer : pid1);
    expect(await run).toMatchObject({ status: 137, ended: 'signal', stdout: 'said\n' });
    expect(living.filter(({ pid, start }) => start !== undefined && startOf(pid) === start)).toEqual([]);
    rmSync(join(folder, 'mapped'));
  }
  expect(await sh.run('echo next')).toMatchObject({ status: 0, stdout: 'next\n' });
});

test('if a process of the sandbox is killed at any moment, an error means that nothing ran', async () => {
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

test('a start that is tried again because the image changed never runs a program twice, whoever kills it when', async () => {
  const folder = scratch();
  const sh = await shell({ mounts: { '/ws': await directory(folder) } });
  const runs = (): number =>
    existsSync(join(folder, 'began')) ? readFileSync(join(folder, 'began'), 'utf8').length / 2 : 0;
  const seen = new Set<string>();
  for (let turns = 0; turns < 40; turns += 1) {
    replaceImageFile(turns % 3);
    const run = code(sh.run('echo x >> began; sleep 0.01'));
    for (let n = 0; n < turns; n += 1) await later();
    const [outer] = helpers();
    kill(turns % 2 === 0 || outer === undefined ? outer : childrenOf(outer)[0]);
    const end = await run;
    expect([end, runs()]).toEqual([end, end === 'ok' ? expect.toBeOneOf([0, 1]) : 0]);
    seen.add(`${end} ${runs()}`);
    rmSync(join(folder, 'began'), { force: true });
  }
  expect(seen).toContain('ok 1');
});

test('a job runs although the hard limit of open files is low', () => {
  const child = join(import.meta.dirname, '..', 'test', 'started-child.ts');
  const hooks = new URL('../../../scripts/resolve.mjs', import.meta.url).href;
  for (const most of [1025, 1024, 128]) {
    const command = `ulimit -n ${most}; exec "$0" --no-warnings --import ${hooks} ${child}`;
    const { stdout } = spawnSync('bash', ['-c', command, process.execPath], { encoding: 'utf8' });
    expect([most, stdout]).toEqual([most, 'ran\n']);
  }
});

test('if a directory is closed at any moment while its job starts, the job rejects with revoked', async () => {
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
