/** The launcher: what a caller gets, and that a world is never half built. */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { granted, run, start, textOf } from '../test/world.ts';
import { BUILT } from './drivers/program.ts';

const test = requires('linux', 'cc', 'userns');

function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), 'hob-shell-'));
  chmodSync(folder, 0o755);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test('a program sees the granted directories, and nothing else of the machine', async () => {
  const folder = scratch();
  writeFileSync(join(folder, 'a'), 'hello\n');
  const { stdout, how, code } = await run(`cat a; echo new > b; ls / | tr '\\n' ' '; ls ${folder} 2>&1; exit 7`, {
    grants: { '/ws': { path: folder } },
  });
  expect({ how, code }).toEqual({ how: 'exit', code: 7 });
  expect(stdout).toMatch(/^hello\n(?:\w+ )*ws .*No such file/s);
  expect(readFileSync(join(folder, 'b'), 'utf8')).toBe('new\n');
  expect(statSync(join(folder, 'b')).uid).toBe(process.getuid?.());
});

test('a read-only directory cannot be written', async () => {
  const folder = scratch();
  const { stdout } = await run('echo x > b || echo refused', {
    grants: { '/ws': { path: folder, writable: false } },
  });
  expect(stdout).toBe('refused\n');
});

test('stdin, stdout and stderr are real pipes, and their ends are passed on', async () => {
  const job = start('cat; echo err > /dev/stderr; tee /dev/stderr < /dev/stdin', { input: true });
  // Read both from the same turn on: at exit Node drops output without a reader.
  const said = Promise.all([textOf(job.stdout), textOf(job.stderr)]);
  job.stdin?.end('in\n');
  expect(await said).toEqual(['in\n', 'err\n']);
  expect(await job.ended).toMatchObject({ how: 'exit', code: 0 });
  await job.closed;
});

test('a large output arrives complete, also at a slow reader', async () => {
  const { stdout } = await run('head -c 3000000 /dev/zero | tr "\\0" x');
  expect(stdout.length).toBe(3_000_000);
});

test('a signal reaches the group, and the end says signal', async () => {
  const job = start('sleep 100 & wait');
  await job.started;
  job.signal(15);
  expect(await job.ended).toMatchObject({ how: 'signal', signal: 15 });
  await job.closed;
});

test('a renamed directory is mounted, and the one put in its place is not', async () => {
  const folder = scratch();
  mkdirSync(join(folder, 'ws'));
  mkdirSync(join(folder, 'evil'));
  writeFileSync(join(folder, 'ws', 'mine'), '');
  const mount = granted('/ws', { path: join(folder, 'ws') });
  renameSync(join(folder, 'ws'), join(folder, 'moved'));
  renameSync(join(folder, 'evil'), join(folder, 'ws'));
  const { stdout } = await run('ls /ws', { mounts: [mount] });
  expect(stdout).toBe('mine\n');
});

test('a deleted directory and a reused descriptor number are E_MOUNT_STALE', async () => {
  const folder = scratch();
  mkdirSync(join(folder, 'gone'));
  const mount = granted('/ws', { path: join(folder, 'gone') });
  rmSync(join(folder, 'gone'), { recursive: true });
  await expect(run('true', { mounts: [mount] })).rejects.toMatchObject({ code: 'E_MOUNT_STALE' });
  const other = granted('/ws', { path: folder });
  await expect(run('true', { mounts: [{ ...other, ino: other.ino + 1n }] })).rejects.toMatchObject({
    code: 'E_MOUNT_STALE',
  });
});

test('each reason not to start has its own code', async () => {
  const folder = scratch();
  await expect(run('true', { program: '/bin/nothing' })).rejects.toMatchObject({ code: 'E_EXEC_NOT_FOUND' });
  await expect(run('true', { grants: { '/ws': { path: folder }, '/ws/in': { path: folder } } })).rejects.toMatchObject({
    code: 'E_MOUNT_CONFLICT',
  });
  await expect(run('true', { cwd: '/nowhere' })).rejects.toMatchObject({ code: 'invalid' });
});

test('a sandbox program other than the built one does not run', async () => {
  const folder = scratch();
  const other = join(folder, 'hob-sandbox');
  await expect(run('true', { built: other })).rejects.toMatchObject({ code: 'E_SANDBOX_UNAVAILABLE' });
  copyFileSync('/bin/true', other);
  copyFileSync(`${BUILT}.json`, `${other}.json`);
  await expect(run('true', { built: other })).rejects.toMatchObject({
    code: 'E_SANDBOX_UNAVAILABLE',
    message: expect.stringContaining('ESTALE'),
  });
});

requires(
  'linux',
  'cc',
  'userns',
  'mkfifo',
)('a FIFO, a device or a huge file in the place of the program holds nothing up', async () => {
  const folder = scratch();
  const fifo = join(folder, 'fifo');
  execFileSync('mkfifo', [fifo]);
  const zero = join(folder, 'zero');
  symlinkSync('/dev/zero', zero);
  const huge = join(folder, 'huge');
  writeFileSync(huge, '');
  truncateSync(huge, 2 ** 40);
  for (const other of [fifo, zero, huge]) {
    copyFileSync(`${BUILT}.json`, `${other}.json`);
    await expect(run('true', { built: other })).rejects.toMatchObject({
      code: 'E_SANDBOX_UNAVAILABLE',
      message: expect.stringContaining('ESTALE'),
    });
  }
});
