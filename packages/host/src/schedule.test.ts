/**
 * Schedules in a host. Each run is a fresh session that holds what the granter gave the schedule when it was made. The
 * attacker is the session that asked for it: it holds more than its schedule, and ends before it.
 */
import { makeScheduleCap, type Run, type Runner, type ScheduleCap, type Scheduled, scheduleDefinitions } from '@hob/caps-net'; // biome-ignore format: one line
import { type Revoker, revocable } from '@hob/revocable';
import { connect, driver, E, type Far } from '@hob/vat';
import { type TestClock, testClock } from '@hob/vat/testing';
import { expect, onTestFinished, test } from 'vitest';
import { code, held, lines, type TestHost, testHost } from '../test/test-host.ts';
import type { SessionFace } from './index.ts';

const MINUTE = 60_000;
const REQUEST_MS = 10 * MINUTE;

/** One run, as the agent in its session saw it. */
interface Seen {
  readonly run: Run;
  readonly session: string;
  readonly caps: readonly string[];
  /** How the calls of its agent ended. */
  readonly ended: Readonly<Record<string, string>>;
}

interface World extends TestHost {
  readonly clock: TestClock;
  readonly seen: Seen[];
  readonly revoker: Far<Revoker>;
  /** The schedules as the asking session holds them. */
  readonly cron: Far<ScheduleCap>;
  /** Steps of a minute, until it is so. */
  until(fits: () => boolean | Promise<boolean>): Promise<void>;
}

