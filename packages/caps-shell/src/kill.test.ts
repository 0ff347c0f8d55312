/** Nothing is left: of jobs that do not want to end, of a host that is killed, of a thousand jobs, of what they wrote. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { expect, onTestFinished } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { descriptors, directory, processesWith, shell } from '../test/shell.ts';

const test = requires('linux', 'cc', 'userns');
const later = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A hundred processes in sessions of their own that trap whatever can be trapped, and one that waits for them. */
const hundred = (mark: string): string => `
  trap '' TERM HUP INT
  for i in $(seq 100); do setsid sh -c 'trap "" TERM HUP INT QUIT; while :; do sleep ${mark}; done' & done
  echo ready; while :; do wait; done`;
/** Each starts two more, until there is no process to be had, and so on for ever. */
const storm = 'b() { b | b & }; trap "" TERM; while :; do b; done 2>/dev/null';

const gone = async (mark: string): Promise<void> => {
  // With a job told as over that is at once; with a host that was killed it is the kernel's next step.
  while (processesWith(mark).length > 0) await later();
};

test('a hundred hostile processes: the job ends when the last one is gone', async () => {
  const sh = await shell();
  for (const how of ['signal', 'close'] as const) {
    const job = await sh.spawn(hundred('41.2310'));
    await job.stdout.next();
    while (processesWith('41.2310').length < 100) await later();
    if (how === 'signal') await job.signal('KILL');
    else await sh.close();
    await job.wait();
    expect(processesWith('41.2310')).toEqual([]);
  }
});

test('a fork storm runs into its limit, and ends with its time', async () => {
  const sh = await shell({ limits: { processes: 60, wallMs: 700 } });
  const ended = await sh.run(`: 43.5889; ${storm}`);
  expect(ended).toMatchObject({ ended: 'timeout', status: 137 });
  expect(processesWith('43.5889')).toEqual([]);
});

test('a host that is killed leaves nothing, also of a job that traps everything', async () => {
  const resolve = new URL('../../../scripts/resolve.mjs', import.meta.url).href;
  const child = new URL('../test/host-child.ts', import.meta.url).pathname;
  const host = spawn(process.execPath, ['--import', resolve, child, hundred('44.7213')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(async () => {
    host.kill('SIGKILL');
    if (host.exitCode === null && host.signalCode === null) await once(host, 'exit');
  });
  await once(host.stdout, 'data');
  while (processesWith('44.7213').length < 100) await later();
  host.kill('SIGKILL');
  await once(host, 'close');
  await gone('44.7213');
});

test('a thousand jobs in a row leak no descriptor, process, mount or listener', async () => {
  const cap = await directory();
  const sh = await shell({ mounts: { '/ws': cap } });
  const mounts = (): number => readFileSync('/proc/self/mountinfo', 'latin1').split('\n').length;
  await sh.run('true');
  const before = { open: descriptors(), mounts: mounts() };
  const heap = (): number => process.memoryUsage().heapUsed;
  const used = heap();
  const four = async (): Promise<void> => {
    // Each in another way: over by itself, killed, never started, its output unread.
    await sh.run(': 46.9041; echo x > /ws/a');
    const job = await sh.spawn('sleep 46.9041');
    await job.signal('KILL');
    await job.wait();
    await sh.run('x', { limits: { wallMs: 1_000_000 } }).catch(() => {});
    const unread = await sh.spawn(': 46.9041; echo unread');
    await unread.end();
    await unread.wait();
    await sh.run('exit 1');
  };
  const lane = async (): Promise<void> => {
    for (let n = 0; n < 63; n += 1) await four();
  };
  await Promise.all([lane(), lane(), lane(), lane()]);
  expect({ open: descriptors(), mounts: mounts() }).toEqual(before);
  expect(processesWith('46.9041')).toEqual([]);
  // Each job that was kept would be more than this with its buffers and streams.
  expect(heap() - used).toBeLessThan(64 << 20);
}, 400_000);

test('half a gigabyte of output takes a few MB here, whoever reads', async () => {
  const sh = await shell({ limits: { outputBytes: 2 ** 40 } });
  let most = 0;
  let done = false;
  const watch = (async () => {
    while (!done) {
      most = Math.max(most, process.memoryUsage().arrayBuffers);
      await later();
    }
  })();
  const before = process.memoryUsage().arrayBuffers;
  const { truncated } = await sh.run('head -c 536870912 /dev/zero');
  done = true;
  await watch;
  expect(truncated).toBe(true);
  expect(most - before).toBeLessThan(16 << 20);
});
