/** Schedules on a clock that the test moves: times, what is missed, what ends them, and what nobody forges. */
import { definitions, type Revoker, revocable } from '@hob/revocable';
import { driver, E, type Far, openStore, openVats, type Vats } from '@hob/vat';
import { type TestClock, testClock } from '@hob/vat/testing';
import { expect, onTestFinished, test } from 'vitest';
import { codeOf } from '../../test/web.ts';
import { nextTime } from './drivers/cron.ts';
import { makeScheduleCap, scheduleDefinitions } from './make.ts';
import type { Run, RunEnd, Runner, ScheduleCap, ScheduleTerms } from './schedule-cap.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const START = Date.parse('2027-01-10T12:00:30Z');

interface World {
  readonly vats: Vats;
  readonly clock: TestClock;
  readonly cap: Far<ScheduleCap>;
  readonly runs: Run[];
  readonly revoker: Far<Revoker>;
  /** Runs wait until it is called. */
  finish: (() => void)[];
  /** Moves the clock minute by minute. */
  pass(ms: number, step?: number): Promise<void>;
}

async function world({
  terms,
  uses,
  waits = false,
  wall = START,
  end,
}: {
  terms?: ScheduleTerms;
  uses?: number;
  waits?: boolean;
  wall?: number;
  end?: RunEnd;
} = {}): Promise<World> {
  const clock = testClock({ wall });
  const store = await openStore({ memory: true });
  const vats = await openVats({ store, clock, definitions: [...definitions, ...scheduleDefinitions] });
  const runs: Run[] = [];
  const finish: (() => void)[] = [];
  onTestFinished(async () => {
    for (const done of finish) done();
    await vats.close();
    await store.close();
  });
  const runner = driver<Runner>(
    {
      run: ([run]) => {
        runs.push(run);
        return waits ? new Promise<undefined>((done) => void finish.push(() => done(undefined))) : Promise.resolve(end);
      },
    },
    { name: 'runner' },
  );
  const made = (await vats.vat('schedules').turn(() => {
    const { cap: granted, revoker } = revocable(runner as never, { until: wall + 80 * 24 * HOUR, ...(uses === undefined ? {} : { uses }) } as never) as { cap: Far<Runner>; revoker: Far<Revoker> }; // biome-ignore format: one line
    return { cap: makeScheduleCap(granted, terms), revoker };
  })) as unknown as { cap: Far<ScheduleCap>; revoker: Far<Revoker> };
  const pass = async (ms: number, step = MINUTE): Promise<void> => {
    for (let left = ms; left > 0; left -= step) {
      clock.advance(Math.min(step, left));
      // `settled` would wait for the runs, too.
      for (let n = 0; n < 50; n += 1) await new Promise((resolve) => setImmediate(resolve));
      if (!waits) await vats.settled();
    }
  };
  return { vats, clock, cap: made.cap, runs, revoker: made.revoker, finish, pass };
}
const dues = (runs: readonly Run[]): string[] => runs.map(({ due }) => due.slice(11, 16));

test('a cron line, an interval and a time run when they are due, and a cancelled one does not', async () => {
  const { cap, runs, pass } = await world();
  const cron = await E(cap).every('*/10 * * * *', 'ten');
  await E(cap).every('15m', 'quarter');
  await E(cap).at('2027-01-10T12:20:00Z', 'once');
  expect(cron).toMatchObject({ id: 's1', when: '*/10 * * * *', next: '2027-01-10T12:10:00.000Z', runs: 0 });
  await pass(31 * MINUTE);
  expect(dues(runs.filter(({ task }) => task === 'ten'))).toEqual(['12:10', '12:20', '12:30']);
  expect(dues(runs.filter(({ task }) => task === 'quarter'))).toEqual(['12:15', '12:30']);
  expect(dues(runs.filter(({ task }) => task === 'once'))).toEqual(['12:20']);
  expect((await E(cap).list()).map(({ task, runs: n, last }) => [task, n, last])).toEqual([['ten', 3, 'ok'], ['quarter', 2, 'ok']]); // biome-ignore format: one line
  expect([await E(cap).cancel('s1'), await E(cap).cancel('s1')]).toEqual([true, false]);
  await pass(20 * MINUTE);
  expect(runs.filter(({ task }) => task === 'ten')).toHaveLength(3);
});

