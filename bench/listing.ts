/**
 * What it costs a granter to list 100,000 grants of a durable host, page by page: all of them, those of one session, and the live ones.
 *
 * Half of them are of one session. The host runs in this process; what a wire adds is in `captp`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Grant, type Granter, openHost } from '@hob/host';
import { E } from '@hob/vat';
import type { Case, Suite } from './measure.ts';

const count = 100_000;
const atOnce = 1000;

const folder = mkdtempSync(join(tmpdir(), 'hob-bench-listing-'));
const host = await openHost({ stateDir: join(folder, 'state') });
await host.offer('bell', { ring: async () => 'ding' });
const { granter } = await host.addGranter('owner');
const sessions = await Promise.all(['one', 'other'].map((name) => host.openSession({ name, granters: ['owner'] })));
for (let made = 0; made < count; made += atOnce)
  await Promise.all(
    Array.from({ length: atOnce }, (_, n) =>
      E(granter).grant(sessions[n % 2]?.id as string, `p${made + n}`, 'bell', { for: 3_600_000 }),
    ),
  );

/** ms for all pages; the longest wait of one page is no longer than that. */
async function list(filter: NonNullable<Parameters<Granter['list']>[0]>, expected: number): Promise<number> {
  const began = performance.now();
  let listed = 0;
  for (let after: string | undefined; ; ) {
    const page = (await E(granter).list({ ...filter, ...(after === undefined ? {} : { after }) })) as readonly Grant[];
    listed += page.length;
    after = page.at(-1)?.id;
    if (after === undefined) break;
  }
  if (listed !== expected) throw new Error(`${listed} grants were listed, not ${expected}`);
  return performance.now() - began;
}

const goal = { text: '<= 2 s', met: ({ ours }: { ours: number }): boolean => ours <= 2000 };
const each = { n: 1, rounds: 3, unit: 'ms', slow: true, goal } as const;
const cases: readonly Case[] = [
  { name: 'list 100,000 grants in pages', ours: () => list({}, count), ...each },
  { name: 'list 50,000 grants of one session among 100,000', ours: () => list({ session: sessions[0]?.id as string }, count / 2), ...each }, // biome-ignore format: one line
  { name: 'list 100,000 live grants in pages', ours: () => list({ live: true }, count), ...each },
];

export const suite: Suite = {
  name: 'listing',
  cases,
  async close() {
    await host.close();
    rmSync(folder, { recursive: true, force: true });
  },
};