/** `asks`: the agent of a run asks for more than it holds. */
async function world({
  uses = 100,
  asks = false,
}: {
  readonly uses?: number;
  readonly asks?: boolean;
} = {}): Promise<World> {
  // biome-ignore format: one line
  const clock = testClock();
  const home = await testHost({ clock, requestMs: REQUEST_MS, definitions: scheduleDefinitions });
  onTestFinished(() => home.close());
  const { host, granter } = home;
  await host.offer('notes', { read: async () => 'notes' });
  await host.offer('secret-plans', { read: async () => 'plans' });
  const seen: Seen[] = [];
  // A program that runs a host does this for each run.
  const run = async (one: Run): Promise<undefined> => {
    const name = `run-${one.schedule}-${one.number}`;
    const session = await host.openSession({ name, granters: ['owner'], unattended: true });
    await E(granter).grant(session.id, 'notes', 'notes', { uses: 1, for: 30 * MINUTE });
    const connection = await connect<SessionFace>(home.url, { secret: session.secret });
    const agent = connection.bootstrap;
    const read = (name: string): Promise<string> =>
      code(E(E(agent).cap(name) as unknown as Far<{ read(): Promise<string> }>).read() as never);
    const ended: Record<string, string> = { notes: await read('notes'), again: await read('notes') };
    for (const name of ['secret-plans', 'cron', 'work']) ended[name] = await read(name);
    if (asks)
      ended['asked'] = await code(E(agent).request({ asks: 'secret-plans', terms: {}, why: 'the task' }) as never);
    seen.push({ run: one, session: session.id, caps: (await E(agent).caps()) as readonly string[], ended });
    connection.close();
    await connection.closed;
    await session.end('the run is over');
  };
  const runner = driver<Runner>({ run: ([one]) => run(one) }, { name: 'runner' });
  const made = (await host.vats.vat('schedules').turn(() => {
    const grant = revocable(runner as never, { uses, until: clock.wall() + 80 * 24 * 60 * MINUTE } as never) as { cap: Far<Runner>; revoker: Far<Revoker> }; // biome-ignore format: one line
    return { cap: makeScheduleCap(grant.cap), revoker: grant.revoker };
  })) as unknown as { readonly cap: Far<ScheduleCap>; readonly revoker: Far<Revoker> };
  await host.offer('schedules', made.cap);
  await E(granter).grant(home.session.id, 'cron', 'schedules', { for: 24 * 60 * MINUTE });
  await E(granter).grant(home.session.id, 'secret-plans', 'secret-plans', { for: 24 * 60 * MINUTE });
  const connection = await home.enter(home.session.secret);
  return {
    ...home,
    clock,
    seen,
    revoker: made.revoker,
    cron: held<ScheduleCap>(connection, 'cron'),
    async until(fits) {
      while (!(await fits())) {
        clock.advance(MINUTE);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
  };
}

test('a run is a fresh session with what the granter gave the schedule, and nothing of the session that asked for it', async () => {
  const at = await world();
  await E(at.cron).every('5m', 'Summarise the day.');
  await at.until(() => at.seen.length >= 2);
  for (const { run, caps, ended } of at.seen) {
    expect([run.task, caps]).toEqual(['Summarise the day.', ['notes']]);
    // The uses of the grant are those of this run, and other names lead nowhere.
    const none = 'no-such-object';
    expect(ended).toEqual({ notes: 'ok', again: 'exhausted', 'secret-plans': none, cron: none, work: none });
  }
  expect(new Set(at.seen.map(({ session }) => session)).size).toBe(at.seen.length);
  expect(at.seen.map(({ session }) => session)).not.toContain(at.session.id);
});

test('a schedule lives by its own grant: it goes on when the session that asked ends, and ends when its grant is revoked', async () => {
  const at = await world();
  await E(at.cron).every('1m', 'tick');
  await at.until(() => at.seen.length >= 1);
  await at.session.end('the asking session is over');
  const before = at.seen.length;
  await at.until(() => at.seen.length > before + 1);
  expect(at.seen.at(-1)?.ended['notes']).toBe('ok');
  await E(at.revoker).revoke();
  // A run that began before the revocation may still end.
  await at.until(async () => (await at.host.sessions()).length === 0);
  const after = at.seen.length;
  for (let minute = 0; minute < 10; minute += 1) {
    at.clock.advance(MINUTE);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect(at.seen.length).toBe(after);
});

test('uses count runs, and then the schedule is gone and takes no other', async () => {
  const at = await world({ uses: 2 });
  await E(at.cron).every('1m', 'twice');
  await at.until(async () => ((await E(at.cron).list()) as readonly Scheduled[]).length === 0);
  expect(at.seen.map(({ run }) => run.number)).toEqual([1, 2]);
  expect(await code(E(at.cron).every('1m', 'more') as never)).toBe('unavailable');
});

test('a request of a run with nobody at the inbox waits its time to live, and is then denied; a session with a person may ask again', async () => {
  const at = await world({ asks: true });
  const begun = at.clock.wall();
  await E(at.cron).every('1h', 'ask');
  await at.until(() => at.seen.length === 1);
  expect(at.seen[0]?.ended['asked']).toBe('denied');
  expect(at.clock.wall() - begun).toBeGreaterThanOrEqual(REQUEST_MS);
  expect(await E(at.granter).inbox()).toEqual([]);
  expect((await lines(at.host)).filter(({ k }) => k === 'withdraw')).toMatchObject([{ code: 'denied' }]);

  // The session that asked has a person.
  await at.host.offer('more', { read: async () => 'more' });
  const attended = code(E((await at.enter(at.session.secret)).bootstrap).request({ asks: 'more', terms: {}, why: 'x' }) as never); // biome-ignore format: one line
  let ended: string | undefined;
  attended.then((said) => {
    ended = said;
  });
  await at.until(() => ended !== undefined);
  expect(ended).toBe('expired');
});

test('a child session of a run has no person either', async () => {
  const at = await world();
  const run = await at.host.openSession({ name: 'run', granters: ['owner'], unattended: true });
  const { secret } = (await E((await at.enter(run.secret)).bootstrap).spawnChild({ name: 'helper', caps: {} })) as { readonly secret: string }; // biome-ignore format: one line
  let ended: string | undefined;
  code(E((await at.enter(secret)).bootstrap).request({ asks: 'notes', terms: {}, why: 'x' }) as never).then((said) => {
    ended = said;
  });
  await at.until(() => ended !== undefined);
  expect(ended).toBe('denied');
});

test('a granter who is asked about a schedule sees when, and the whole task', async () => {
  const at = await world();
  const task = `Sum up.\n${'word '.repeat(700)}and then stop\u202e.`;
  await at.host.offer('later', { every: async () => 'ok', at: async () => 'ok' });
  await E(at.granter).grant(at.session.id, 'later', 'later', { for: 24 * 60 * MINUTE, gated: true });
  const later = held<ScheduleCap>(await at.enter(at.session.secret), 'later');
  for (const [method, head] of [
    ['every', 'again and again'],
    ['at', 'once'],
  ] as const) {
    const asked = code(E(later)[method]('30 2 * * *', task) as never);
    let requests = await E(at.granter).inbox();
    while (requests.length === 0) {
      await new Promise((resolve) => setImmediate(resolve));
      requests = await E(at.granter).inbox();
    }
    const rows = Object.fromEntries(requests[0]?.table ?? []);
    expect(rows[head]).toContain('30 2 * * *');
    expect(rows['task']).toMatch(/and then stop⟦/);
    await E(at.granter).answer(requests[0]?.id as string, { refuse: 'no', digest: requests[0]?.digest as string });
    expect(await asked).toBe('denied');
  }
});
