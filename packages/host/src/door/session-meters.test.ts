/** `SessionMeters` adds up the use of sessions, and drops the meter of a session that has ended. */
import { expect, onTestFinished, test } from 'vitest';
import { testHost } from '../../test/test-host.ts';
import { payerOf, SessionMeters } from './session-meters.ts';

test('budgets() adds up all sessions, and `fullest` is the largest share of one session; granters do not count', () => {
  const meter = (used: number, limit: number) => ({
    name: '',
    used: () => ({ rows: used, turnMs: 1 }),
    limits: () => ({ rows: limit }),
  });
  const known = { 'session:a': meter(30, 100), 'session:b': meter(10, 20), 'granter:c': meter(90, 100) };
  const dropped: string[] = [];
  const meters = new SessionMeters({
    meter: (name) => known[name as keyof typeof known],
    dropMeter: (name) => dropped.push(name),
  });
  for (const name of Object.keys(known)) meters.named(name);
  expect(meters.budgets()).toEqual({ rows: { used: 40, fullest: 0.5 }, turnMs: { used: 2 } });
  meters.ended('b');
  meters.ended('nobody');
  expect(dropped).toEqual(['session:b']);
  expect(meters.budgets()).toEqual({ rows: { used: 30, fullest: 0.3 }, turnMs: { used: 2 } });
});

test('a host keeps no meter of a session that has ended, so sessions that come and go do not fill its memory', async () => {
  const at = await testHost();
  onTestFinished(() => at.close());
  const ids: string[] = [];
  for (let n = 0; n < 5; n += 1) {
    const { id, secret, end } = await at.host.openSession({ name: `s${n}`, granters: ['owner'] });
    await at.enter(secret);
    expect(() => at.host.vats.meter(payerOf(id), { rows: 1 })).toThrow('has its limits already');
    await end();
    ids.push(id);
  }
  await expect.poll(async () => (await at.host.counts()).connections).toBe(0);
  // The name has no meter any more, so it takes new limits.
  for (const id of ids) expect(at.host.vats.meter(payerOf(id), { rows: 1 }).used()['rows']).toBe(0);
});
