/** Sessions: how they end, what a lost connection costs, and what a secret opens. */
import { driver, E, type Far } from '@hob/vat';
import { testClock } from '@hob/vat/testing';
import { expect, onTestFinished, test } from 'vitest';
import { code, held, lines, type TestHost, testHost } from '../../test/test-host.ts';
import type { HostOptions } from '../index.ts';

interface Bell {
  ring(): Promise<string>;
  wait(): Promise<string>;
  stream(): Promise<{ next(): Promise<number> }>;
}
let stopped: boolean;
async function open(options: Partial<HostOptions> = {}): Promise<TestHost> {
  const home = await testHost(options);
  onTestFinished(() => home.close());
  stopped = false;
  await home.host.offer(
    'bell',
    driver<Bell>({
      ring: async () => 'ding',
      wait: (_args, { signal }) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => {
            stopped = true;
            reject(signal.reason);
          }),
        ),
      stream: async () => driver<{ next(): number }>({ next: () => 1 }) as never,
    }),
  );
  return home;
}
const grant = (home: TestHost, petname: string, terms = {}, session = home.session.id): Promise<{ id: string }> =>
  E(home.granter).grant(session, petname, 'bell', terms) as unknown as Promise<{ id: string }>;
const bell = (of: Awaited<ReturnType<TestHost['enter']>>, petname = 'bell'): Far<Bell> => held<Bell>(of, petname);
const flush = async (): Promise<void> => {
  for (let i = 0; i < 50; i += 1) await new Promise((resolve) => setImmediate(resolve));
};

test('when a session ends its caps stop working, its streams and calls stop, its socket is closed with 4403, and the ledger has one line', async () => {
  const home = await open();
  const { id } = await grant(home, 'bell');
  await grant(home, 'other');
  const agent = await home.enter(home.session.secret);
  const ringer = await E(agent.bootstrap).cap('bell');
  const stream = await E(bell(agent)).stream();
  expect(await E(stream).next()).toBe(1);
  const waiting = code(E(bell(agent)).wait());
  while ((await lines(home.host, 'call')).length < 3) await flush();
  const inside = await home.session.cap<Bell>('bell');
  await home.session.end('enough');
  // When it resolves, the call is over: the driver has stopped too.
  expect(stopped).toBe(true);
  expect(['revoked', 'disconnected']).toContain(await waiting);
  expect(await agent.closed).toMatchObject({ code: 4403, reason: 'this session has ended' });
  for (const gone of [ringer, stream]) expect(await code((E(gone) as never as Bell).ring())).toBe('disconnected');
  expect(await code(E(inside).ring())).toBe('revoked');
  expect(await code(home.enter(home.session.secret))).toBe('denied');
  await home.session.ended;
  await home.session.end();
  expect(await home.host.sessions()).toEqual([]);
  expect(await E(home.granter).list()).toEqual([]);
  expect(await code(E(home.granter).revoke({ grant: id }))).toBe('no-such-object');
  expect(await code(home.session.caps())).toBe('no-such-object');
  expect((await lines(home.host, 'session')).filter(({ what }) => what === 'end')).toMatchObject([
    { session: home.session.id, by: 'host', why: 'enough', grants: 2 },
  ]);
  expect(await lines(home.host, 'revoke')).toEqual([]);
});

test('calls that are on their way when the session ends are refused', async () => {
  const home = await open();
  await grant(home, 'bell');
  const agent = await home.enter(home.session.secret);
  const cap = bell(agent);
  await E(cap).ring();
  const calls = Array.from({ length: 200 }, () => code(E(cap).ring()));
  const ended = home.session.end();
  const more = Array.from({ length: 200 }, () => code(E(cap).ring()));
  await ended;
  const end = (await lines(home.host)).findIndex(({ k, what }) => k === 'session' && what === 'end');
  await Promise.all([...calls, ...more]);
  const after = (await lines(home.host)).slice(end + 1);
  expect(after.filter(({ k }) => k === 'call')).toEqual([]);
});

test('a child ends with its parent, also one that keeps its cap and its socket', async () => {
  const home = await open();
  await grant(home, 'bell');
  const parent = await home.enter(home.session.secret);
  const { secret } = await E(parent.bootstrap).spawnChild({ name: 'child', caps: { mine: 'bell' } });
  const child = await home.enter(secret);
  const { secret: grand } = await E(child.bootstrap).spawnChild({ name: 'child', caps: { mine: 'mine' } });
  const below = await home.enter(grand);
  const ringer = bell(below, 'mine');
  expect(await E(ringer).ring()).toBe('ding');
  await home.session.end();
  for (const one of [parent, child, below]) expect((await one.closed).code).toBe(4403);
  expect(await code(E(ringer).ring())).toBe('disconnected');
  for (const one of [secret, grand]) expect(await code(home.enter(one))).toBe('denied');
  expect((await lines(home.host, 'session')).filter(({ what }) => what === 'end')).toHaveLength(3);
});