test('runs of one schedule do not overlap', async () => {
  const { cap, runs, pass, finish } = await world({ waits: true });
  await E(cap).every('* * * * *', 'slow');
  await pass(5 * MINUTE);
  expect(runs).toHaveLength(1);
  expect(await E(cap).list()).toMatchObject([{ last: 'running', runs: 1, left: 4 }]);
  finish[0]?.();
  await pass(1.5 * MINUTE);
  expect(runs).toHaveLength(2);
});

test('a run whose time passed while the clock jumped runs once late, or not at all', async () => {
  for (const missed of ['late', 'never'] as const) {
    const { cap, runs, pass, clock } = await world({ terms: { missed } });
    await E(cap).every('0 * * * *', 'hourly');
    clock.stepWall(5 * HOUR + 20 * MINUTE);
    await pass(2 * MINUTE);
    expect([missed, dues(runs)]).toEqual([missed, missed === 'late' ? ['13:00'] : []]);
    await pass(HOUR);
    expect(dues(runs).at(-1)).toBe('18:00');
    // Set back: what has run does not run again.
    const before = runs.length;
    clock.stepWall(-3 * HOUR);
    await pass(2 * HOUR);
    expect(runs).toHaveLength(before);
  }
});

test('an interval goes by real time, whatever somebody sets the clock to', async () => {
  const { cap, runs, pass, clock } = await world();
  await E(cap).every('1h', 'real');
  clock.stepWall(-24 * HOUR);
  await pass(30 * MINUTE);
  clock.stepWall(48 * HOUR);
  await pass(29 * MINUTE);
  expect(runs).toHaveLength(0);
  await pass(2 * MINUTE);
  expect(runs).toHaveLength(1);
});

const between = (line: string, zone: string, from: string, to: string): string[] => {
  const times: string[] = [];
  for (
    let at = nextTime(line, zone, Date.parse(from));
    at !== undefined && at < Date.parse(to);
    at = nextTime(line, zone, at)
  )
    times.push(new Date(at).toISOString().slice(11, 16));
  return times;
};

test('an hour that does not exist runs once, a doubled one once, and an hourly task by real time', () => {
  const berlin = 'Europe/Berlin';
  const [spring, fall] = [['2026-03-28T23:00Z', '2026-03-29T22:00Z'], ['2026-10-24T22:00Z', '2026-10-25T23:00Z']] as const; // biome-ignore format: one line
  expect(between('30 2 * * *', berlin, ...spring)).toEqual(['01:00']);
  expect(between('30 2 * * *', berlin, ...fall)).toEqual(['00:30']);
  expect(between('*/30 2 * * *', berlin, ...fall)).toEqual(['00:00', '00:30']);
  expect(between('15 1-3 * * *', berlin, ...fall)).toEqual(['23:15', '00:15', '02:15']);
  expect(between('0 * * * *', berlin, ...spring)).toHaveLength(22);
  expect(between('0 * * * *', berlin, ...fall)).toHaveLength(24);
  expect(between('0 * * * *', berlin, ...fall).slice(0, 4)).toEqual(['23:00', '00:00', '01:00', '02:00']);
  expect(between('45 1 * * *', 'Australia/Lord_Howe', '2026-04-04T10:00Z', '2026-04-05T10:00Z')).toHaveLength(1);
  expect(nextTime('0 0 31 2 *', 'UTC', Date.parse('2026-01-01T00:00Z'))).toBe(undefined);
});

test('uses count runs, and the schedules end with the grant of their runs', async () => {
  const { cap, runs, pass } = await world({ uses: 3 });
  await E(cap).every('* * * * *', 'a');
  await pass(8 * MINUTE);
  expect(runs).toHaveLength(3);
  expect(await E(cap).list()).toEqual([]);
  expect(await codeOf(() => E(cap).every('* * * * *', 'again'))).toBe('unavailable');
});

test('revoking the grant of the runs ends the schedules; the end of the session that asked does not', async () => {
  const { vats, cap, runs, pass, revoker } = await world();
  const session = (await vats.vat('session').turn(() => revocable(cap as never, { for: HOUR } as never))) as unknown as { cap: Far<ScheduleCap>; revoker: Far<Revoker> }; // biome-ignore format: one line
  await E(session.cap).every('* * * * *', 'outlives');
  await E(session.revoker).revoke();
  expect(await codeOf(() => E(session.cap).list())).toBe('revoked');
  await pass(3 * MINUTE);
  expect(runs.length).toBeGreaterThanOrEqual(2);
  await E(revoker).revoke();
  const before = runs.length;
  await pass(5 * MINUTE);
  expect([runs.length, await E(cap).list()]).toEqual([before, []]);
});

