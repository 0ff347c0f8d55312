/** The shell cap in the hands of the program that runs the host. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { replaceImageFile } from '../test/replaced-image.ts';
import { code, directory, mark, processesWith, scratch, shell, textOf } from '../test/shell.ts';
import { KEPT } from './output.ts';

const test = requires('linux', 'cc', 'userns');
const later = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('a command that fails gives a status, its output and its usage', async () => {
  const folder = scratch();
  const sh = await shell({ mounts: { '/ws': await directory(folder) }, env: { WHO: 'you' } });
  const { usage, ...ended } = await sh.run('pwd; echo "hello $WHO"; echo new > b; cat; echo no >&2; exit 7', {
    stdin: 'given\n',
  });
  expect(ended).toEqual({
    status: 7,
    stdout: '/ws\nhello you\ngiven\n',
    stderr: 'no\n',
    truncated: false,
    ended: 'exit',
  });
  expect(usage).toEqual({ wallMs: expect.any(Number), cpuMs: expect.any(Number), peakBytes: expect.any(Number) });
  expect(readFileSync(join(folder, 'b'), 'utf8')).toBe('new\n');
  expect(await sh.run('kill -SEGV $$')).toMatchObject({ status: 139, ended: 'signal' });
  expect(await sh.run('nosuchprogram')).toMatchObject({ status: 127, ended: 'exit' });
});

test('without stdin a program reads end of file at once', async () => {
  const sh = await shell();
  expect(await sh.run('cat; echo over')).toMatchObject({ stdout: 'over\n' });
  expect(await sh.run('cat; echo over', { stdin: '' })).toMatchObject({ stdout: 'over\n' });
});

test('a job takes input and signals, and its streams and its end can be read', async () => {
  const sh = await shell();
  const job = await sh.spawn(
    'read a; echo "got $a"; echo err >&2; cat; trap "echo bye; exit 5" TERM; echo up; sleep 60 & wait',
  );
  await job.write('one\ntwo ');
  await job.write(new TextEncoder().encode('three\n'));
  await job.end();
  expect(await code(job.write('more'))).toBe('E_INPUT_CLOSED');
  let out = '';
  while (!out.endsWith('up\n')) out += Buffer.from((await job.stdout.next()) as Uint8Array).toString();
  expect(out).toBe('got one\ntwo three\nup\n');
  await job.signal('TERM');
  expect(await textOf(job.stdout)).toBe('bye\n');
  expect(await textOf(job.stderr)).toBe('err\n');
  expect(await job.wait()).toMatchObject({ status: 5, ended: 'exit', stdout: `${out}bye\n`, stderr: 'err\n' });
  expect(await code(job.signal('TERM'))).toBe('E_JOB_ENDED');
  expect(await code(job.write('more'))).toBe('E_JOB_ENDED');
  expect(await code(job.signal('STOP' as 'TERM'))).toBe('invalid');
});

test('a killed job says so', async () => {
  const sh = await shell();
  const job = await sh.spawn('sleep 60');
  await job.signal('KILL');
  expect(await job.wait()).toMatchObject({ status: 137, ended: 'signal' });
  expect(await code(job.write('x'))).toBe('E_JOB_ENDED');
});

test('a timeout sends TERM, and kills a job that traps it after the grace', async () => {
  const sh = await shell();
  // Each has seconds to begin and to set its trap: on a busy machine a program may begin late.
  expect(await sh.run('sleep 60', { timeoutMs: 2_000 })).toMatchObject({ status: 143, ended: 'timeout' });
  const polite = 'trap "echo saved; exit 0" TERM; sleep 60 & wait';
  expect(await sh.run(polite, { timeoutMs: 4_000 })).toMatchObject({ status: 0, stdout: 'saved\n', ended: 'timeout' });
  const stubborn = 'trap "" TERM; while :; do sleep 1; done';
  expect(await sh.run(stubborn, { timeoutMs: 4_000 })).toMatchObject({ status: 137, ended: 'timeout' });
  const short = await shell({ limits: { wallMs: 50 } });
  expect(await short.run('sleep 60', { timeoutMs: 60_000 })).toMatchObject({ ended: 'timeout' });
});

test('the head and the tail of a long output are kept, with a line between them', async () => {
  const sh = await shell();
  const ended = await sh.run('echo first; head -c 3000000 /dev/zero | tr "\\0" x; echo; echo last; echo e >&2');
  expect(ended).toMatchObject({ truncated: true, stderr: 'e\n', ended: 'exit', status: 0 });
  const left = 3_000_000 + 12 - 2 * KEPT;
  expect(ended.stdout).toMatch(new RegExp(`^first\nx+\n\\[${left} bytes left out\\]\nx+\nlast\n$`));
  expect(ended.stdout.length).toBe(2 * KEPT + `\n[${left} bytes left out]\n`.length);
  const whole = await sh.run('head -c 1048576 /dev/zero | tr "\\0" x');
  expect(whole).toMatchObject({ truncated: false, stdout: 'x'.repeat(1_048_576) });
  // In the middle of a character: it goes with what was left out.
  const cut = await sh.run("printf a; head -c 1500000 /dev/zero | sed 's/\\x00/\\xc3\\xa9/g'");
  expect(cut.stdout).not.toContain('\uFFFD');
});

test('a job that writes too much output is killed', async () => {
  const sh = await shell({ limits: { outputBytes: 100_000 } });
  expect(await sh.run('yes')).toMatchObject({ ended: 'limit', limit: 'output', status: 137 });
  expect(await sh.run('yes >&2')).toMatchObject({ ended: 'limit', limit: 'output' });
  expect(await sh.run('head -c 100000 /dev/zero | tr "\\0" x')).toMatchObject({ ended: 'exit', status: 0 });
});

test('a limit that ends a job is named', async () => {
  const sh = await shell({ limits: { memoryBytes: 64 * 2 ** 20, cpuMs: 300, wallMs: 30_000 } });
  expect(await sh.run('head -c 200000000 /dev/zero > /tmp/big; sleep 60')).toMatchObject({
    ended: 'limit',
    limit: 'memory',
  });
  expect(await sh.run('while :; do :; done')).toMatchObject({ ended: 'limit', limit: 'cpu' });
});

test('a program waits for a slow reader, and its output arrives complete', async () => {
  const folder = scratch();
  const sh = await shell({ mounts: { '/ws': await directory(folder) } });
  const job = await sh.spawn('for i in $(seq 40); do head -c 100000 /dev/zero | tr "\\0" x; echo $i > at; done');
  expect((await job.stdout.next(10))?.length).toBe(10);
  // It has come to a stand: the same place, looked at again and again while others may run.
  let last = '';
  for (let same = 0; same < 200; ) {
    await sh.run('true');
    const at = existsSync(join(folder, 'at')) ? readFileSync(join(folder, 'at'), 'utf8') : '';
    same = at !== '' && at === last ? same + 50 : 0;
    last = at;
  }
  expect(Number(last)).toBeLessThan(20);
  expect((await textOf(job.stdout)).length).toBe(3_999_990);
  expect(await job.wait()).toMatchObject({ ended: 'exit', truncated: true });
});

test('wait lets unread output flow; a late reader still gets what is kept', async () => {
  const sh = await shell();
  const job = await sh.spawn('head -c 900000 /dev/zero | tr "\\0" x; echo end');
  const waiting = job.wait();
  expect(await waiting).toMatchObject({ ended: 'exit', truncated: false });
  expect((await textOf(job.stdout)).length).toBe(900_004);
  expect(await job.stdout.next()).toBe(undefined);
});

test('a reader that leaves does not delay the program', async () => {
  const sh = await shell();
  const job = await sh.spawn('head -c 3000000 /dev/zero | tr "\\0" x; exit 4');
  await job.stdout.next(1);
  await job.stdout.return();
  expect(await job.stdout.next()).toBe(undefined);
  expect(await job.wait()).toMatchObject({ status: 4, ended: 'exit' });
});

test('a daemon that holds the pipe neither delays the end nor outlives it', async () => {
  const sh = await shell();
  const ended = await sh.run(`setsid sh -c "trap : TERM HUP; sleep ${mark('931.4159')}" & echo started`);
  expect(ended).toMatchObject({ status: 0, stdout: 'started\n', ended: 'exit' });
  expect(processesWith(mark('931.4159'))).toEqual([]);
});

test('a named job is found again, also after its end; other holders may use the name', async () => {
  const sh = await shell();
  const job = await sh.spawn('sleep 60', { name: 'server' });
  expect(await sh.job('server')).toBe(job);
  expect(await code(sh.spawn('true', { name: 'server' }))).toBe('invalid');
  expect(await code(sh.job('other'))).toBe('no-such-object');
  await job.signal('KILL');
  await job.wait();
  expect(await (await sh.job('server')).wait()).toMatchObject({ ended: 'signal' });
  const next = await sh.spawn('exit 3', { name: 'server' });
  expect(await sh.job('server')).toBe(next);
  expect(await next.wait()).toMatchObject({ status: 3 });
  const less = await sh.attenuate({});
  expect(await code(less.job('server'))).toBe('no-such-object');
  // The last 16 jobs that are over are kept.
  for (let n = 0; n < 20; n += 1) await (await sh.spawn('true', { name: `j${n}` })).wait();
  expect(await code(sh.job('j3'))).toBe('no-such-object');
  expect(await code(sh.job('j19'))).toBe('ok');
  expect(await code(sh.spawn('nothing', { name: '' }))).toBe('invalid');
});

test('close kills running and waiting jobs, also of attenuated shells, and returns when nothing is left', async () => {
  const sh = await shell();
  const less = await (await sh.attenuate({})).attenuate({});
  const jobs = await Promise.all([sh, less].map((cap) => cap.spawn(`trap "" TERM; sleep ${mark('927.1828')}`)));
  const waiting = Array.from({ length: 9 }, () =>
    sh.run(`sleep ${mark('927.1828')}`).catch((error: { code: string }) => error.code),
  );
  while (processesWith(mark('927.1828')).length < 9) await later();
  await sh.close();
  expect(processesWith(mark('927.1828'))).toEqual([]);
  for (const job of jobs) expect(await job.wait()).toMatchObject({ ended: 'revoked' });
  const ends = await Promise.all(waiting);
  expect(ends.filter((end) => end === 'revoked').length).toBeGreaterThan(0);
  expect(ends.filter((end) => typeof end === 'object').every((end) => end.ended === 'revoked')).toBe(true);
  for (const cap of [sh, less]) expect(await code(cap.run('true'))).toBe('revoked');
  expect(await code(sh.attenuate({}))).toBe('revoked');
});

test('closing an attenuated shell leaves the one it was made from', async () => {
  const sh = await shell();
  const less = await sh.attenuate({});
  await less.close();
  expect(await code(less.run('true'))).toBe('revoked');
  expect(await sh.run('true')).toMatchObject({ status: 0 });
});

test('describe shows the world, and nothing of the host', async () => {
  const folder = scratch();
  const cap = await directory(folder);
  const sh = await shell({ mounts: { '/ws': cap, '/ro': await cap.readOnly() }, env: { TOKEN: 'secret' } });
  const said = await sh.describe();
  expect(said).toMatchObject({
    shell: '/bin/bash',
    mounts: { '/ws': 'rw', '/ro': 'ro' },
    cwd: '/ws',
    env: ['TOKEN'],
    limits: { wallMs: 120_000, processes: 512 },
    network: 'none',
  });
  expect(JSON.stringify(said)).not.toMatch(/secret|hob-shell-/);
  expect((await sh.run('env; ls -la / /ws')).stdout).not.toContain('hob-shell-');
});

test('jobs beyond the limit wait in order, and too many are refused', async () => {
  const sh = await shell();
  const jobs = await Promise.all(Array.from({ length: 8 }, () => sh.spawn('cat')));
  const order: number[] = [];
  const more = Array.from({ length: 64 }, (_, n) => sh.run('true').then(() => order.push(n)));
  expect(await code(sh.run('true'))).toBe('E_TOO_MANY_JOBS');
  await later();
  expect(order).toEqual([]);
  // Another cap has its own limit.
  const other = await shell();
  expect(await other.run('echo free')).toMatchObject({ stdout: 'free\n' });
  for (const job of jobs) await job.end();
  await Promise.all(more);
  expect(order).toHaveLength(64);
  expect(order[0]).toBeLessThan(8);
});

test('invalid texts, options and limits are refused with a code, and nothing runs', async () => {
  const sh = await shell({ limits: { wallMs: 1000 } });
  expect(await code(sh.run(3 as never))).toBe('invalid');
  expect(await code(sh.run('a\0b'))).toBe('invalid');
  expect(await code(sh.run('x'.repeat(200_000)))).toBe('E_ARGV');
  expect(await sh.run(`: ${'x'.repeat(131_000)}`)).toMatchObject({ status: 0 });
  expect(await code(sh.run('true', { shell: 'zsh' } as never))).toBe('invalid');
  expect(await code(sh.run('true', { timeoutMs: 0 }))).toBe('E_LIMIT_INVALID');
  expect(await code(sh.run('true', { limits: { wallMs: -1 } }))).toBe('E_LIMIT_INVALID');
  expect(await code(sh.run('true', { limits: { walls: 1 } as never }))).toBe('invalid');
  expect(await code(sh.run('true', { limits: { wallMs: 1001 } }))).toBe('E_NOT_ATTENUATION');
  expect(await code(shell({ limits: { processes: 1.5 } }))).toBe('E_LIMIT_INVALID');
  for (const env of [{ 'A=B': 'x' }, { A: 'x\0' }, { A: 3 as never }]) expect(await code(shell({ env }))).toBe('E_ENV');
  expect(await code(shell({ cwd: 'work' }))).toBe('invalid');
  expect(await code((await shell({ cwd: '/nowhere' })).run('true'))).toBe('invalid');
});

test('no text reaches a file beside the mounts', async () => {
  const folder = scratch();
  const other = scratch();
  writeFileSync(join(other, 'secret'), 'canary');
  const sh = await shell({ mounts: { '/ws': await directory(folder) } });
  const { stdout } = await sh.run(`cat ${other}/secret; ln -s ${other}/secret l; cat l; cat /ws/../..${other}/secret`);
  expect(stdout).toBe('');
});

test('a file of the system image that is replaced while a job starts delays the job and does not fail it', async () => {
  const sh = await shell();
  replaceImageFile(2);
  expect(await sh.run('echo ran')).toMatchObject({ status: 0, stdout: 'ran\n' });
  replaceImageFile(3);
  expect(await code(sh.run('echo ran'))).toBe('E_SETUP');
  replaceImageFile(0);
  expect(await sh.run('echo ran')).toMatchObject({ status: 0, stdout: 'ran\n' });
});
