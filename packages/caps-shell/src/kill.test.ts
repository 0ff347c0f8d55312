/** Nothing is left of jobs that resist their end, of a killed host, of many jobs, or of their output. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { expect, onTestFinished } from 'vitest';
import { volume } from '../../../test/depth.ts';
import { requires } from '../../../test/needs.ts';
import { descriptors, directory, mark, noneWaits, processesWith, scratch, shell } from '../test/shell.ts';

const test = requires('linux', 'cc', 'userns');
const later = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/**
 * A hundred processes in sessions of their own that trap whatever can be trapped, and one that waits for
 * them.
 */
const hundred = (seconds: string): string => `
  trap '' TERM HUP INT
  for i in $(seq 100); do setsid sh -c 'trap "" TERM HUP INT QUIT; while :; do sleep ${seconds}; done' & done
  echo ready; while :; do wait; done`;
/** Each process starts two more, until no process can be started, and so on forever. */
const storm = 'b() { b | b & }; trap "" TERM; while :; do b; done 2>/dev/null';

const gone = async (seconds: string): Promise<void> => {
  // After the end of a job this holds at once; after the kill of a host the kernel needs a moment.
  while (processesWith(seconds).length > 0) await later();
};

test('a hundred hostile processes: the job ends when the last one is gone', async () => {
  const sh = await shell();
  for (const how of ['signal', 'close'] as const) {
    const job = await sh.spawn(hundred(mark('941.2310')));
    await job.stdout.next();
    while (processesWith(mark('941.2310')).length < 100) await later();
    if (how === 'signal') await job.signal('KILL');
    else await sh.close();
    await job.wait();
    expect(processesWith(mark('941.2310'))).toEqual([]);
  }
});

test('a fork bomb reaches its limit, and ends with its time', async () => {
  const sh = await shell({ limits: { processes: 60, wallMs: 700 } });
  const ended = await sh.run(`: ${mark('943.5889')}; ${storm}`);
  expect(ended).toMatchObject({ ended: 'timeout', status: 137 });
  expect(processesWith(mark('943.5889'))).toEqual([]);
});

test('a killed host leaves nothing, not even of a job that traps every signal', async () => {
  const resolve = new URL('../../../scripts/resolve.mjs', import.meta.url).href;
  const child = new URL('../test/host-child.ts', import.meta.url).pathname;
  const host = spawn(process.execPath, ['--import', resolve, child, hundred(mark('944.7213'))], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(async () => {
    host.kill('SIGKILL');
    if (host.exitCode === null && host.signalCode === null) await once(host, 'exit');
  });
  await once(host.stdout, 'data');
  while (processesWith(mark('944.7213')).length < 100) await later();
  host.kill('SIGKILL');
  await once(host, 'close');
  await gone(mark('944.7213'));
});

/** Each round is four jobs in each of four lanes. */
const ROUNDS = volume(8, 63);

test(`${ROUNDS * 16} jobs in a row leak no descriptor, process, mount or listener`, async () => {
  const folder = scratch();
  const sh = await shell({ mounts: { '/ws': await directory(folder) } });
  // Other tests mount in their own folders of the temporary directory meanwhile.
  const mounts = (): readonly string[] =>
    readFileSync('/proc/self/mountinfo', 'latin1')
      .split('\n')
      .map((line) => line.split(' ')[4] ?? '')
      .filter((at) => !at.startsWith(`${tmpdir()}/`) || at.startsWith(folder));
  await sh.run('true');
  await noneWaits();
  const before = { open: descriptors(), mounts: mounts() };
  const heap = (): number => process.memoryUsage().heapUsed;
  const used = heap();
  const four = async (): Promise<void> => {
    // Each in another way: over by itself, killed, never started, its output unread.
    await sh.run(`: ${mark('946.9041')}; echo x > /ws/a`);
    const job = await sh.spawn(`sleep ${mark('946.9041')}`);
    await job.signal('KILL');
    await job.wait();
    await sh.run('x', { limits: { wallMs: 1_000_000 } }).catch(() => {});
    const unread = await sh.spawn(`: ${mark('946.9041')}; echo unread`);
    await unread.end();
    await unread.wait();
    await sh.run('exit 1');
  };
  const lane = async (): Promise<void> => {
    for (let n = 0; n < ROUNDS; n += 1) await four();
  };
  await Promise.all([lane(), lane(), lane(), lane()]);
  await noneWaits();
  expect({ open: descriptors(), mounts: mounts() }).toEqual(before);
  expect(processesWith(mark('946.9041'))).toEqual([]);
  // Each job that was kept would be more than this with its buffers and streams.
  expect(heap() - used).toBeLessThan(64 << 20);
}, 400_000);

test('half a gigabyte of output is not kept here, with any reader', async () => {
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
  // A few MB are held, and what the collector has not freed yet on a busy machine.
  expect(most - before).toBeLessThan(128 << 20);
});
