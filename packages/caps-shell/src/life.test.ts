/** A job ends with its host, in spite of everything that it does, and nothing is left. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { type Builds, builds } from '../test/builds.ts';
import { start, textOf } from '../test/world.ts';

const test = requires('linux', 'cc', 'userns');
let all: Builds;
test.beforeAll(() => {
  all = builds();
});

/** Processes of this machine whose command line has the mark. */
function marked(mark: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0').includes(mark);
      } catch {
        return false;
      }
    });
}

async function until(what: () => boolean): Promise<void> {
  for (const end = Date.now() + 60_000; !what(); ) {
    if (Date.now() > end) throw new Error('it did not come to pass');
    await new Promise((done) => setTimeout(done, 5));
  }
}

/**
 * Everything a program can do to outlive: leave its session and group, trap every signal, fork without end.
 */
const hostile = (mark: string): string => `
  for i in $(seq 50); do setsid bash -c 'trap "" TERM HUP INT QUIT USR1 USR2; sleep 1000 & while :; do sleep 1000; done' ${mark} & done
  trap "" TERM HUP INT; echo up; while :; do sleep 1000; done`;

/** Another node that starts a job and does nothing else. */
function host(text: string, built: string): ChildProcess {
  const program = `
    import { start } from ${JSON.stringify(join(import.meta.dirname, '..', 'test', 'world.ts'))};
    const job = start(${JSON.stringify(text)}, { built: ${JSON.stringify(built)}, limits: { processes: 400 } });
    const up = new Promise((done) => job.stdout.once('data', done));
    job.stderr.resume();
    const { pid } = await job.started;
    await up;
    console.log(pid);
    setInterval(() => {}, 1000);`;
  return spawn(process.execPath, ['--no-warnings', '--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

async function hosted(text: string, built: string): Promise<{ host: ChildProcess; pid: number }> {
  const child = host(text, built);
  const gone = new Promise((done) => child.once('close', done));
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await gone;
  });
  const line = await new Promise<string>((done) => child.stdout?.once('data', (data) => done(String(data))));
  return { host: child, pid: Number(line) };
}

test('a hundred processes that left their group and trap every signal are gone when the job is killed', async () => {
  const mark = `hob-mark-${process.pid}-kill`;
  const job = start(hostile(mark), { limits: { processes: 400 } });
  await new Promise((done) => job.stdout.once('data', done));
  job.stdout.resume();
  job.stderr.resume();
  await until(() => marked(mark).length >= 50);
  job.signal(9);
  expect(await job.ended).toMatchObject({ how: 'killed' });
  expect(marked(mark)).toEqual([]);
  await job.closed;
});

test('the time of processes that were killed before anybody waited for them is counted', async () => {
  const used = 'read -r -a s < /proc/$p/stat; [ $((s[13] + s[14])) -gt 50 ]';
  const job = start(`while :; do :; done & p=$!; until { ${used}; }; do sleep 0.1; done; echo used; wait`);
  job.stderr.resume();
  await new Promise((done) => job.stdout.once('data', done));
  job.signal(9);
  expect((await job.ended).cpuUs).toBeGreaterThan(20_000);
  await job.closed;
});

test('nothing is left of a job whose host was killed with SIGKILL', async () => {
  const mark = `hob-mark-${process.pid}-host`;
  const { host } = await hosted(hostile(mark), all.sandbox);
  await until(() => marked(mark).length >= 50);
  host.kill('SIGKILL');
  await until(() => marked(mark).length === 0);
});

test('a frozen world ends with its host, by the parent-death signal; without it nothing would end it', async () => {
  for (const [built, left] of [
    [all.sandbox, false],
    [all.without('pdeathsig'), true],
  ] as const) {
    const mark = `hob-mark-${process.pid}-frozen-${left}`;
    const { host, pid } = await hosted(`bash -c 'sleep 1000; :' ${mark} & echo up; wait`, built);
    const outer = Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
    // Pid 1 cannot look at its pipe while it is stopped.
    process.kill(pid, 'SIGSTOP');
    process.kill(outer, 'SIGKILL');
    host.kill('SIGKILL');
    await until(() => marked('hob-sandbox').every((each) => each !== outer));
    if (left) {
      await new Promise((done) => setTimeout(done, 100));
      expect(marked(mark)).not.toEqual([]);
      process.kill(pid, 'SIGKILL');
    }
    await until(() => marked(mark).length === 0);
  }
});

test('a job ends when the host closes its lifeline, though the host lives', async () => {
  for (const [built, left] of [
    [all.sandbox, false],
    [all.without('lifeline'), true],
  ] as const) {
    const job = start('echo up; sleep 1000', { built });
    const { pid } = await job.started;
    await new Promise((done) => job.stdout.once('data', done));
    job.stdout.resume();
    job.stderr.resume();
    let over = false;
    void job.ended.then(() => {
      over = true;
    });
    job.abandon();
    if (left) {
      await new Promise((done) => setTimeout(done, 100));
      expect(over).toBe(false);
      process.kill(pid, 'SIGKILL');
    }
    expect(await job.ended).toMatchObject({ how: left ? 'lost' : 'killed' });
    await job.closed;
  }
});

test('200 jobs, in sequence and in parallel, leave nothing', async () => {
  for (let round = 0; round < 20; round += 1) {
    const jobs = Array.from({ length: 10 }, () => start('echo $$'));
    const outcomes = jobs.map(async (job) => {
      job.stderr.resume();
      const text = await textOf(job.stdout);
      await job.closed;
      return { text, ...(await job.ended) };
    });
    for (const outcome of await Promise.all(outcomes))
      expect(outcome).toMatchObject({ text: '2\n', how: 'exit', code: 0 });
  }
});
