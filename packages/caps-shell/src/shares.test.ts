/**
 * One job cannot use up what the kernel counts for a whole user: the host and other jobs keep their share.
 */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, onTestFinished } from 'vitest';
import { needs, requires } from '../../../test/needs.ts';
import { starter } from '../test/as.ts';
import { type Builds, builds } from '../test/builds.ts';
import { start, textOf } from '../test/world.ts';

const test = requires('linux', 'cc', 'userns', 'unprivileged');
const asRoot = requires('linux', 'cc', 'userns', 'root');

let all: Builds;
// Both sorts of tests use it.
requires('linux', 'cc', 'userns').beforeAll(() => {
  all = builds();
});

describe.each(needs('root') ? (['root', 'user'] as const) : (['user'] as const))('as %s', (name) => {
  test('a job has 8 inotify instances, with any number of processes', async () => {
    const who = await starter(name, all.tool);
    onTestFinished(() => who.close());
    const text = 'for i in 1 2 3; do /opt/tool inotify 50 1 & done; wait';
    const { stdout } = await who.run(text, { trees: { '/opt/tool': all.tool } });
    const made = stdout.trim().split('\n').map(Number);
    expect(made).toHaveLength(3);
    expect(made.reduce((sum, each) => sum + each, 0)).toBe(8);
  });
});

/** Runs `text` beside a job that runs `taking`, once that has reported how much it got. */
async function beside(taking: string, text: string, built: string): Promise<string> {
  const trees = { '/opt/tool': all.tool };
  const taker = start(taking, { built, trees });
  taker.stderr.resume();
  await once(taker.stdout, 'data');
  const job = start(text, { built, trees });
  job.stderr.resume();
  const said = await textOf(job.stdout);
  taker.signal(9);
  taker.stdout.resume();
  await Promise.all([taker.closed, job.closed]);
  return said.trim();
}

asRoot('as root: pipes of one job cost no other job the size of its pipes', async () => {
  const [taking, text] = ['/opt/tool pipes 1500 1000', '/opt/tool pipes 1 0'];
  expect(await beside(taking, text, all.sandbox)).toBe('65536');
  expect(Number(await beside(taking, text, all.without('own-id')))).toBeLessThan(65536);
});

asRoot('as root: inotify instances of a job are not those of the host, and not those of another job', async () => {
  const [taking, text] = ['/opt/tool inotify 1000 1000', '/opt/tool inotify 100 0'];
  const host = (): number => Number(spawnSync(all.tool, ['inotify', '1', '0'], { encoding: 'utf8' }).stdout);
  const built = all.without('inotify');
  expect(await beside(taking, text, built)).toBe('100');
  expect(await beside(taking, text, all.without('inotify', 'own-id'))).not.toBe('100');
  expect(host()).toBe(1);
});
