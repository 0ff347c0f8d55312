/**
 * The cost for others of a session that floods its granter with requests. The host, the polite sessions and
 * the flooding session are three processes. Ours is with the flood, the peer is the same without it.
 */
import './lockdown.ts';
import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openHost } from '@hob/host';
import { E } from '@hob/vat';
import type { Case, Suite } from './measure.ts';

const folder = mkdtempSync(join(tmpdir(), 'hob-bench-asking-'));
const host = await openHost({ stateDir: folder });
await host.offer('bell', { ring: async () => 'ding' });
const { granter } = await host.addGranter('owner');
const { url } = await host.serve();
const bad = await host.openSession({ name: 'bad', granters: ['owner'] });
const polite = await Promise.all(
  Array.from({ length: 4 }, async (_, n) => {
    const session = await host.openSession({ name: `polite-${n}`, granters: ['owner'] });
    await E(granter).grant(session.id, 'bell', 'bell', { for: 3_600_000 });
    return session.secret;
  }),
);

const child = (...args: readonly string[]): ChildProcess => fork(new URL('./asking-agent.ts', import.meta.url), args);
const told = <T>(from: ChildProcess): Promise<T> =>
  new Promise((resolve, reject) => {
    from.once('message', (said) => resolve(said as T));
    from.once('exit', (code) => reject(new Error(`the other process ended with ${code}`)));
  });
const gone = (of: ChildProcess): Promise<void> => new Promise((resolve) => void of.once('exit', () => resolve()));

async function p99(ms: number, flood: 'same' | 'other' | undefined): Promise<number> {
  const hostile = flood === undefined ? undefined : child(url, 'flood', flood, bad.secret);
  if (hostile !== undefined) await told(hostile);
  const calm = child(url, 'polite', String(ms), ...polite);
  const figure = await told<number>(calm);
  await gone(calm);
  if (hostile !== undefined) {
    const ended = gone(hostile);
    hostile.kill('SIGKILL');
    await ended;
  }
  return figure;
}

const flooded = (name: string, kind: 'same' | 'other'): Case => ({
  name,
  n: 2500,
  rounds: 3,
  unit: 'ms',
  ours: (n) => p99(n, kind),
  peer: (n) => p99(n, undefined),
  goal: { text: '<= 1.5 x without it', met: ({ ratio }) => ratio <= 1.5 },
});

export const suite: Suite = {
  name: 'asking',
  cases: [
    flooded('others’ p99 while a session asks the same over and over', 'same'),
    flooded('others’ p99 while a session asks for something else each time', 'other'),
  ],
  async close() {
    await host.close();
    rmSync(folder, { recursive: true, force: true });
  },
};
