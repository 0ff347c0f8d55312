/**
 * The shell cap beside a plain child process, and beside bubblewrap that makes the same world.
 *
 * Promise: each side runs the same text over the same files, from the call until the output is read and the
 * process is gone. Rounds alternate. bubblewrap comes from HOB_BWRAP or PATH. Without it its rows are left
 * out, and the first line says so.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { openFsCap } from '@hob/caps-fs';
import { makeShellCap } from '@hob/caps-shell';
import { type Case, type Goal, percentile, type Suite } from './measure.ts';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'hob-bench-shell-'));
fs.chmodSync(folder, 0o755);
const tree = path.join(folder, 'tree');
let made = false;
/** For the cases that work on files; the others should not wait for them. */
function makeFiles(): void {
  if (made) return;
  made = true;
  // 20,000 files of some 4 KB in 200 directories.
  const line = 'the quick brown fox jumps over the lazy dog 0123456789\n';
  for (let d = 0; d < 200; d += 1) {
    fs.mkdirSync(path.join(tree, `${d}`), { recursive: true });
    for (let i = 0; i < 100; i += 1)
      fs.writeFileSync(path.join(tree, `${d}/${i}.txt`), `${d} ${i}\n${line.repeat(73)}`);
  }
  const source = Array.from({ length: 400 }, (_, n) => `int f${n}(int x) { return x * ${n} + (x >> ${n % 31}); }`);
  for (let n = 0; n < 10; n += 1) fs.writeFileSync(path.join(folder, `c${n}.c`), source.join('\n'));
}

const dir = await openFsCap(folder);
const shell = await makeShellCap({
  mounts: { '/ws': dir },
  limits: { wallMs: 600_000, outputBytes: 2 ** 40, fileBytes: 2 ** 34 },
});
const quiet = { ...process.env, HOME: folder, LANG: 'C.UTF-8' };

async function drained(child: ChildProcess): Promise<void> {
  child.stdout?.resume();
  child.stderr?.resume();
  const [code] = (await once(child, 'close')) as [number];
  if (code !== 0) throw new Error(`a peer ended with ${code}`);
}
const plain = (text: string): Promise<void> =>
  drained(spawn('/bin/bash', ['-c', text], { cwd: folder, env: quiet, stdio: ['ignore', 'pipe', 'pipe'] }));
async function ours(text: string): Promise<void> {
  const { status, stderr } = await shell.run(text);
  if (status !== 0) throw new Error(`ours ended with ${status}: ${stderr}`);
}

const bwrap = [process.env['HOB_BWRAP'] ?? 'bwrap'].find((name) => spawnSync(name, ['--version']).status === 0);
if (bwrap === undefined) process.stderr.write('bubblewrap is not here (HOB_BWRAP, PATH): its rows are left out\n');
/** All namespaces, read-only programs, private /proc /dev /tmp, one directory. No limits, no filter. */
const links = ['bin', 'sbin', 'lib', 'lib64'].filter((name) =>
  fs.lstatSync(`/${name}`, { throwIfNoEntry: false })?.isSymbolicLink(),
);
const world = [
  ...['--unshare-all', '--unshare-user', '--disable-userns', '--die-with-parent', '--new-session', '--cap-drop', 'ALL'],
  ...['--ro-bind', '/usr', '/usr', '--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp', '--bind', folder, '/ws'],
  ...links.flatMap((name) => ['--symlink', `usr/${name}`, `/${name}`]),
  ...['/etc/alternatives', '/etc/ssl', '/etc/ld.so.cache'].flatMap((at) => ['--ro-bind-try', at, at]),
  ...['--hostname', 'hob', '--chdir', '/ws'],
];
const wrapped = (text: string): Promise<void> =>
  drained(
    spawn(bwrap as string, [...world, '/bin/bash', '-c', text], { env: quiet, stdio: ['ignore', 'pipe', 'pipe'] }),
  );

const msEach = (side: (text: string) => Promise<void>, text: string) => async (n: number) => {
  if (text !== 'true') makeFiles();
  const began = performance.now();
  for (let i = 0; i < n; i += 1) await side(text);
  return (performance.now() - began) / n;
};
const times = (bound: number, of = ''): Goal => ({ text: `<= ${bound} x${of}`, met: ({ ratio }) => ratio <= bound });
const atMost = (bound: number, unit: string): Goal => ({
  text: `<= ${bound} ${unit}`,
  met: (row) => row.ours <= bound,
});

