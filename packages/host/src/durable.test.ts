/**
 * The table in docs/durability.md for sessions and grants: kept over a kill; over a boot only grants until a
 * date.
 */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { connect, type Definition, define, E, type Far } from '@hob/vat';
import { testClock } from '@hob/vat/testing';
import type { Connected } from '@hob/vat/wire';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { HostProcess } from '../test/host-process.ts';
import { code, held, lines, scratch } from '../test/test-host.ts';
import { type Grant, type Host, openHost, type SessionFace } from './index.ts';

interface Bell {
  ring(): Promise<string>;
}
let folder: string;
let state: string;
beforeEach(() => {
  folder = scratch();
  state = join(folder, 'state');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function start(graceMs?: number): HostProcess {
  const host = new HostProcess(state, graceMs);
  onTestFinished(() => host.kill());
  return host;
}
async function enter(url: string, secret: string): Promise<Connected<SessionFace>> {
  const connection = await connect<SessionFace>(url, { secret });
  onTestFinished(async () => {
    connection.close();
    await connection.closed;
  });
  return connection;
}
const ring = (connection: Connected<SessionFace>, petname: string): Promise<string> =>
  code(E(held<Bell>(connection, petname)).ring());

const day = 86_400_000;

test('after kill -9 an agent enters its session with the same secret, and finds its c-list, its grants and their uses and time left', async () => {
  const first = start();
  await first.do('offer');
  const granterSecret = await first.do<string>('addGranter', 'owner');
  const { id, secret } = await first.do<{ id: string; secret: string }>('openSession', { name: 'work', granters: ['owner'] }); // biome-ignore format: one line
  const terms = {
    once: { scope: 'once' },
    three: { uses: 3 },
    hour: { for: 3_600_000 },
    session: { scope: 'session' },
    until: { until: Date.now() + day },
    permanent: { scope: 'permanent' },
    gone: {},
  };
  for (const [petname, of] of Object.entries(terms))
    await first.do('granter', 'owner', 'grant', id, petname, 'bell', of);
  const child = await first.do<{ id: string; secret: string }>('openSession', { name: 'child', granters: ['owner'], parent: id }); // biome-ignore format: one line
  await first.do('granter', 'owner', 'delegate', id, 'three', child.id, { as: 'mine' });
  const agent = await enter(await first.url, secret);
  expect(await Promise.all([ring(agent, 'once'), ring(agent, 'three')])).toEqual(['ok', 'ok']);
  const grants = await first.do<Grant[]>('granter', 'owner', 'list');
  await first.do('granter', 'owner', 'revoke', { grant: grants.find(({ petname }) => petname === 'gone')?.id });
  const before = await first.do<Grant[]>('granter', 'owner', 'list');
  // One call more, acknowledged just before the kill.
  expect(await ring(agent, 'three')).toBe('ok');
  await first.kill();
  expect(['disconnected', 'closed']).toContain(await ring(agent, 'hour'));

  const second = start();
  const url = await second.url;
  const again = await enter(url, secret);
  expect(await E(again.bootstrap).caps()).toEqual(Object.keys(terms).sort());
  // Offers that are no actors of the store are there again when the program offers them.
  expect(await ring(again, 'until')).toBe('unavailable');
  await second.do('offer');
  const after = await second.do<Grant[]>('granter', 'owner', 'list');
  // What the child has left is at most what the grant above has.
  const called = ['three', 'mine'];
  expect(after).toEqual(before.map((each) => (called.includes(each.petname) ? { ...each, usesLeft: 1 } : each)));
  const said = Object.fromEntries(await Promise.all(Object.keys(terms).map(async (petname) => [petname, await ring(again, petname)]))); // biome-ignore format: one line
  expect(said).toEqual({ once: 'exhausted', three: 'ok', hour: 'ok', session: 'ok', until: 'ok', permanent: 'ok', gone: 'revoked' }); // biome-ignore format: one line
  const below = await enter(url, child.secret);
  expect(await ring(below, 'mine')).toBe('exhausted');
  const owner = await connect(url, { secret: granterSecret });
  owner.close();
  await owner.closed;
  expect(await second.do('verify')).toMatchObject({ ok: true });
});

test('after kill -9 during a rotation or an end, the old secret works until the new one is used, and an ended session stays ended', async () => {
  let host = start();
  await host.do('addGranter', 'owner');
  const { id, secret } = await host.do<{ id: string; secret: string }>('openSession', { name: 'work' });
  const ended = await host.do<{ id: string; secret: string }>('openSession', { name: 'other' });
  const unused = await host.do<string>('rotate', id);
  const used = await host.do<string>('rotate', id);
  await host.do('end', ended.id);
  await host.kill();
  host = start();
  // If two were made, the later one counts.
  expect(await code(connect(await host.url, { secret: unused }))).toBe('denied');
  expect(await code(connect(await host.url, { secret: ended.secret }))).toBe('denied');
  await enter(await host.url, secret);
  await enter(await host.url, used);
  expect(await code(connect(await host.url, { secret }))).toBe('denied');
  await host.kill();
  host = start();
  expect(await code(connect(await host.url, { secret }))).toBe('denied');
  await enter(await host.url, used);
  expect(await host.do('sessions')).toEqual([{ id, name: 'work' }]);
});

const Box: Definition<Bell, []> = define('Box', () => ({ ring: () => 'ding' as never }));

test('after a reboot grants for a time have ended and grants with a date continue; sessions and granters are as before', async () => {
  const clock = testClock();
  let host: Host;
  const open = async (): Promise<Host> => {
    host = await openHost({ stateDir: state, clock, definitions: [Box] });
    return host;
  };
  host = await open();
  onTestFinished(() => host.close());
  const box = await host.vats.vat('mine').root('box', () => Box());
  await host.offer('bell', box);
  const { granter } = await host.addGranter('owner');
  const { id, secret } = await host.openSession({ name: 'work', granters: ['owner'] });
  for (const [petname, terms] of Object.entries({
    once: { scope: 'once' },
    three: { uses: 3 },
    hour: { for: 3_600_000 },
    session: { scope: 'session' },
    until: { until: clock.wall() + day },
    permanent: { scope: 'permanent' },
  } as const))
    await E(granter).grant(id, petname, 'bell', terms);
  const child = await host.openSession({ name: 'child', granters: ['owner'], parent: id });
  await E(granter).delegate(id, 'until', child.id);
  await E(granter).delegate(id, 'hour', child.id);
  await host.close();
  clock.reboot(60_000);
  host = await open();
  const states = Object.fromEntries((await E(await host.granter('owner')).list()).map((each) => [`${each.session === id ? '' : 'child '}${each.petname}`, each.state])); // biome-ignore format: one line
  expect(states).toEqual({
    once: 'expired',
    three: 'expired',
    hour: 'expired',
    session: 'expired',
    until: 'live',
    permanent: 'live',
    'child until': 'live',
    'child hour': 'expired',
  });
  const session = await host.session(id);
  expect(session.secret).toBeUndefined();
  // An offer that is an actor of the store needs no offering again.
  expect(await E(await session.cap<Bell>('permanent')).ring()).toBe('ding');
  expect(await code(E(await session.cap<Bell>('session')).ring())).toBe('expired');
  const { url } = await host.serve();
  await enter(url, secret);
  clock.advance(day);
  expect(await code(E(await (await host.session(child.id)).cap<Bell>('until')).ring())).toBe('expired');
  expect(await host.verify()).toMatchObject({ ok: true });
});

test('restarts at random points lose nothing that was acknowledged, and repeat nothing', async () => {
  const clock = testClock();
  let rung = 0;
  const bell = { ring: async () => `${(rung += 1)}` };
  let host = await openHost({ stateDir: state, clock });
  onTestFinished(() => host.close());
  await host.addGranter('owner');
  const { id } = await host.openSession({ name: 'work', granters: ['owner'] });
  await host.offer('bell', bell);
  await E(await host.granter('owner')).grant(id, 'bell', 'bell', { uses: 12 });
  let answered = 0;
  for (let round = 0; round < 8; round += 1) {
    const cap = await (await host.session(id)).cap<Bell>('bell');
    const calls = [E(cap).ring(), E(cap).ring()].map((call) => call.then(() => (answered += 1), () => {})); // biome-ignore format: one line
    if (round % 2 === 0) await calls[0];
    await host.close();
    await Promise.all(calls);
    host = await openHost({ stateDir: state, clock });
    await host.offer('bell', bell);
  }
  const [grant] = await E(await host.granter('owner')).list();
  // A use may be burned by an end in between; none is ever given back.
  expect(answered).toBeLessThanOrEqual(12);
  expect(rung).toBeLessThanOrEqual(12);
  expect(12 - (grant?.usesLeft ?? Number.NaN)).toBeGreaterThanOrEqual(rung);
  expect(rung).toBeGreaterThanOrEqual(answered);
  const calls = (await lines(host, 'call')).length;
  expect(calls).toBe(12 - (grant?.usesLeft ?? Number.NaN));
});

test('the store holds hashes and no secret; the state of a host is one folder', async () => {
  const host = await openHost({ stateDir: state });
  const { secret: granter } = await host.addGranter('owner');
  const session = await host.openSession({ name: 'work', granters: ['owner'] });
  const { secret: rotated } = await session.rotate();
  await host.offer('bell', { ring: async () => 'ding' });
  await E(await host.granter('owner')).grant(session.id, 'bell', 'bell', {});
  const url = await session.publish('bell');
  const { bootstrap } = await connectTo(host, session.secret);
  const child = await E(bootstrap).spawnChild({ name: 'child', caps: {} });
  await host.close();
  const { readFileSync, readdirSync } = await import('node:fs');
  const all = readdirSync(state).map((name) => readFileSync(join(state, name), 'latin1')).join('\n'); // biome-ignore format: one line
  for (const secret of [granter, session.secret, rotated, child.secret, url.slice('/object/'.length)]) {
    expect(secret.length).toBeGreaterThan(50);
    expect(all).not.toContain(secret);
  }
  expect(existsSync(join(state, 'store.db'))).toBe(true);
});

async function connectTo(host: Host, secret: string): Promise<{ readonly bootstrap: Far<SessionFace> }> {
  const { url } = await host.serve();
  return enter(url, secret);
}