test('a session whose connection is lost is kept for the grace time and then ends; an agent that returns in time finds it', async () => {
  const clock = testClock();
  const home = await open({ clock, graceMs: 60_000 });
  const others = clock.pending();
  await grant(home, 'bell');
  for (let round = 0; round < 2; round += 1) {
    const agent = await home.enter(home.session.secret);
    expect(await E(bell(agent)).ring()).toBe('ding');
    clock.advance(120_000);
    agent.close();
    await agent.closed;
    while (home.host.connections().length > 0) await flush();
    clock.advance(59_999);
    await flush();
    expect(await home.host.sessions()).toHaveLength(1);
  }
  // A newer socket that fences the older is no loss.
  const older = await home.enter(home.session.secret);
  const newer = await home.enter(home.session.secret);
  await older.closed;
  clock.advance(60_000);
  await flush();
  expect(await E(bell(newer)).ring()).toBe('ding');
  newer.close();
  while (home.host.connections().length > 0) await flush();
  clock.advance(60_000);
  await home.session.ended;
  expect(await home.host.sessions()).toEqual([]);
  expect((await lines(home.host, 'session')).at(-1)).toMatchObject({ what: 'end', by: 'host', why: expect.stringMatching(/grace/) }); // biome-ignore format: one line
  expect(clock.pending()).toBeLessThanOrEqual(others);
});

test('a grant with a date keeps a session open until it expires or is revoked', async () => {
  const clock = testClock();
  const home = await open({ clock, graceMs: 1000 });
  const until = await grant(home, 'until', { until: clock.wall() + 3_600_000 });
  await grant(home, 'bell', { scope: 'session' });
  const agent = await home.enter(home.session.secret);
  agent.close();
  while (home.host.connections().length > 0) await flush();
  for (let minute = 0; minute < 30; minute += 1) {
    clock.advance(60_000);
    await flush();
  }
  expect(await home.host.sessions()).toHaveLength(1);
  await E(home.granter).revoke({ grant: until.id });
  clock.advance(120_000);
  await home.session.ended;
});

test('after rotate the old secret works until the new one is used, and then never again', async () => {
  const home = await open();
  const { secret: old } = home.session;
  const first = await home.enter(old);
  const { secret: unused } = await E(first.bootstrap).rotate();
  const { secret } = await home.session.rotate();
  const second = await home.enter(old);
  expect((await first.closed).code).toBe(4401);
  expect(await code(home.enter(unused))).toBe('denied');
  await home.enter(secret);
  expect((await second.closed).code).toBe(4401);
  expect(await code(home.enter(old))).toBe('denied');
  await home.enter(secret);
  expect((await lines(home.host, 'session')).filter(({ what }) => what === 'rotate')).toHaveLength(2);
});

test('connections() names session and dialect; the connections of a granter whose secret was renewed are closed', async () => {
  const home = await open();
  await home.enter(home.session.secret);
  const owner = await home.enter(home.granterSecret);
  expect(home.host.connections().map(({ session, dialect }) => [session, dialect])).toEqual([
    [home.session.id, 'hob.1'],
    ['granter:owner', 'hob.1'],
  ]);
  expect(home.host.connections()[0]?.stats().questions).toBeGreaterThanOrEqual(0);
  const { secret } = await home.host.renewGranter('owner');
  expect((await owner.closed).code).toBe(4403);
  expect(await code(home.enter(home.granterSecret))).toBe('denied');
  await home.enter(secret);
  expect(await code(home.host.renewGranter('nobody'))).toBe('no-such-object');
  expect(await code(home.host.granter('nobody'))).toBe('no-such-object');
  expect(await code(home.host.session('nobody'))).toBe('no-such-object');
});

test('a session that floods the host with children, rotations and URLs gets limit, and leaves nothing behind', async () => {
  const home = await open();
  await grant(home, 'bell');
  const agent = await home.enter(home.session.secret);
  const codes = await Promise.all(
    Array.from({ length: 2100 }, (_, n) => code(E(agent.bootstrap).spawnChild({ name: `c${n}`, caps: { a: 'bell' } }))),
  );
  expect(codes).toContain('limit');
  const other = await home.host.openSession({ name: 'other', granters: ['owner'] });
  await grant(home, 'bell', {}, other.id);
  const quiet = await home.enter(other.secret);
  expect(await E(bell(quiet)).ring()).toBe('ding');
  let { bootstrap } = agent;
  for (let depth = 0; ; depth += 1) {
    const made = await E(bootstrap)
      .spawnChild({ name: 'deep', caps: {} })
      .catch((error: { code: string }) => error);
    if ('code' in made) {
      expect(['invalid', 'limit']).toContain(made.code);
      break;
    }
    expect(depth).toBeLessThan(20);
    ({ bootstrap } = await home.enter(made.secret));
  }
  await home.session.end();
  expect((await home.host.sessions()).map(({ id, name }) => [id, name])).toEqual([[other.id, 'other']]);
  expect(await E(home.granter).list()).toHaveLength(1);
}, 400_000);