const starts: readonly Case[] = [
  {
    name: 'bash -c true vs plain',
    n: 15,
    unit: 'ms',
    ours: msEach(ours, 'true'),
    peer: msEach(plain, 'true'),
    goal: times(1.8),
  },
  ...(bwrap === undefined
    ? []
    : [
        {
          name: 'bash -c true vs bubblewrap',
          n: 15,
          unit: 'ms',
          ours: msEach(ours, 'true'),
          peer: msEach(wrapped, 'true'),
          goal: times(0.85),
        },
      ]),
];

const work: readonly (readonly [name: string, text: string])[] = [
  ['tar of 20,000 files', 'tar cf - tree > /dev/null'],
  ['grep -r over 20,000 files', 'grep -rc nosuchword tree > /dev/null; true'],
  ['find over 20,000 files', 'for i in 1 2 3 4; do find tree -newer c0.c -name "*7.txt" > /dev/null; done'],
  ['gcc, 10 files', 'for i in 0 1 2 3 4 5 6 7 8 9; do gcc -O1 -c c$i.c -o c$i.o; done'],
  ['git add of 20,000 files', 'rm -rf .git; git init -q . && git add tree && rm -rf .git'],
];
const works: readonly Case[] = work.map(([name, text]) => ({
  name: `${name} vs plain`,
  n: 1,
  rounds: 5,
  unit: 'ms',
  slow: true,
  ours: msEach(ours, text),
  peer: msEach(plain, text),
  goal: times(['tar', 'grep', 'find'].some((program) => name.startsWith(program)) ? 1.08 : 1.12),
}));

/** Whether the process descends from this one: other programs of the machine have sandboxes, too. */
function isOurs(pid: string): boolean {
  for (
    let at = pid;
    at !== '0';
    at = /^PPid:\t(\d+)/m.exec(fs.readFileSync(`/proc/${at}/status`, 'latin1'))?.[1] ?? '0'
  )
    if (at === String(process.pid)) return true;
  return false;
}

/** The PSS of the processes below this one with that name, in MB. */
function memoryOf(named: string): number {
  let kb = 0;
  for (const pid of fs.readdirSync('/proc')) {
    try {
      if (!/^\d+$/.test(pid) || !fs.readFileSync(`/proc/${pid}/cmdline`, 'latin1').startsWith(named)) continue;
      if (!isOurs(pid)) continue;
      kb += Number(/^Pss:\s+(\d+)/m.exec(fs.readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1'))?.[1] ?? 0);
    } catch {
      // It has gone, or is not ours to look at.
    }
  }
  return kb / 1024;
}

/** Measures while a program sleeps and the next sandbox program waits. */
async function held(of: () => number): Promise<number> {
  const job = await shell.spawn('echo up; exec sleep 60');
  await job.stdout.next();
  await new Promise((done) => setTimeout(done, 100));
  const mb = of();
  await job.signal('KILL');
  await job.wait();
  return mb;
}

/** Measures bubblewrap while the same program sleeps in it. */
async function heldWrapped(): Promise<number> {
  const child = spawn(bwrap as string, [...world, '/bin/bash', '-c', 'echo up; exec sleep 60'], { env: quiet });
  await once(child.stdout, 'data');
  const mb = memoryOf(bwrap as string);
  child.kill('SIGKILL');
  await once(child, 'close');
  return mb;
}

/** Runs `n` jobs, 32 at a time. Returns ms for each. Rejects if a job fails. */
async function crowd(n: number, one: (lane: number) => Promise<unknown>): Promise<number> {
  const began = performance.now();
  let left = n;
  const lane = async (at: number): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await one(at);
    }
  };
  await Promise.all(Array.from({ length: 32 }, (_, at) => lane(at)));
  return (performance.now() - began) / n;
}

/** The time of each job of the last crowd, in ms from the call to its result. */
let took: number[] = [];
/** Each shell runs 8 at once. */
const shells = await Promise.all(Array.from({ length: 4 }, () => makeShellCap({ mounts: { '/ws': dir } })));
async function jobs(n: number): Promise<number> {
  took = [];
  return await crowd(n, async (lane) => {
    const began = performance.now();
    const { status, stdout } = await (shells[lane % 4] as (typeof shells)[0]).run('echo $$');
    if (status !== 0 || stdout !== '2\n') throw new Error(`a job ended with ${status}: ${stdout}`);
    took.push(performance.now() - began);
  });
}

async function ofEach(n: number, percent: number): Promise<number> {
  await jobs(n);
  return percentile(took, percent);
}
async function ofEachPlain(n: number, percent: number): Promise<number> {
  const each: number[] = [];
  await crowd(n, async () => {
    const began = performance.now();
    await plain('echo $$');
    each.push(performance.now() - began);
  });
  return percentile(each, percent);
}

