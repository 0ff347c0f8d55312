/** The end of a grant by time is a turn of its own. */
import { E } from '@hob/vat';
import { testClock } from '@hob/vat/testing';
import { expect, test } from 'vitest';
import { code, lines, testHost } from '../test/test-host.ts';

test('at its deadline a grant ends with a ledger line although nobody calls; calls under way are stopped after the grace time', async () => {
  const clock = testClock();
  const home = await testHost({ clock });
  const waiting = Promise.withResolvers<string>();
  try {
    const others = clock.pending();
    await home.host.offer('bell', { wait: () => waiting.promise });
    await E(home.granter).grant(home.session.id, 'bell', 'bell', { for: 10_000 });
    const cap = await home.session.cap<{ wait(): Promise<string> }>('bell');
    let told = '';
    const answer = code(E(cap).wait()).then((said) => (told = said));
    const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));
    await settle();
    clock.advance(9_999);
    await settle();
    expect(await lines(home.host, 'expire')).toEqual([]);
    clock.advance(50);
    await settle();
    expect(await lines(home.host, 'expire')).toHaveLength(1);
    expect(told).toBe('');
    expect((await E(home.granter).list())[0]).toMatchObject({ state: 'expired' });
    clock.advance(1_000);
    await answer;
    expect(told).toBe('expired');
    expect(await lines(home.host, 'expire')).toHaveLength(1);
    expect(clock.pending()).toBe(others);
  } finally {
    waiting.resolve('over');
    await home.close();
  }
});

test('one timer wakes all grants, and a host that closes leaves none behind', async () => {
  const clock = testClock();
  const home = await testHost({ clock });
  const others = clock.pending();
  await home.host.offer('bell', { ring: async () => 'ding' });
  for (const name of ['a', 'b', 'c']) await E(home.granter).grant(home.session.id, name, 'bell', {});
  expect(clock.pending()).toBe(others + 1); // one, for the earliest
  await home.close();
  expect(clock.pending()).toBe(0);
});
