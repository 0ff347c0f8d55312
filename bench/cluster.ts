/**
 * How long a tenant of a cluster is not served when it moves from one process to another: after a pin, after its process
 * leaves, and after its process is killed.
 *
 * The other process is this one. The time ends with the first durable answer here.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openCluster as openServer } from '../test/postgres-cluster.ts';
import { joinCluster } from './cluster-counters.ts';
import type { Suite } from './measure.ts';

const folder = mkdtempSync(join(tmpdir(), 'hob-bench-'));
const server = await openServer();
const here = await joinCluster(server.url, 'here', join(folder, 'here'));
await here.cluster.addTenant('acme');

const children = new Set<ChildProcess>();
/** Starts the other process, and moves the tenant there. */
async function other(): Promise<ChildProcess> {
  const child = fork(new URL('cluster-host.ts', import.meta.url), [server.url, 'there', join(folder, 'there')]);
  children.add(child);
  const heard = (text: string): Promise<void> =>
    new Promise((then) => child.on('message', (said) => said === text && then()));
  // It may open the tenant before it tells that it has joined.
  const [joined, opened] = [heard('joined'), heard('opened')];
  await joined;
  await here.cluster.pin('acme', 'there');
  await opened;
  return child;
}

/** ms from `act` to the first durable answer here. */
async function away(act: (child: ChildProcess) => unknown): Promise<number> {
  const child = await other();
  const over = new Promise((then) => child.once('exit', then));
  const began = performance.now();
  void act(child);
  await here.next('acme');
  const took = performance.now() - began;
  child.kill('SIGKILL');
  await over;
  children.delete(child);
  return took;
}

export const suite: Suite = {
  name: 'cluster',
  cases: [
    {
      name: 'a tenant is pinned to another process: to the first durable answer there',
      ...{ n: 1, rounds: 5, unit: 'ms' },
      ours: () => away(() => here.cluster.pin('acme', 'here')),
      goal: { text: '<= 1 s', met: ({ ours }) => ours <= 1000 },
    },
    {
      name: 'the process of a tenant leaves: to the first durable answer of the next',
      ...{ n: 1, rounds: 5, unit: 'ms' },
      ours: () => away((child) => child.send('leave')),
      goal: { text: '<= 1 s', met: ({ ours }) => ours <= 1000 },
    },
    {
      name: 'the process of a tenant is killed (-9): to the first durable answer of the next',
      ...{ n: 1, rounds: 5, unit: 'ms' },
      ours: () => away((child) => child.kill('SIGKILL')),
      goal: { text: '<= 10 s', met: ({ ours }) => ours <= 10_000 },
    },
  ],
  async close() {
    for (const child of children) child.kill('SIGKILL');
    await here.cluster.close();
    await server.remove();
    rmSync(folder, { recursive: true, force: true });
  },
};