/** The memory of all sandbox programs while 32 jobs sleep, in MB for each job. */
async function heldBy32(): Promise<number> {
  const all = await Promise.all(
    Array.from({ length: 32 }, async (_, at) => {
      const job = await (shells[at % 4] as (typeof shells)[0]).spawn('echo up; exec sleep 60');
      await job.stdout.next();
      return job;
    }),
  );
  const mb = memoryOf('hob-') / 32;
  for (const job of all) await job.signal('KILL');
  for (const job of all) await job.wait();
  return mb;
}

/** By how many MiB this process is larger at the worst moment than it was. */
async function flooded(): Promise<number> {
  globalThis.gc?.();
  const before = process.memoryUsage.rss();
  let most = 0;
  const look = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 5); // biome-ignore format: one line
  await ours('head -c 2147483648 /dev/zero');
  clearInterval(look);
  return Math.max(0, most - before) / 2 ** 20;
}
async function piped(side: (text: string) => Promise<void>): Promise<number> {
  const began = performance.now();
  await side('head -c 500000000 /dev/zero');
  return performance.now() - began;
}

/** p95 of 20 tries: from the order until `wait` has told that the last of them is gone, in ms. */
async function killed(): Promise<number> {
  const took: number[] = [];
  for (let n = 0; n < 20; n += 1) {
    const job = await shell.spawn(
      `trap '' TERM HUP INT; for i in $(seq 100); do setsid sh -c 'trap "" TERM HUP INT; echo; while :; do sleep 60; done' & done; while :; do wait; done`,
    );
    for (let seen = 0; seen < 100; ) seen += (await job.stdout.next())?.length ?? 100;
    const began = performance.now();
    await job.signal('KILL');
    await job.wait();
    took.push(performance.now() - began);
  }
  return percentile(took, 95);
}

const rest: readonly Case[] = [
  {
    name: 'memory of a job beyond the program (PSS), vs bubblewrap',
    n: 1,
    rounds: 5,
    unit: 'MB',
    ours: () => held(() => memoryOf('hob-sandbox')),
    ...(bwrap !== undefined && { peer: heldWrapped }),
    goal: atMost(0.5, 'MB'),
  },
  {
    name: 'memory of the programs that wait for the next job (PSS)',
    n: 1,
    rounds: 5,
    unit: 'MB',
    ours: () => held(() => memoryOf('hob-waiting')),
  },
  { name: 'memory of each of 32 jobs at once (PSS)', n: 1, rounds: 3, unit: 'MB', ours: heldBy32 },
  {
    name: '1,000 jobs, 32 at once, vs plain',
    n: 1000,
    rounds: 1,
    unit: 'ms each',
    slow: true,
    ours: jobs,
    peer: (n) => crowd(n, () => plain('echo $$')),
    goal: { text: 'no failure', met: () => true },
  },
  {
    name: '1,000 jobs, 32 at once: p50 of one, vs plain',
    n: 1000,
    rounds: 1,
    unit: 'ms',
    slow: true,
    ours: (n) => ofEach(n, 50),
    peer: (n) => ofEachPlain(n, 50),
  },
  {
    name: '1,000 jobs, 32 at once: p99 of one, vs plain',
    n: 1000,
    rounds: 1,
    unit: 'ms',
    slow: true,
    ours: (n) => ofEach(n, 99),
    peer: (n) => ofEachPlain(n, 99),
  },
  {
    name: 'host memory in a flood of 2 GB',
    n: 1,
    rounds: 3,
    unit: 'MiB',
    slow: true,
    ours: flooded,
    goal: atMost(32, 'MiB'),
  },
  {
    name: '500 MB through a pipe vs plain',
    n: 1,
    rounds: 5,
    unit: 'ms',
    slow: true,
    ours: () => piped(ours),
    peer: () => piped(plain),
    goal: { text: '>= 0.6 x its throughput', met: ({ ratio }) => ratio <= 1 / 0.6 },
  },
  {
    name: '100 hostile processes killed, p95',
    n: 1,
    rounds: 1,
    unit: 'ms',
    slow: true,
    ours: killed,
    goal: atMost(150, 'ms'),
  },
];

export const suite: Suite = {
  name: 'shell',
  cases: [...starts, ...rest, ...works],
  async close() {
    await Promise.all([shell, ...shells].map((each) => each.close()));
    await dir.close();
    fs.rmSync(folder, { recursive: true });
  },
};
