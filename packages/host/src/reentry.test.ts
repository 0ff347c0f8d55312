/** Entering a session anew: what is dead, what is intact, who is locked out. */
import { E, type Far } from '@hob/vat';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { code, held, type TestHost, testHost } from '../test/test-host.ts';

interface Bell {
  ring(text: string): Promise<string>;
  wait(): Promise<string>;
}
let waiting: PromiseWithResolvers<string>;
let home: TestHost;
beforeEach(async () => {
  waiting = Promise.withResolvers();
  home = await testHost();
  await home.host.offer('bell', { ring: async (text: string) => `ding ${text}`, wait: () => waiting.promise });
});
afterEach(() => {
  waiting.resolve('over');
  return home.close();
});
const grant = (petname: string, terms = {}, session = home.session.id): Promise<{ id: string }> =>
  E(home.granter).grant(session, petname, 'bell', terms) as unknown as Promise<{ id: string }>;

test('a new connection replaces the old one: calls and references of the old one end, and the session’s caps and spent uses stay', async () => {
  await grant('bell', { uses: 3 });
  const old = await home.enter(home.session.secret);
  const bell = (await E(old.bootstrap).cap('bell')) as unknown as Far<Bell>;
  expect(await E(bell).ring('one')).toBe('ding one');
  const waits = code(E(bell).wait());
  const fresh = await home.enter(home.session.secret);
  expect((await old.closed).code).toBe(4401);
  expect(await waits).toBe('disconnected');
  expect(await code(E(bell).ring('late'))).toBe('disconnected');
  expect(await code(E(old.bootstrap).caps())).toBe('disconnected');
  expect(await E(fresh.bootstrap).caps()).toEqual(['bell']);
  // Two of three are spent, one of them by the call that nobody heard the end of.
  expect(await E(held<Bell>(fresh, 'bell')).ring('three')).toBe('ding three');
  expect(await code(E(held<Bell>(fresh, 'bell')).ring('four'))).toBe('exhausted');
  expect(fresh.stats().questions).toBe(0);
});

test('a lost socket leaves the session unchanged; the agent that connects again finds its caps', async () => {
  await grant('bell');
  for (let round = 0; round < 3; round += 1) {
    const connection = await home.enter(home.session.secret);
    expect(await E(held<Bell>(connection, 'bell')).ring(String(round))).toBe(`ding ${round}`);
    const waits = code(E(held<Bell>(connection, 'bell')).wait());
    connection.close();
    await connection.closed;
    expect(await waits).toBe('disconnected');
  }
});

test('a session cannot use the reference of another session, also over its own connection', async () => {
  await grant('bell');
  const other = await home.host.openSession({ name: 'other', granters: ['owner'] });
  const [a, b] = [await home.enter(home.session.secret), await home.enter(other.secret)];
  const bell = (await E(a.bootstrap).cap('bell')) as unknown as Far<Bell>;
  expect(await E(b.bootstrap).caps()).toEqual([]);
  expect(await code(E(b.bootstrap).cap('bell'))).toBe('no-such-object');
  // A program that holds both passes its own proxy: still by its own connection, and gone with it.
  expect(await E(bell).ring('mine')).toBe('ding mine');
  a.close();
  await a.closed;
  expect(await code(E(bell).ring('gone'))).toBe('disconnected');
  expect(await E(b.bootstrap).caps()).toEqual([]);
});
