/** The end of a grace time: it looks at some grants in each turn, and ends nothing that lasts. */
import { rmSync } from 'node:fs';
import { E } from '@hob/vat';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { HostProcess } from '../../test/host-process.ts';
import { rowsOf, tablesIn } from '../../test/rows.ts';
import { lines, scratch, type TestHost, testHost } from '../../test/test-host.ts';
import { refundUses } from '../powerbox/pending.ts';
import { beginLook, lookedUpTo } from '../state/lapsing.ts';
import { grantsFrom } from '../state/order.ts';
import { endUnlessLasting, lookAtSome } from './grace.ts';
import { authenticate } from './sessions.ts';

interface Bell {
  ring(): Promise<string>;
}
/** So many grants does one turn look at. */
const slice = 256;

async function open(): Promise<TestHost> {
  const home = await testHost();
  onTestFinished(() => home.close());
  await home.host.offer('bell', { ring: async () => 'ding' });
  return home;
}
const grant = (home: TestHost, petname: string, terms = {}, session = home.session.id): Promise<{ id: string }> =>
  E(home.granter).grant(session, petname, 'bell', terms) as unknown as Promise<{ id: string }>;
const many = async (count: number, make: (n: number) => Promise<unknown>): Promise<void> => {
  for (let at = 0; at < count; at += 200)
    await Promise.all(Array.from({ length: Math.min(200, count - at) }, (_, n) => make(at + n)));
};
const until = (): { until: number } => ({ until: Date.now() + 3_600_000 });
const isOpen = async ({ host, session }: TestHost): Promise<boolean> =>
  (await host.sessions()).some(({ id }) => id === session.id);
const look = (home: TestHost): Promise<boolean | undefined> =>
  tablesIn(home.host, (tables) => lookAtSome(tables, home.session.id)) as Promise<boolean | undefined>;
const begin = (home: TestHost): Promise<unknown> => tablesIn(home.host, (tables) => beginLook(tables, home.session.id));

test('one turn checks at most 256 grants, also of a session with 1,000; the turn after the last check ends it', async () => {
  const home = await open();
  const { id } = home.session;
  await many(1000, (n) => grant(home, `p${n}`));
  await begin(home);
  const numbers = (await tablesIn(home.host, (tables) => [...grantsFrom(tables, id)].map((kept) => kept.id))) as readonly string[]; // biome-ignore format: one line
  const seen: number[] = [];
  for (let said = await look(home); said === undefined; said = await look(home)) {
    expect(await isOpen(home)).toBe(true);
    seen.push(numbers.indexOf((await tablesIn(home.host, (tables) => lookedUpTo(tables, id))) as string) + 1);
  }
  expect(seen).toEqual([slice, 2 * slice, 3 * slice]);
  expect(await isOpen(home)).toBe(false);
  for (;;) if ((await rowsOf(home.host)).endedGroups === 0) break;
  expect(await rowsOf(home.host)).toMatchObject({ sessions: 0, grants: 0, grantIndex: 0 });
});

test('the check at the end of a grace time lets other messages run between its turns', async () => {
  const home = await open();
  await many(2 * slice, (n) => grant(home, `p${n}`));
  const said = tablesIn(home.host, (tables) => endUnlessLasting(tables, home.session.id));
  const there = isOpen(home);
  expect(await said).toBe(false);
  expect(await there).toBe(true);
  expect(await isOpen(home)).toBe(false);
  expect((await lines(home.host, 'session')).at(-1)).toMatchObject({ what: 'end', by: 'host', why: expect.stringMatching(/grace/), grants: 2 * slice }); // biome-ignore format: one line
});

test('one lasting grant, even the last of many, keeps the session open; so does one that is granted or renewed after its row was checked', async () => {
  const home = await open();
  const first = await grant(home, 'first');
  await many(slice, (n) => grant(home, `p${n}`));
  // Looks at the first 256, and so at `first`.
  const begun = async (): Promise<void> => {
    await begin(home);
    expect(await look(home)).toBeUndefined();
  };
  await begun();
  const last = await grant(home, 'last', until());
  expect(await look(home)).toBe(true);
  await E(home.granter).revoke({ grant: last.id });
  await begun();
  await E(home.granter).renew(first.id, until().until);
  expect(await look(home)).toBe(true);
  expect(await isOpen(home)).toBe(true);
  await E(home.granter).revoke({ grant: first.id });
  await begun();
  expect(await look(home)).toBe(false);
  expect(await isOpen(home)).toBe(false);
});

test('an agent that connects while the grants are checked finds its session', async () => {
  const home = await open();
  await many(slice + 1, (n) => grant(home, `p${n}`));
  await begin(home);
  expect(await look(home)).toBeUndefined();
  const agent = await home.enter(home.session.secret);
  expect(await look(home)).toBe(true);
  expect(await E(agent.bootstrap).caps()).toHaveLength(slice + 1);
  // A request for an object URL shows the secret, and makes no connection.
  await begin(home);
  expect(await look(home)).toBeUndefined();
  await tablesIn(home.host, (tables) => void authenticate(tables, home.session.secret));
  expect(await look(home)).toBe(true);
});

test('a lasting sturdyref does not keep a session open', async () => {
  const home = await open();
  await grant(home, 'bell');
  await E(home.granter).mint(home.session.id, 'bell', until());
  expect(await tablesIn(home.host, (tables) => endUnlessLasting(tables, home.session.id))).toBe(false);
});

