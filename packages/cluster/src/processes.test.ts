/** Processes of one cluster that are killed, stopped and ended, on a real server. */
import { setTimeout as wait } from 'node:timers/promises';
import { CapError } from '@hob/vat';
import { expect, onTestFinished } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { openCluster as openServer, serverOfFile } from '../../../test/postgres-cluster.ts';
import { databaseOn } from '../../../test/postgres-database.ts';
import { machine } from '../test/machines.ts';
import { Life, Said } from '../test/processes.ts';

const test = requires('postgres');
const server = serverOfFile(test);
const LEASE_MS = 1000;

async function scene() {
  const { url } = await databaseOn(server.cluster);
  const said = new Said();
  const watcher = await machine(url, 'watcher', {
    open: async () => {
      throw new CapError('unavailable', 'it only watches');
    },
  });
  const [one, two] = ['one', 'two'].map((name) => new Life(said, { url, name, leaseMs: LEASE_MS })) as [Life, Life];
  await Promise.all([one.joined, two.joined]);
  await watcher.cluster.addTenant('acme');
  await watcher.cluster.pin('acme', 'one');
  const answers = (of: Life): number => said.count('answer', 'acme', of);
  /** Resolves when a process has answered more often than before. */
  const works = async (of: Life): Promise<void> => {
    const before = answers(of);
    await expect.poll(() => answers(of), { interval: 10 }).toBeGreaterThan(before + 2);
  };
  await works(one);
  return { said, watcher, one, two, answers, works };
}

test('a process that was stopped for longer than its lease answers nothing when it goes on, and is a member again', async () => {
  const { said, watcher, one, two, answers, works } = await scene();
  one.child.kill('SIGSTOP');
  await expect.poll(async () => (await watcher.cluster.status()).hosts.find(({ name }) => name === 'one')?.live).toBe(false); // biome-ignore format: one line
  await watcher.cluster.pin('acme', 'two');
  await works(two);
  const before = answers(one);
  one.child.kill('SIGCONT');
  await expect.poll(async () => (await watcher.cluster.status()).hosts.find(({ name }) => name === 'one')?.live).toBe(true); // biome-ignore format: one line
  await wait(500);
  await works(two);
  // An answer may have been on its way when it was stopped.
  expect(answers(one)).toBeLessThanOrEqual(before + 1);
  await watcher.cluster.pin('acme', 'one');
  await works(one);
  said.check();
});

test('a server that crashes and starts again has the same hosts and tenants after it', async () => {
  const own = await openServer();
  onTestFinished(() => own.remove());
  const { url } = await databaseOn(own);
  const one = await machine(url, 'one', { leaseMs: 20_000 });
  const two = await machine(url, 'two', { leaseMs: 20_000 });
  for (const [name, at] of [
    ['a', 'one'],
    ['b', 'two'],
  ] as const) {
    // biome-ignore format: one line
    await one.cluster.addTenant(name);
    await one.cluster.pin(name, at);
  }
  await expect.poll(() => [one.hosts.has('a'), two.hosts.has('b')]).toEqual([true, true]);
  expect([await one.count('a'), await two.count('b')]).toEqual([0, 0]);
  await own.stop('immediate');
  await own.start();
  const counted = (at: typeof one, name: string): Promise<number | string> =>
    at.hosts.has(name) ? at.count(name).catch((error: { code: string }) => error.code) : Promise.resolve('away');
  await expect.poll(() => counted(one, 'a')).toEqual(expect.any(Number));
  await expect.poll(() => counted(two, 'b')).toEqual(expect.any(Number));
  await expect.poll(async () => (await one.cluster.status()).hosts.map(({ live }) => live)).toEqual([true, true]);
});
