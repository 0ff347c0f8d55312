/**
 * A durable host with many grants. It measures the cost for a granter of listing them page by page (all of
 * them, those of one session, the live ones), and the longest time that the end of a session, the end of a
 * grace time, or the revocation of its grants, keeps the host from anything else.
 *
 * Half of the listed grants are of one session. There are 10,000 of them, and 100,000 with `--full`; making
 * those takes a minute and a half on a busy machine. The host runs in this process. `captp` measures what a
 * wire adds.
 */
import './lockdown.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Grant, type Granter, openHost } from '@hob/host';
import { connect, E } from '@hob/vat';
import type { Case, Suite } from './measure.ts';

const count = process.argv.includes('--full') ? 100_000 : 10_000;
const atOnce = 1000;
const shown = (n: number): string => n.toLocaleString('en');

const folder = mkdtempSync(join(tmpdir(), 'hob-bench-listing-'));
/** Only sessions that somebody left have a grace time. */
const host = await openHost({ stateDir: join(folder, 'state'), graceMs: 0 });
const { url } = await host.serve();
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

/**
 * Runs `body` and returns the most ms of CPU between two rounds of the event loop, so no turn takes more. By
 * the clock, other processes of the machine would count.
 */
async function longestWait(body: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let over = false;
  let last = used();
  const look = (): void => {
    const now = used();
    longest = Math.max(longest, now - last);
    last = now;
    if (!over) setImmediate(look);
  };
  setImmediate(look);
  await body();
  over = true;
  return longest;
}

/** The collector runs also where nothing else does. */
const idle = (): Promise<number> => longestWait(() => new Promise((done) => setTimeout(done, 1000)));

async function many(wanted: number, make: (n: number) => Promise<unknown>): Promise<void> {
  for (let made = 0; made < wanted; made += atOnce)
    await Promise.all(Array.from({ length: Math.min(atOnce, wanted - made) }, (_, n) => make(made + n)));
}

const used = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};

let opened = 0;
async function withGrants(grants: number, end: (session: string) => Promise<unknown>): Promise<number> {
  opened += 1;
  const { id } = await host.openSession({ name: `big-${opened}`, granters: ['owner'] });
  await many(grants, (n) => E(granter).grant(id, `p${n}`, 'bell', { for: 3_600_000 }) as unknown as Promise<unknown>);
  return await longestWait(() => end(id));
}

async function withChildren(children: number): Promise<number> {
  opened += 1;
  const { id } = await host.openSession({ name: `big-${opened}`, granters: ['owner'] });
  await many(children, (n) => host.openSession({ name: `c${n}`, granters: ['owner'], parent: id }));
  return await longestWait(() => E(granter).end(id) as unknown as Promise<void>);
}

/** Somebody enters the session and leaves it: its grace time is over at once. */
async function graceEnds(grants: number): Promise<number> {
  opened += 1;
  const session = await host.openSession({ name: `big-${opened}`, granters: ['owner'] });
  const { id, secret } = session;
  await many(grants, (n) => E(granter).grant(id, `p${n}`, 'bell', { for: 3_600_000 }) as unknown as Promise<unknown>);
  const connection = await connect(url, { secret });
  return await longestWait(async () => {
    connection.close();
    await session.ended;
  });
}

const goal = { text: '<= 2 s', met: ({ ours }: { ours: number }): boolean => ours <= 2000 };
const short = { text: 'no turn over 50 ms', met: ({ ours }: { ours: number }): boolean => ours <= 50 };
const once = { n: 1, rounds: 1, unit: 'ms', slow: true, goal: short, peer: idle } as const;
const each = { n: 1, rounds: 3, unit: 'ms', slow: true, goal } as const;
const cases: readonly Case[] = [
  { name: `list ${shown(count)} grants in pages`, ours: () => list({}, count), ...each },
  { name: `list ${shown(count / 2)} grants of one session among ${shown(count)}`, ours: () => list({ session: sessions[0]?.id as string }, count / 2), ...each }, // biome-ignore format: one line
  { name: `list ${shown(count)} live grants in pages`, ours: () => list({ live: true }, count), ...each },
  { name: 'end a session with 10,000 grants, longest turn vs idle, CPU', ours: () => withGrants(10_000, (id) => E(granter).end(id) as unknown as Promise<void>), ...once }, // biome-ignore format: one line
  { name: 'end a session with 3,333 children, longest turn vs idle, CPU', ours: () => withChildren(3333), ...once },
  { name: 'a grace time ends, session with 10,000 grants, longest turn vs idle, CPU', ours: () => graceEnds(10_000), ...once }, // biome-ignore format: one line
  { name: 'revoke the 10,000 grants of a session, longest turn vs idle, CPU', ours: () => withGrants(10_000, (session) => E(granter).revoke({ session }) as unknown as Promise<void>), ...once }, // biome-ignore format: one line
];

export const suite: Suite = {
  name: 'listing',
  cases,
  async close() {
    await host.close();
    rmSync(folder, { recursive: true, force: true });
  },
};
