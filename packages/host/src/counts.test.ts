/** `host.counts()`: numbers of a host, and nothing that anybody said or is called. */
import { E } from '@hob/vat';
import { expect, onTestFinished, test } from 'vitest';
import { code, held, testHost } from '../test/test-host.ts';

interface Bell {
  ring(): Promise<number>;
}

test('a host counts sessions, grants, requests, connections, calls, refusals and the use of budgets, and says no names', async () => {
  const at = await testHost();
  onTestFinished(() => at.close());
  const { host, granter, session } = at;
  await host.offer('bell', { ring: async () => 1 });
  const before = await host.counts();
  expect([before.sessions, before.grants, before.requests, before.connections]).toEqual([1, 0, 0, 0]);

  await E(granter).grant(session.id, 'secret-petname', 'bell', { uses: 2 });
  await at.enter(at.granterSecret);
  const agent = await at.enter(session.secret);
  const bell = held<Bell>(agent, 'secret-petname');
  expect([await E(bell).ring(), await E(bell).ring(), await code(E(bell).ring())]).toEqual([1, 1, 'exhausted']);
  await host.openSession({ name: 'other-name', granters: ['owner'] });
  await host.vats.settled();
  const after = await host.counts();
  expect([after.sessions, after.grants, after.connections]).toEqual([2, 1, 2]);
  expect([after.entries['call'], after.entries['refuse'], after.entries['grant']]).toEqual([2, 1, 1]);
  expect(after.turns).toBeGreaterThan(before.turns);
  expect(after.budgets['connections']).toEqual({ used: 1, fullest: 1 / 8 });
  expect(after.budgets['turnMs']?.fullest).toBeUndefined();
  expect(Object.keys(after.budgets)).not.toContain('argumentBytes');
  expect(JSON.stringify(after)).not.toMatch(/petname|other-name|bell|owner|work|ring/);
  expect(JSON.stringify(after)).not.toContain(session.id);

  await session.end();
  await expect.poll(async () => (await host.counts()).sessions).toBe(1);
  await expect.poll(async () => (await host.counts()).connections).toBe(1);
});