test('a use that is given back after its row was checked keeps the session open', async () => {
  const home = await open();
  const { id } = await grant(home, 'once', { uses: 1, ...until() });
  await grant(home, 'other');
  await E(await home.session.cap<Bell>('once')).ring();
  const said = (await tablesIn(home.host, (tables) => {
    beginLook(tables, home.session.id);
    const before = lookAtSome(tables, home.session.id, 1);
    refundUses(tables, { under: [id], charged: Number.MAX_SAFE_INTEGER }, 1);
    return [before, lookAtSome(tables, home.session.id, 1)];
  })) as readonly (boolean | undefined)[];
  expect(said).toEqual([undefined, true]);
});

test('whatever happens between two turns of the check, no session ends that holds a lasting grant or was entered, and every other one ends', async () => {
  const home = await open();
  let made = 0;
  let renewed = 0;
  const step = fc.constantFrom('grant', 'grant lasting', 'renew', 'revoke', 'enter', 'look', 'look', 'look');
  await fc.assert(
    fc.asyncProperty(fc.nat(3), fc.array(fc.tuple(step, fc.nat(9)), { maxLength: 16 }), async (before, steps) => {
      made += 1;
      const session = await home.host.openSession({ name: `s${made}`, granters: ['owner'] });
      const { id } = session;
      const grants: { readonly id: string; lasts: boolean; revoked: boolean }[] = [];
      const add = async (lasts: boolean): Promise<void> => {
        const terms = lasts ? until() : {};
        grants.push({ id: (await grant(home, `p${grants.length}`, terms, id)).id, lasts, revoked: false });
      };
      const kept = { entered: false, everLasted: false, lasts: false };
      const lookOnce = (): Promise<unknown> => tablesIn(home.host, (tables) => lookAtSome(tables, id, 1));
      const acts: Readonly<Record<string, (at: (typeof grants)[number] | undefined) => Promise<unknown>>> = {
        grant: () => add(false),
        'grant lasting': () => add(true),
        async renew(one) {
          if (one === undefined || one.revoked) return;
          // Later than its deadline is now, also within the same millisecond.
          await E(home.granter).renew(one.id, until().until + 60_000 * (renewed += 1));
          one.lasts = true;
        },
        async revoke(one) {
          if (one === undefined) return;
          await E(home.granter).revoke({ grant: one.id });
          one.revoked = true;
        },
        async enter() {
          const agent = await home.enter(session.secret);
          kept.entered = true;
          agent.close();
          await agent.closed;
        },
        look: lookOnce,
      };
      try {
        for (let n = 0; n < before; n += 1) await add(false);
        await tablesIn(home.host, (tables) => beginLook(tables, id));
        let said: unknown;
        for (const [what, at] of steps) {
          const did = await acts[what]?.(grants[at]);
          kept.lasts = grants.some(({ lasts, revoked }) => lasts && !revoked);
          kept.everLasted ||= kept.lasts;
          if (what === 'look') said = did;
          if (said !== undefined) break;
        }
        while (said === undefined) said = await lookOnce();
        expect((await home.host.sessions()).some((one) => one.id === id)).toBe(said);
        if (kept.lasts || kept.entered) expect(said).toBe(true);
        if (!kept.everLasted && !kept.entered) expect(said).toBe(false);
      } finally {
        // Also of a run that failed: it must not make the next one fail, which is to be smaller.
        await session.end();
      }
      // Where the look has ended it, nobody waited for the removal.
      for (;;) if ((await rowsOf(home.host)).endedGroups === 0) break;
      expect(await rowsOf(home.host)).toMatchObject({ sessions: 1, grants: 0 });
      expect(await tablesIn(home.host, (tables) => lookedUpTo(tables, id))).toBeUndefined();
    }),
    { numRuns: 60 },
  );
});

test('kill -9 during the check: the next process continues it, and the session ends', async () => {
  const folder = scratch();
  let host = new HostProcess(folder);
  onTestFinished(async () => {
    await host.kill();
    rmSync(folder, { recursive: true, force: true });
  });
  await host.do('offer');
  await host.do('addGranter', 'owner');
  const before = await host.do('rows');
  const { id } = await host.do<{ id: string }>('openSession', { name: 'big', granters: ['owner'] });
  await many(10 * slice, (n) => host.do('granter', 'owner', 'grant', id, `p${n}`, 'bell', {}));
  expect(await host.do('lapseAndDie', id)).toBe('killed');
  host = new HostProcess(folder);
  // A host that was killed meanwhile answers at once: this would then never leave the loop.
  for (let sessions = 1; sessions > 0; ) ({ sessions } = await host.do<{ sessions: number }>('rows'));
  expect(await host.do('rows')).toEqual(before);
  const told = (await host.do<string[]>('lines')).map((line) => JSON.parse(line) as Record<string, unknown>);
  const restart = told.findLast(({ k }) => k === 'restart')?.['seq'] as number;
  const ends = told.filter(({ k, what }) => k === 'session' && what === 'end');
  expect(ends).toMatchObject([{ session: id, why: expect.stringMatching(/grace/), grants: 10 * slice }]);
  expect(ends[0]?.['seq']).toBeGreaterThan(restart);
  expect(await host.do('verify')).toMatchObject({ ok: true });
});
