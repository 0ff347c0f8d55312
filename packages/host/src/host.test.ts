/** A host from the inside and the outside: what a session sees, and what one cannot do to another. */
import { chmodSync, mkdirSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { openFsCap } from '@hob/caps-fs';
import { CapError, E } from '@hob/vat';
import { testClock } from '@hob/vat/testing';
import type { Connected } from '@hob/vat/wire';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { code, held, lines, type TestHost, testHost } from '../test/test-host.ts';
import { openHost, type SessionFace } from './index.ts';

interface Bell {
  ring(text: string): Promise<string>;
  wait(): Promise<string>;
}
let waiting: PromiseWithResolvers<string>;
const bell = { ring: async (text: string) => `ding ${text}`, wait: () => waiting.promise };

let home: TestHost;
beforeEach(async () => {
  waiting = Promise.withResolvers();
  home = await testHost();
  await home.host.offer('bell', bell);
});
afterEach(() => {
  waiting.resolve('over');
  return home.close();
});
const grant = (petname: string, terms = {}, session = home.session.id): Promise<{ id: string }> =>
  E(home.granter).grant(session, petname, 'bell', terms) as unknown as Promise<{ id: string }>;
/** Sends what has no types; some names are never sent at all. */
async function send(x: unknown, method: string, ...args: readonly unknown[]): Promise<unknown> {
  const act = (E(x as object) as Record<string, ((...given: readonly unknown[]) => Promise<unknown>) | undefined>)[
    method
  ];
  if (act === undefined) throw new CapError('no-such-method', 'never sent');
  return act(...args);
}

test('a session starts empty, and sees only what was granted to it', async () => {
  const { bootstrap } = await home.enter(home.session.secret);
  expect(await E(bootstrap).caps()).toEqual([]);
  await grant('bell-a');
  expect(await E(bootstrap).caps()).toEqual(['bell-a']);
  const connection = { bootstrap } as Connected<SessionFace>;
  expect(await E(held<Bell>(connection, 'bell-a')).ring('x')).toBe('ding x');
  const absent = ['bell', 'directory', '', '__proto__', 'constructor', 'toString', 'then', 'x'.repeat(100_000), '../bell-a', 'BELL-A']; // biome-ignore format: one line
  const said = await Promise.all(
    absent.map((name) =>
      E(bootstrap)
        .cap(name)
        .catch((error: Error) => error.message),
    ),
  );
  expect(new Set(said).size).toBe(1);
  for (const name of [undefined, null, 7, {}, ['bell-a'], bootstrap])
    expect(await code(E(bootstrap).cap(name as string))).toBe('no-such-object');
});

test('a session’s bootstrap has no method of a host, a granter, a ledger or a gate', async () => {
  await grant('bell-a');
  const connection = await home.enter(home.session.secret);
  for (const method of [
    'grant',
    'list',
    'revoke',
    'ledger',
    'verify',
    'offer',
    'openSession',
    'addGranter',
    'expire',
    'look',
    'admit',
    'pass',
    'held',
    'constructor',
    '__proto__',
    'vats',
    'lines',
    'expireAt',
  ]) {
    // biome-ignore format: one line
    expect(await code(send(connection.bootstrap, method)), method).toBe('no-such-method');
    expect(await code(send(held(connection, 'bell-a'), method)), method).toBe('no-such-method');
  }
});

test('another granter’s sessions look like sessions that do not exist', async () => {
  const { granter: stranger } = await home.host.addGranter('stranger');
  const { id } = await grant('bell-a');
  const never = 'never-0000';
  const why = (promise: Promise<unknown>): Promise<string> => promise.then(() => 'ok', (error: Error) => error.message); // biome-ignore format: one line
  const of = (session: string): Promise<string[]> =>
    Promise.all([
      why(E(stranger).grant(session, 'mine', 'bell', {})),
      why(E(stranger).revoke({ session })),
      why(E(stranger).list({ session })),
    ]);
  expect(await of(home.session.id)).toEqual(await of(never));
  expect(await why(E(stranger).revoke({ grant: id }))).toBe(await why(E(stranger).revoke({ grant: 'g999-none' })));
  expect(await E(stranger).list()).toEqual([]);
  await E(stranger).revoke('all');
  expect(await E(home.granter).list({ live: true })).toHaveLength(1);
});

test('a petname is never bound again, not even after its grant was revoked', async () => {
  const { id } = await grant('bell-a');
  expect(await code(grant('bell-a'))).toBe('invalid');
  await E(home.granter).revoke({ grant: id });
  expect(await code(grant('bell-a'))).toBe('invalid');
  for (const name of ['', 'A', 'a b', '../a', '__proto__', 'a'.repeat(64), 'a\n', '-a'])
    expect(await code(grant(name))).toBe('invalid');
});

test('an offer is never granted without terms: with invalid terms there is no grant and no line', async () => {
  for (const terms of [{ uses: 0 }, { for: 1, until: 2 }, { use: 1 }, { for: 91 * 86_400_000 }])
    expect(await code(grant('bell-a', terms))).toBe('invalid');
  expect(await home.session.caps()).toEqual([]);
  expect(await lines(home.host, 'grant')).toEqual([]);
  expect(await code(E(home.granter).grant(home.session.id, 'a', 'nothing', {}))).toBe('no-such-object');
});

test('a reference of one session means nothing on another session’s connection', async () => {
  const other = await home.host.openSession({ name: 'other', granters: ['owner'] });
  await grant('bell-a');
  const [mine, theirs] = [await home.enter(home.session.secret), await home.enter(other.secret)];
  const bellOfMine = await E(mine.bootstrap).cap('bell-a');
  // As an argument it arrives as an object of the other session’s own, not as the host’s.
  expect(await code(E(theirs.bootstrap).cap(bellOfMine as unknown as string))).toBe('no-such-object');
  expect(await E(theirs.bootstrap).caps()).toEqual([]);
});

test('a session that floods the host gets limit, and another session is served meanwhile', async () => {
  const other = await home.host.openSession({ name: 'other', granters: ['owner'] });
  await grant('bell-b', {}, other.id);
  const [flood, quiet] = [await home.enter(home.session.secret), await home.enter(other.secret)];
  // Calls that nobody answers are what piles up.
  await grant('bell-a');
  const stuck = held<Bell>(flood, 'bell-a');
  const codes: Promise<string>[] = [];
  for (let index = 0; index < 12_000; index += 1) {
    codes.push(code(E(stuck).wait()));
    if (index % 1000 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  let refused = 0;
  for (const each of codes) void each.then((said) => (refused += said === 'limit' ? 1 : 0));
  expect(await E(held<Bell>(quiet, 'bell-b')).ring('x')).toBe('ding x');
  // The host reads a flooding session only as fast as it runs the turns, so refusals come late.
  await expect.poll(() => refused).toBeGreaterThan(100);
  expect(await E(held<Bell>(quiet, 'bell-b')).ring('x')).toBe('ding x');
  flood.close();
  const counts = Map.groupBy(await Promise.all(codes), (each) => each);
  expect([...counts.keys()].every((each) => ['limit', 'disconnected'].includes(each))).toBe(true);
  expect(counts.get('limit')?.length ?? 0).toBeGreaterThan(100);
  waiting.resolve('over');
  const meter = home.host.vats.meter(`session:${home.session.id}`);
  while ((meter.used()['messages'] ?? 0) > 0) await new Promise((resolve) => setTimeout(resolve, 20));
});

test('closing with calls in flight breaks them, and the ledger records a clean close', async () => {
  await grant('bell-a');
  const connection = await home.enter(home.session.secret);
  const answer = code(E(held<Bell>(connection, 'bell-a')).wait());
  while ((await lines(home.host, 'call')).length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  const closed = home.host.close();
  waiting.resolve('too late');
  await closed;
  expect(['unavailable', 'disconnected']).toContain(await answer);
  expect((await connection.closed).code).toBe(1001);
  const again = await openHost({ stateDir: join(home.folder, 'state') });
  expect((await lines(again, 'host-stop')).length).toBe(1);
  expect(await again.verify()).toMatchObject({ ok: true });
  await again.close();
});

test('a second host on one state is refused, and the first continues', async () => {
  const second = await openHost({ stateDir: join(home.folder, 'state') }).catch((error: unknown) => error as Error);
  expect(second).toMatchObject({
    code: 'unavailable',
    message: expect.stringMatching(/another process uses this store/),
  });
  expect((second as Error).message).not.toContain(home.folder);
  await grant('bell-a');
  expect(await home.session.caps()).toEqual(['bell-a']);
});

test('names that are taken and granters that do not exist are refused', async () => {
  expect(await code(home.host.openSession({ name: 'work' }))).toBe('invalid');
  expect(await code(home.host.openSession({ name: 'next', granters: ['nobody'] }))).toBe('no-such-object');
  expect(await code(home.host.addGranter('owner'))).toBe('invalid');
  expect(await code(home.host.offer('Bad Name', bell))).toBe('invalid');
  const alone = await home.host.openSession({ name: 'alone' });
  expect(await code(grant('bell-a', {}, alone.id))).toBe('no-such-object');
});

test('no error and no ledger line tells a session a path of the host', async () => {
  mkdirSync(join(home.folder, 'root'));
  const directory = await openFsCap(join(home.folder, 'root'));
  await home.host.offer('directory', directory);
  await E(home.granter).grant(home.session.id, 'workspace', 'directory', {});
  const connection = await home.enter(home.session.secret);
  const workspace = held(connection, 'workspace');
  const tries: [string, unknown[]][] = [
    ['readText', ['missing']],
    ['readText', ['../state/store.db']],
    ['readText', ['/etc/passwd']],
    ['write', ['a/b/c', 'x']],
    ['write', ['.', 'x']],
    ['list', ['missing']],
    ['subdir', ['missing']],
    ['remove', ['.']],
    ['rename', ['a', '../b']],
    ['readText', [{}]],
    ['readText', []],
    ['openRead', ['missing']],
    ['edit', ['missing', []]],
    ['nothing', []],
  ];
  const said: string[] = [];
  for (const [method, args] of tries)
    said.push(await send(workspace, method, ...args).then(String, (error: Error) => error.message));
  const all = JSON.stringify([said, await lines(home.host)]);
  expect(all).not.toContain(home.folder);
  expect(all).not.toMatch(/store\.db|node:fs|\.ts:\d|ENOENT.*open/);
  await directory.close();
});

const longest = 1000;
test('a long method name from a session does not fill the ledger', async () => {
  await grant('bell-a', { methods: ['ring'] });
  const connection = await home.enter(home.session.secret);
  expect(await code(send(held(connection, 'bell-a'), 'x'.repeat(500_000)))).toBe('no-such-method');
  // The longest that the wire lets in.
  await code(send(held(connection, 'bell-a'), 'x'.repeat(longest)));
  const [line] = await lines(home.host, 'refuse');
  expect(JSON.stringify(line).length).toBeLessThan(500);
});

test('state is for its owner only', () => {
  const state = join(home.folder, 'state');
  expect(statSync(state).mode & 0o777).toBe(0o700);
  expect(statSync(join(state, 'store.db')).mode & 0o777).toBe(0o600);
});

test('the start narrows the modes of state, store and key again if somebody widened them; anything but a plain file is refused', async () => {
  const state = join(home.folder, 'state');
  await home.host.close();
  const parts = [['.', 0o700], ['store.db', 0o600], ['ledger.key', 0o600]] as const; // biome-ignore format: one line
  for (const [name] of parts) chmodSync(join(state, name), 0o777);
  const host = await openHost({ stateDir: state });
  for (const [name, mode] of parts) expect(statSync(join(state, name)).mode & 0o777, name).toBe(mode);
  await host.close();
  // A link could lead to a key or a store that others read and write.
  for (const name of ['ledger.key', 'store.db']) {
    renameSync(join(state, name), join(home.folder, name));
    symlinkSync(join(home.folder, name), join(state, name));
    expect(await code(openHost({ stateDir: state }))).toBe('invalid');
    rmSync(join(state, name));
    renameSync(join(home.folder, name), join(state, name));
  }
  await (await openHost({ stateDir: state })).close();
});

test('no secret is in the ledger', async () => {
  await grant('bell-a');
  const connection = await home.enter(home.session.secret);
  await code(send(held(connection, 'bell-a'), home.session.secret));
  expect(JSON.stringify(await lines(home.host))).not.toContain(home.session.secret);
});

test('a clock that is passed in decides about time', async () => {
  const clock = testClock();
  const other = await testHost({ clock });
  try {
    await other.host.offer('bell', bell);
    await E(other.granter).grant(other.session.id, 'bell-a', 'bell', { for: 1000 });
    const cap = await other.session.cap<Bell>('bell-a');
    expect(await E(cap).ring('x')).toBe('ding x');
    clock.advance(1000);
    expect(await code(E(cap).ring('x'))).toBe('expired');
  } finally {
    await other.close();
  }
});