test('the shortest interval of the granter holds for intervals and for cron lines, by their own clock', async () => {
  const { cap } = await world({ terms: { shortest: HOUR, zone: 'Europe/Berlin' } });
  for (const when of ['1m', '59m', '* * * * *', '0,59 * * * *', '0,30 2 * * *']) expect([when, await codeOf(() => E(cap).every(when, 'x'))]).toEqual([when, 'invalid']); // biome-ignore format: one line
  for (const when of ['1h', '0 * * * *', '15 9,10 * * 1-5', '30 2 29 2 *']) expect([when, await codeOf(() => E(cap).every(when, 'x'))]).toEqual([when, 'ok']); // biome-ignore format: one line
  const daily = await world({ terms: { shortest: 24 * HOUR, zone: 'Europe/Berlin' } });
  // One night of the year has 23 hours.
  expect(await codeOf(() => E(daily.cap).every('30 2 * * *', 'x'))).toBe('ok');
  for (const when of ['23h', '0 0,23 1,2,15 * *', '0 9,10 * * 1', '0 23 * * 0,1,2']) expect([when, await codeOf(() => E(daily.cap).every(when, 'x'))]).toEqual([when, when === '0 23 * * 0,1,2' ? 'ok' : 'invalid']); // biome-ignore format: one line
  for (const shortest of [0, MINUTE - 1, Number.NaN, '1h', Number.POSITIVE_INFINITY])
    await expect(world({ terms: { shortest: shortest as number } })).rejects.toMatchObject({ code: 'invalid' });
});

test('a run that fails or takes too long is shown as that, and the next one is run', async () => {
  for (const end of ['failed', 'too-long'] as const) {
    const { cap, runs, pass } = await world({ end });
    await E(cap).every('* * * * *', 'x');
    await pass(4 * MINUTE);
    expect([runs.length > 2, (await E(cap).list())[0]?.last]).toEqual([true, end]);
  }
  // A runner ends no schedule by what it returns.
  const { cap, runs, pass } = await world({ end: 'revoked' as never });
  await E(cap).every('* * * * *', 'x');
  await pass(4 * MINUTE);
  expect([runs.length > 2, (await E(cap).list())[0]?.last]).toEqual([true, 'ok']);
});

test('a holder can neither say that a run is over, nor begin one', async () => {
  const { cap, runs, pass } = await world({ waits: true });
  const { id } = await E(cap).every('* * * * *', 'x');
  await pass(2 * MINUTE);
  const forged = cap as unknown as Far<{ finished(outcome: object, id: string): void; tick(): void }>;
  expect(await codeOf(() => E(forged).finished({ ok: true }, id))).toBe('no-such-method');
  expect(await codeOf(() => E(forged).tick())).toBe('no-such-method');
  await pass(2 * MINUTE);
  expect(runs).toHaveLength(1);
});

test('what is no time is refused', async () => {
  const { cap } = await world();
  const whens = ['30s', '0m', '1.5h', '59', '* * * * * *', '* * * *', '60 * * * *', '@daily', '*  * * * *', '0 0 31 2 *', 'a b c d e', '* * * * *\n', '', 7, '9999999d', `${'1,'.repeat(60)}1 * * * *`]; // biome-ignore format: one line
  for (const when of whens)
    expect([when, await codeOf(() => E(cap).every(when as string, 'x'))]).not.toEqual([when, 'ok']);
  for (const time of [
    '2020-01-01T00:00:00Z',
    '2027-02-01',
    'tomorrow',
    '2027-02-01T00:00:00',
    '2999-01-01T00:00:00Z',
    7,
  ])
    expect([time, await codeOf(() => E(cap).at(time as string, 'x'))]).toEqual([time, 'invalid']);
  expect(await codeOf(() => E(cap).every('1h', 'x'.repeat(20_000)))).toBe('limit');
  for (let n = 0; n < 64; n += 1) await E(cap).every('1h', 'x');
  expect(await codeOf(() => E(cap).every('1h', 'x'))).toBe('limit');
  expect(await E(cap).cancel({ id: 's1' } as never)).toBe(false);
});
