/** Programs that the host starts and talks to. The program is the attacker. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { code, directory, mark, processesWith, scratch } from '../test/shell.ts';
import { type Job, startProgram, type World } from './index.ts';

const test = requires('linux', 'cc', 'userns');
const BASH = '/bin/bash';

async function started(args: readonly string[], world: World = { mounts: {} }): Promise<Job> {
  const job = await startProgram(BASH, args, world);
  onTestFinished(async () => {
    await job.signal('KILL').catch(() => {});
    await job.wait();
  });
  return job;
}

const line = async (job: Job): Promise<string> => Buffer.from((await job.stdout.next()) ?? []).toString();

test('a program is written to and read from as long as it runs, with exactly the given arguments', async () => {
  const job = await started(['-c', 'while read -r line; do echo "$0 $1: $line"; done', 'a b', '$HOME; "\'']);
  for (const text of ['one', 'two']) {
    await job.write(`${text}\n`);
    expect(await line(job)).toBe(`a b $HOME; "': ${text}\n`);
  }
  await job.end();
  expect(await job.wait()).toMatchObject({ status: 0, ended: 'exit' });
});

test('it reaches its mounts, its variables and nothing else of this machine', async () => {
  const folder = scratch();
  writeFileSync(join(folder, 'in'), 'held\n');
  const secret = scratch();
  writeFileSync(join(secret, 'key'), 'secret\n');
  process.env['HOB_TEST_AMBIENT'] = 'ambient';
  onTestFinished(() => {
    delete process.env['HOB_TEST_AMBIENT'];
  });
  const job = await started(
    ['-c', `cat in; echo x > out; cat ${secret}/key; env; ls /home /root; (echo > /dev/tcp/127.0.0.1/1) 2>&1`],
    { mounts: { '/ws': await directory(folder) }, env: { TOKEN: 'given' } },
  );
  await job.end();
  const { stdout } = await job.wait();
  expect(stdout).toContain('held\n');
  expect(stdout).toContain('TOKEN=given\n');
  expect(stdout).not.toMatch(/secret|ambient/);
  expect(readFileSync(join(folder, 'out'), 'utf8')).toBe('x\n');
});

test('KILL ends every process of it, also those that ignore signals', async () => {
  const seconds = mark('9001');
  const job = await started(['-c', `trap '' TERM HUP INT; (trap '' TERM; sleep ${seconds}) & echo up; wait`]);
  expect(await line(job)).toBe('up\n');
  await job.signal('KILL');
  expect(await job.wait()).toMatchObject({ ended: 'signal' });
  expect(processesWith(seconds)).toEqual([]);
});

test('it ends with a directory that it has mounted', async () => {
  const folder = await directory(scratch());
  const job = await started(['-c', 'echo up; read -r _'], { mounts: { '/ws': folder } });
  expect(await line(job)).toBe('up\n');
  await folder.close();
  expect(await job.wait()).toMatchObject({ ended: 'revoked' });
});

test('what is no absolute path of a program, and an argument with a NUL, start nothing', async () => {
  expect(await code(startProgram('bash', [], { mounts: {} }))).toBe('invalid');
  expect(await code(startProgram('/no/such', [], { mounts: {} }))).toBe('E_EXEC_NOT_FOUND');
  expect(await code(startProgram(BASH, ['a\0b'], { mounts: {} }))).toBe('invalid');
  expect(await code(startProgram(BASH, [], { mount: {} } as never))).toBe('invalid');
});
