/**
 * The time that a new connection of a granter and a `revoke` over it take, while an agent enters 254
 * children and holds 256 requests whose body never ends. Ours is with that crowd, the peer is the same host
 * without it. The crowd is a process of its own.
 */
import './lockdown.ts';
import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Granter, openHost } from '@hob/host';
import { connect, E } from '@hob/vat';
import { type Case, percentile, type Suite } from './measure.ts';

const folder = mkdtempSync(join(tmpdir(), 'hob-bench-door-'));
const host = await openHost({ stateDir: folder });
await host.offer('bell', { ring: async () => 'ding' });
const { granter, secret } = await host.addGranter('owner');
const { url } = await host.serve();
const work = await host.openSession({ name: 'work', granters: ['owner'] });
const bad = await host.openSession({ name: 'bad', granters: ['owner'] });
let crowd: ChildProcess | undefined;
let made = 0;

async function crowded(): Promise<void> {
  if (crowd !== undefined) return;
  crowd = fork(new URL('./door-crowd.ts', import.meta.url), [url, bad.secret]);
  const child = crowd;
  await new Promise<void>((resolve, reject) => {
    child.once('message', () => resolve());
    child.once('exit', (code) => reject(new Error(`the crowd ended with ${code}`)));
  });
}

async function calm(): Promise<void> {
  if (crowd === undefined) return;
  const gone = new Promise<void>((resolve) => void crowd?.once('exit', () => resolve()));
  crowd.kill('SIGKILL');
  await gone;
  crowd = undefined;
}

/** The slowest of `n`, in ms. */
async function revokes(n: number): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < n; i += 1) {
    made += 1;
    const { id } = (await E(granter).grant(work.id, `bell-${'abcdefghjk'[made % 10]}${made * 7}`, 'bell', {})) as {
      readonly id: string;
    };
    const began = performance.now();
    const connection = await connect<Granter>(url, { secret });
    await E(connection.bootstrap).revoke({ grant: id }, 'bench');
    times.push(performance.now() - began);
    connection.close();
    await connection.closed;
  }
  return percentile(times, 100);
}

const revoke: Case = {
  name: 'enter and revoke, slowest of 20, with 254 children entering and 256 endless requests (peer: nobody else)',
  n: 20,
  rounds: 3,
  unit: 'ms',
  async ours(n) {
    await crowded();
    return revokes(n);
  },
  async peer(n) {
    await calm();
    return revokes(n);
  },
  goal: { text: '<= 1000 ms', met: ({ ours }) => ours <= 1000 },
};

export const suite: Suite = {
  name: 'door',
  cases: [revoke],
  async close() {
    await calm();
    await host.close();
    rmSync(folder, { recursive: true, force: true });
  },
};
