/**
 * A sandbox program that was started ahead serves one job. No other job can reach it. It ends with its host. If
 * somebody kills or stops it while it waits, no job fails.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { USER } from '../test/as.ts';
import { directory, lives, mark, oneWaits, scratch, shell, until } from '../test/shell.ts';
import { waitingPids } from './drivers/ahead.ts';
import { delegated } from './drivers/cgroup.ts';

type Needs = ReturnType<typeof requires>;
/** Where jobs have cgroups, each job starts its own program, so no program waits. */
const where =
  (needed: Needs) =>
  (name: string, body: () => unknown): void =>
    needed(name, (context) => {
      if ('dir' in delegated()) context.skip('jobs have cgroups here, so no sandbox program is started ahead');
      return body();
    });
const test = where(requires('linux', 'cc', 'userns'));
const rootTest = where(requires('linux', 'cc', 'userns', 'root'));

const nameOf = (pid: number): string => readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0')[0] ?? '';
const parentOf = (pid: number): number =>
  Number(/^PPid:\t(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]);

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended already.
  }
}

test('no program waits before the first job; then each job takes the program that waits, and another one gets ready', async () => {
  const sh = await shell();
  expect(waitingPids()).toEqual([]);
  await sh.run('true');
  const seen = new Set<number>();
  // Eight jobs use up the first group.
  for (let n = 0; n < 10; n += 1) {
    const [first, outer, pid1] = await oneWaits();
    expect([nameOf(outer), parentOf(outer), parentOf(pid1)]).toEqual(['hob-waiting', first, outer]);
    expect(seen).not.toContain(outer);
    seen.add(outer);
    const job = await sh.spawn('read line; echo "$line $$"');
    expect([nameOf(outer), lives(pid1)]).toEqual(['hob-sandbox', true]);
    await job.write('said\n');
    expect(await job.wait()).toMatchObject({ status: 0, stdout: 'said 2\n' });
    await until(() => !lives(outer) && !lives(pid1));
  }
});

test('a program that waits holds nothing but its own pipes, and is in namespaces of its own', async () => {
  const sh = await shell({ mounts: { '/ws': await directory() } });
  await sh.run('true');
  for (const pid of await oneWaits()) {
    const open = readdirSync(`/proc/${pid}/fd`).map((fd) => `/proc/${pid}/fd/${fd}`);
    const files = open.filter((fd) => !/^(?:socket|pipe|anon_inode):/.test(readlinkSync(fd)));
    // As root it also holds the devices that every world has, as mounts that are not attached yet.
    expect(files.filter((fd) => !statSync(fd).isCharacterDevice())).toEqual([]);
  }
  const [, , pid1] = waitingPids();
  for (const kind of ['user', 'pid_for_children', 'net', 'ipc', 'uts', 'cgroup'])
    expect(readlinkSync(`/proc/${pid1}/ns/${kind}`)).not.toBe(readlinkSync(`/proc/self/ns/${kind}`));
});

test('a job cannot see, signal or read a program that waits, and has no descriptor of it', async () => {
  const sh = await shell();
  await sh.run('true');
  const before = await oneWaits();
  // The program for the next job waits while this job runs.
  const job = await sh.spawn(`read line; : ${mark('948.1')}
    for p in /proc/[0-9]*; do echo "\${p#/proc/}"; done
    for pid in $line; do kill -9 $pid 2> /dev/null && echo killed; cat /proc/$pid/stat /proc/$pid/fd/* 2> /dev/null; done
    ls /proc/1/fd 2> /dev/null; ls -l /proc/self/fd | grep -c socket; trap '' TERM; kill -9 -1; kill -TERM -1`);
  const next = await oneWaits();
  expect(next[1]).not.toBe(before[1]);
  await job.write(`${[...next, ...before].join(' ')}\n`);
  const { stdout } = await job.wait();
  const said = stdout.trim().split('\n');
  expect(said.slice(0, 2)).toEqual(['1', '2']);
  expect(stdout).not.toContain('killed');
  expect(said.at(-1)).toBe('0');
  expect(next.filter(lives)).toEqual(next);
  expect(await sh.run('echo next')).toMatchObject({ stdout: 'next\n' });
});

test('if a program is killed or stopped while it waits, no job fails', async () => {
  const sh = await shell({ mounts: { '/ws': await directory() } });
  await sh.run('true');
  for (const signal of ['SIGKILL', 'SIGSTOP'] as const)
    for (const which of [0, 1, 2]) {
      const pids = await oneWaits();
      kill(pids[which] as number, signal);
      // The others end with the first one. A job that got one of them meanwhile would end, too.
      if (signal === 'SIGKILL') await until(() => !lives(pids[which] as number));
      expect(await sh.run('echo ran > /ws/x; cat /ws/x')).toMatchObject({ status: 0, stdout: 'ran\n', ended: 'exit' });
      await until(() => !pids.slice(1).some(lives));
      // The first program forks another one, or a new first program has taken its place.
      expect(await sh.run('echo next')).toMatchObject({ status: 0, stdout: 'next\n' });
      await oneWaits();
    }
});

test('if a program is killed at the moment when it gets its job, the job runs in another, or has a status', async () => {
  const sh = await shell({ mounts: { '/ws': await directory() } });
  await sh.run('true');
  const ends = new Set<string>();
  for (let turn = 0; turn < 80; turn += 1) {
    const pids = await oneWaits();
    const run = sh.run('echo ran').then(
      ({ status, stdout }) => `${status} ${stdout}`,
      (error: { code: string }) => error.code,
    );
    for (let n = 0; n < turn; n += 1) await Promise.resolve();
    kill(pids[1 + (turn % 2)] as number, 'SIGKILL');
    ends.add(await run);
  }
  for (const end of ends) expect(['0 ran\n', '137 ', '137 ran\n']).toContain(end);
  expect(ends).toContain('0 ran\n');
});

