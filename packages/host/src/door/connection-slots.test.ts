/** Places, one by one: whose socket goes when one more comes. */
import { type Meter, openVats, type Vats } from '@hob/vat';
import { testClock } from '@hob/vat/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Caller, ConnectionSlots } from './connection-slots.ts';

let vats: Vats;
let places: ConnectionSlots;
let ended: string[];
const clock = testClock();
beforeEach(async () => {
  vats = await openVats();
  places = new ConnectionSlots(clock, 256);
  ended = [];
  meters.clear();
});
afterEach(() => vats.close());

const session = (who: string, payer = who): Caller => ({ who, session: who, meter: meterOf(payer) });
const meters = new Map<string, Meter>();
function meterOf(payer: string): Meter {
  const meter = meters.get(payer) ?? vats.meter(`session:${payer}`, { connections: 8 });
  meters.set(payer, meter);
  return meter;
}
const granter = (): Caller => ({ who: 'granter:owner', session: undefined, meter: vats.meter('granter:owner') });
const take = (comer: Caller, name: string) => places.take(comer, () => ended.push(name));

test('the seventeenth connection of a granter replaces its oldest, and no session uses a slot of a granter', () => {
  for (let i = 0; i < 40; i += 1) for (let j = 0; j < 8; j += 1) take(session(`s${i}-${j}`, `s${i}`), 'session');
  expect(take(session('late'), 'late')).toMatchObject({ ok: false, status: 503 });
  for (let i = 0; i < 17; i += 1) expect(take(granter(), `granter ${i}`).ok).toBe(true);
  expect(ended).toEqual(['granter 0']);
});

test('the third connection of a session closes its first, and no slot of its family is freed twice', () => {
  const one = take(session('a'), 'first');
  const two = take(session('a'), 'second');
  const three = take(session('a'), 'third');
  expect(ended).toEqual(['first']);
  expect(meterOf('a').used()['connections']).toBe(1);
  for (const place of [one, one, two, two]) if (place.ok) place.release();
  expect(meterOf('a').used()['connections']).toBe(1);
  if (three.ok) three.release();
  expect(meterOf('a').used()['connections']).toBe(0);
});

test('an HTTP call waits at most five seconds for a slot of its family', async () => {
  const held = Array.from({ length: 8 }, (_, i) => take(session(`a-${i}`, 'a'), 'x'));
  const never = new AbortController().signal;
  const first = places.takeForCall(session('a-0', 'a'), never);
  const second = places.takeForCall(session('a-0', 'a'), never);
  const hungUp = new AbortController();
  const third = places.takeForCall(session('a-0', 'a'), hungUp.signal);
  hungUp.abort();
  expect(await third).toMatchObject({ ok: false });
  if (held[0]?.ok) held[0].release();
  expect(await first).toMatchObject({ ok: true });
  clock.advance(5000);
  expect(await second).toMatchObject({ ok: false, status: 429, code: 'limit' });
});
