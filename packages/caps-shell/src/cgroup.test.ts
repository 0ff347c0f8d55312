/**
 * If cgroup v2 is delegated, the kernel limits the memory and processes of a job and counts its time. Each
 * row runs with the cgroup and without it, in builds that skip the other mechanisms for the same limit.
 * `attack/vm.ts` runs this file in a virtual machine.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test as plain } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { type Builds, builds } from '../test/builds.ts';
import { LIMITS, type Options, run, start } from '../test/world.ts';
import { delegated, find, openCgroup } from './drivers/cgroup.ts';
import { probe } from './drivers/probe.ts';

const MiB = 2 ** 20;
const test = requires('linux', 'cc', 'userns', 'cgroup2');

describe('where cgroup v2 is delegated', () => {
  let all: Builds;
  test.beforeAll(() => {
    all = builds();
  });

  const play = (text: string, built: string, limits: Options['limits'] = {}) =>
    run(`tool() { /opt/tool "$@"; }; ${text}`, { built, limits, trees: { '/opt/tool': all.tool } });
  const place = (): string => {
    const found = delegated();
    if ('why' in found) throw new Error(found.why);
    return found.dir;
  };
  const left = (): string[] => readdirSync(place()).filter((name) => name.startsWith('hob-job-'));

  test('the kernel ends a job that exceeds its memory, with limit memory', async () => {
    const [text, limits] = ['tool eat 200 0; echo WON', { memoryBytes: 64 * MiB }];
    const held = await play(text, all.without('memory', 'data'), limits);
    expect(held).toMatchObject({ how: 'limit', limit: 'memory', stdout: '' });
    expect(held.peakBytes).toBeLessThanOrEqual(64 * MiB);
    expect(await play(text, all.without('memory', 'data', 'cgroup'), limits)).toMatchObject({ stdout: 'WON\n' });
    expect(await play(text, all.sandbox, limits)).toMatchObject({ how: 'limit', limit: 'memory', stdout: '' });
  });

  test('bytes in sockets count as memory of the job', async () => {
    const [text, limits] = [
      'for i in 1 2 3 4; do tool sockets 120 & done; wait; echo WON',
      { memoryBytes: 64 * MiB, openFiles: 4096 },
    ];
    const held = await play(text, all.without('memory', 'sockets'), limits);
    expect(held).toMatchObject({ how: 'limit', limit: 'memory' });
    expect(held.stdout).not.toContain('WON');
    expect(held.peakBytes).toBeLessThanOrEqual(64 * MiB);
    const { stdout } = await play(text, all.without('memory', 'sockets', 'cgroup'), limits);
    expect(stdout).toContain('WON');
  });

  test('the kernel enforces the limit of processes', async () => {
    const [text, limits] = ['tool forks 60 1', { processes: 20 }];
    const forks = async (...steps: string[]): Promise<number> =>
      Number((await play(text, all.without(...steps), limits)).stdout);
    expect(await forks('nproc', 'pidmax')).toBeLessThan(20);
    expect(await forks('nproc', 'pidmax', 'cgroup')).toBe(60);
  });

  test('the time of processes that nobody waits for counts, however short they live', async () => {
    // SIGCHLD is ignored, so the kernel adds their time to nobody's.
    const [text, limits] = ['tool unwaited 60 100; echo WON', { cpuMs: 3000 }];
    expect(await play(text, all.without('unwaited'), limits)).toMatchObject({ how: 'limit', limit: 'cpu' });
    expect(await play(text, all.without('unwaited', 'cgroup'), limits)).toMatchObject({ stdout: 'WON\n' });
    const { cpuUs } = await play('tool unwaited 50 10', all.sandbox);
    expect(cpuUs).toBeGreaterThanOrEqual(500_000);
  });

  test('a job sees its cgroup as the root, and cannot reach the rest of the tree', async () => {
    const { stdout } = await play(
      'cat /proc/self/cgroup; ls -d /sys 2>&1; mount -t cgroup2 none /tmp 2>&1',
      all.sandbox,
    );
    expect(stdout).toMatch(/^0::\/$/m);
    expect(stdout).toMatch(/cannot access '\/sys'/);
    expect(stdout).toMatch(/^mount: /m);
  });

  test('an ended job has no cgroup: exited, killed, out of memory, or never started', async () => {
    await play('exit 3', all.sandbox);
    await play('tool eat 200 0', all.sandbox, { memoryBytes: 64 * MiB });
    await expect(run('', { built: all.sandbox, program: '/none' })).rejects.toMatchObject({ code: 'E_EXEC_NOT_FOUND' });
    const job = start('trap "" TERM; sleep 1000 & wait', { built: all.sandbox });
    for (const stream of [job.stdout, job.stderr]) stream.resume();
    await job.started;
    expect(left()).toHaveLength(1);
    job.signal(9);
    expect(await job.ended).toMatchObject({ how: 'killed' });
    await job.closed;
    expect(left()).toEqual([]);
  });

  test('the next host removes the cgroups that a killed host left', async () => {
    const child = spawn(
      process.execPath,
      ['--no-warnings', join(import.meta.dirname, '..', 'test', 'host-child.ts'), 'echo up; sleep 1000'],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    await new Promise((done) => child.stdout.once('data', done));
    expect(left()).toHaveLength(1);
    const over = new Promise((done) => child.once('exit', done));
    child.kill('SIGKILL');
    await over;
    expect(left()).toHaveLength(1);
    // Its processes go when their pipes end; the next host may come before that.
    const events = join(place(), left()[0] as string, 'cgroup.events');
    while (/populated 1/.test(readFileSync(events, 'utf8'))) await new Promise((done) => setTimeout(done, 5));
    find(readFileSync('/proc/self/cgroup', 'utf8'), readFileSync('/proc/self/mountinfo', 'utf8'));
    expect(left()).toEqual([]);
  });

  test('a job that has too little memory to start rejects with the remedy', async () => {
    await expect(run('echo WON', { built: all.sandbox, limits: { memoryBytes: 4096 } })).rejects.toMatchObject({
      code: 'E_SETUP',
    });
    expect(left()).toEqual([]);
  });

  test('the probe says that cgroups are used', async () => {
    const { layers } = await probe();
    expect(layers.filter(({ ok, name }) => !ok && !name.includes('not needed'))).toEqual([]);
    expect(layers).toContainEqual({ name: 'memory, processes and time counted by a cgroup', ok: true });
  });
});

/** A tree of plain files that has the names which the kernel's has. */
function tree(files: Readonly<Record<string, string>>): (own: string) => ReturnType<typeof find> {
  const root = mkdtempSync(join(tmpdir(), 'hob-cgroup-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(root, path, '..'), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return (own) => find(`1:name=x:/y\n0::${own}\n`, `30 23 0:26 / ${root} rw,nosuid - cgroup2 cgroup rw\n`);
}

const OFFERED = {
  'cgroup.controllers': 'cpu memory pids\n',
  'cgroup.subtree_control': 'memory pids\n',
  'cgroup.procs': '',
};
const at = (dir: string, files: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries({ 'cgroup.type': 'domain\n', ...files }).map(([name, text]) => [`${dir}/${name}`, text]),
  );

plain('a host that has limits of its own starts no job beside itself, where the job would not have them', () => {
  for (const [name, limit] of [
    ['memory.max', '1000000\n'],
    ['memory.high', '1000000\n'],
    ['pids.max', '20\n'],
    ['cpu.max', '50000 100000\n'],
  ] as const) {
    const found = tree({ ...at('given', OFFERED), ...at('given/host', { 'memory.max': 'max\n', [name]: limit }) })(
      '/given/host',
    );
    expect(found).toEqual({ why: expect.stringContaining('has limits') });
  }
});

plain('no cgroup is made where systemd makes its own, outside the mounted tree, or without the controllers', () => {
  const under = (dir: string, files: Readonly<Record<string, string>> = OFFERED): Record<string, string> => ({
    ...at(dir, files),
    ...at(`${dir}/host`, {}),
  });
  expect(tree(under('system.slice'))('/system.slice/host')).toEqual({
    why: expect.stringMatching(/^start the host in/),
  });
  expect(tree(under('given'))('/../given/host')).toEqual({ why: expect.stringContaining('not in the mounted') });
  expect(tree(under('given', { ...OFFERED, 'cgroup.controllers': 'hugetlb\n' }))('/given/host')).toEqual({
    why: expect.stringContaining('memory, pids'),
  });
  expect(find('0::/\n', '')).toEqual({ why: expect.stringContaining('no cgroup2') });
});

plain('the cgroup of a host that is gone is removed; that of a host which lives, and those of others, stay', () => {
  // No process has so high a number.
  const [dead, living] = ['hob-job-4194305-1', `hob-job-${process.ppid}-1`];
  const root = mkdtempSync(join(tmpdir(), 'hob-cgroup-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const dir of ['host', dead, living, 'other']) mkdirSync(join(root, dir));
  writeFileSync(join(root, 'host', 'cgroup.type'), 'domain\n');
  for (const [name, text] of Object.entries(OFFERED)) writeFileSync(join(root, name), text);
  find('0::/host\n', `30 23 0:26 / ${root} rw - cgroup2 cgroup rw\n`);
  const there = readdirSync(root);
  expect(there).not.toContain(dead);
  expect(there).toEqual(expect.arrayContaining([living, 'other', 'host']));
});

plain('a cgroup that cannot be set up is an error, and not a job without it', () => {
  expect(() => openCgroup(LIMITS, { dir: join(tmpdir(), 'hob-there-is-none') })).toThrow(
    expect.objectContaining({ code: 'E_SETUP', message: expect.stringContaining('cgroup: ENOENT') }),
  );
});

plain('a job of a cgroup has all its limits, before it is handed out', () => {
  const dir = mkdtempSync(join(tmpdir(), 'hob-cgroup-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  openCgroup({ ...LIMITS, memoryBytes: 12_345_678, processes: 77 }, { dir })?.close();
  const [job = ''] = readdirSync(dir);
  const set = (name: string): string => readFileSync(join(dir, job, name), 'utf8');
  expect([set('memory.max'), set('memory.oom.group'), set('pids.max')]).toEqual(['12345678', '1', '78']);
  expect(existsSync(join(dir, job, 'memory.swap.max'))).toBe(false);
});