const hooks = new URL('../../../scripts/resolve.mjs', import.meta.url).href;
const index = new URL('./index.ts', import.meta.url).href;
const ahead = new URL('./drivers/ahead.ts', import.meta.url).href;

interface Hosting {
  readonly mounts?: string;
  /** Another user. */
  readonly user?: number;
}

/** Starts a host process that has run one job, and runs `then` in it while a sandbox program waits for the next. */
function hosting(then: string, { mounts = '{}', user }: Hosting = {}) {
  const program = `
    import { execFileSync } from 'node:child_process';
    import { openFsCap } from '@hob/caps-fs';
    import { makeShellCap } from ${JSON.stringify(index)};
    import { waitingPids } from ${JSON.stringify(ahead)};
    const dir = await openFsCap('/usr/share');
    const shell = await makeShellCap({ mounts: ${mounts} });
    await shell.run('true');
    while (waitingPids().length < 3) await new Promise((done) => setTimeout(done, 2));
    console.log(JSON.stringify(waitingPids()));
    ${then}`;
  const args = ['--no-warnings', '--import', hooks, '--input-type=module', '-e', program];
  const ids = user === undefined ? {} : { uid: user, gid: user };
  const host = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'], cwd: import.meta.dirname, ...ids });
  let said = '';
  host.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  const closed = once(host, 'close');
  onTestFinished(async () => {
    host.kill('SIGKILL');
    await closed;
  });
  const pids = async (): Promise<number[]> => {
    await until(() => said.includes('\n'));
    return JSON.parse(said.split('\n')[0] as string) as number[];
  };
  return { host, closed, pids, rest: () => said.slice(said.indexOf('\n') + 1) };
}

test('waiting programs end with their host, whether it is killed or ends by itself, and do not keep it alive', async () => {
  const killed = hosting('setInterval(() => {}, 1000);');
  const left = await killed.pids();
  expect(left.filter(lives)).toEqual(left);
  killed.host.kill('SIGKILL');
  await until(() => !left.some(lives));
  // It closes nothing, and ends when it has nothing to do.
  const over = hosting('');
  const pids = await over.pids();
  await over.closed;
  await until(() => !pids.some(lives));
});

test('a waiting program that is stopped ends with a killed host, too', async () => {
  const { host, pids } = hosting('setInterval(() => {}, 1000);');
  const left = await pids();
  for (const pid of left) process.kill(pid, 'SIGSTOP');
  host.kill('SIGKILL');
  await until(() => !left.some(lives));
});

test('a job gets the limits and the priority that its host has when it starts, not those of the program that waited', async () => {
  const { host, closed, pids, rest } = hosting(
    `process.stdin.once('data', async () => {
       const { stdout } = await shell.run('ulimit -f; nice; grep Cpus_allowed_list /proc/self/status');
       console.log(stdout);
       process.exit();
     });`,
  );
  await pids();
  const pid = String(host.pid);
  execFileSync('prlimit', ['--pid', pid, '--fsize=1048576:1048576']);
  execFileSync('renice', ['-n', '7', '-p', pid], { stdio: 'ignore' });
  const cpu = /^Cpus_allowed_list:\t(\d+)/m.exec(readFileSync('/proc/self/status', 'latin1'))?.[1] ?? '';
  execFileSync('taskset', ['-p', '-c', cpu, pid], { stdio: 'ignore' });
  host.stdin.write('go');
  await closed;
  expect(rest().trim()).toBe(`1024\n7\nCpus_allowed_list:\t${cpu}`);
});

rootTest('a job that uses up the processes of the user does not end the jobs of others', async () => {
  const { closed, rest } = hosting(
    `const victim = await shell.spawn('echo begun; read line; echo "$line"');
     const first = waitingPids()[0];
     const other = await makeShellCap({ mounts: {} });
     const attacker = await other.spawn('for n in {1..80}; do sleep 60 & done; echo full; wait');
     await attacker.stdout.next();
     // The attacker has more processes than this limit, so no waiting program can be forked for another job.
     execFileSync('prlimit', ['--pid', String(first), '--nproc=60:60']);
     const codes = [];
     for (let n = 0; n < 3; n += 1) codes.push(await other.run(':').then(({ status }) => status, ({ code }) => code));
     await victim.write('lives\\n').catch(() => {});
     const { status, stdout } = await victim.wait();
     console.log(JSON.stringify({ status, stdout, codes, isAnother: waitingPids()[0] !== first }));
     process.exit();`,
    { user: USER + 7 },
  );
  await closed;
  expect(JSON.parse(rest())).toEqual({ status: 0, stdout: 'begun\nlives\n', codes: [0, 0, 0], isAnother: true });
});

rootTest('a host that has given up its rights uses no waiting program that still has them', async () => {
  const folder = scratch();
  writeFileSync(join(folder, 'secret'), 'HOB-CANARY', { mode: 0o600 });
  const { closed, rest } = hosting(
    `process.setgroups([]); process.setegid(${USER}); process.seteuid(${USER});
     console.log(await shell.run('cat /ws/secret').then(({ stdout }) => stdout, (error) => error.code));
     process.exit();`,
    { mounts: `{ '/ws': await openFsCap(${JSON.stringify(folder)}) }` },
  );
  await closed;
  expect(rest()).not.toContain('HOB-CANARY');
  expect(rest()).not.toBe('');
});
