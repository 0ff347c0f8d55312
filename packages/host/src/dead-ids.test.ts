/**
 * Ids whose object is gone. Who holds one, also the session that it was made for, learns no more than from
 * one that never was: bytes are compared.
 */
import { connect as dial } from 'node:net';
import { join } from 'node:path';
import { backup, connect, E, openStore } from '@hob/vat';
import { restoreStore } from '@hob/vat/store';
import { testClock } from '@hob/vat/testing';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import WebSocket from 'ws';
import { HostProcess } from '../test/host-process.ts';
import { code, lines, shout, type TestHost, testHost } from '../test/test-host.ts';
import { type Grant, openHost } from './index.ts';

const clock = testClock();
const chance = `/object/${'a'.repeat(52)}`;
const minute = 60_000;
let home: TestHost;
beforeEach(async () => {
  home = await testHost({ clock });
  await home.host.offer('bell', { ring: async () => 'ding' });
});
afterEach(() => home.close());

/** All that the door says, byte for byte. */
async function http(
  path: string,
  secret: string,
  method = 'POST',
  body = '{"method":"ring","args":[]}',
): Promise<string> {
  const head = [
    `${method} ${path} HTTP/1.1`,
    `Host: ${new URL(home.url).host}`,
    `Authorization: Bearer ${secret}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  const { text, closed } = await shout(home.url, `${head.join('\r\n')}\r\n\r\n${body}`);
  expect(closed).toBe(true);
  return text;
}

/** The first frame that answers `resolve(path)` on a fresh connection, as text. */
function frame(path: string, secret: string): Promise<string> {
  const socket = new WebSocket(home.url, ['hob.1'], { headers: { authorization: `Bearer ${secret}` } });
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.once('open', () => socket.send(JSON.stringify([['deliver', 0, 'resolve', [path], 1]])));
    socket.on('message', (data) => {
      const text = String(data);
      if (!text.includes('"fail"') && !text.includes('"return"')) return;
      socket.close();
      socket.once('close', () => resolve(text));
    });
  });
}

/** The same as for a made up id, however it is asked for. */
async function expectDead(url: string, secret: string): Promise<void> {
  for (const [method, body] of [['POST'], ['GET'], ['PUT'], ['POST', '{'], ['POST', '{"method":"absent"}']] as const)
    expect([method, body, await http(url, secret, method, body)]).toEqual([method, body, await http(chance, secret, method, body)]); // biome-ignore format: one line
  const made = await frame(chance, secret);
  expect(made).toContain('"fail"');
  expect(await frame(url, secret)).toBe(made);
}

const give = async (petname: string, terms: object = {}): Promise<string> =>
  ((await E(home.granter).grant(home.session.id, petname, 'bell', { for: 60 * minute, ...terms })) as Grant).id;

test('the id of a revoked, expired or exhausted grant gets the answer of an unknown id, also for its own session', async () => {
  const { secret } = home.session;
  const id = await give('revoked');
  const revoked = await home.session.publish('revoked');
  await give('over', { for: minute });
  const over = await home.session.publish('over', { for: 30 * minute });
  await give('used', { uses: 1 });
  const used = await home.session.publish('used');
  for (const url of [revoked, over]) expect(await http(url, secret)).toMatch(/"value":"ding"/);
  expect(await http(used, secret)).toMatch(/"value":"ding"/);
  await E(home.granter).revoke({ grant: id });
  clock.advance(minute);
  for (const url of [revoked, over, used]) {
    await expectDead(url, secret);
    expect(await code(home.session.resolve(url))).toBe('no-such-object');
  }
  expect(await http(chance, secret)).toMatch(/^HTTP\/1\.1 404 /);
  // The door says no date: nothing had to be masked.
  expect(await http(chance, secret)).not.toMatch(/^date:/im);
});

test('no id is made for a grant that has ended, before or during the call', async () => {
  const id = await give('revoked');
  await give('over', { for: minute });
  await give('used', { uses: 1 });
  await E(await home.session.cap<{ ring(): Promise<string> }>('used')).ring();
  const racing = home.session.publish('revoked');
  await E(home.granter).revoke({ grant: id });
  const url = await racing.catch(() => undefined);
  if (url !== undefined) await expectDead(url, home.session.secret);
  clock.advance(minute);
  for (const [petname, ending] of [['revoked', 'revoked'], ['over', 'expired'], ['used', 'exhausted']] as const) // biome-ignore format: one line
    expect(await code(home.session.publish(petname))).toBe(ending);
});

test('if the last use is spent between the look-up and the call, other callers get the answer of an invented id', async () => {
  await give('two', { uses: 2 });
  const url = await home.session.publish('two');
  const said = await Promise.all(Array.from({ length: 12 }, () => http(url, home.session.secret)));
  const made = await http(chance, home.session.secret);
  expect(said.filter((each) => each.includes('"value":"ding"'))).toHaveLength(2);
  expect(said.filter((each) => each === made)).toHaveLength(10);
});

test('when the grant above has ended, the child’s id is dead, and its sturdyref works no more than an invented secret', async () => {
  const id = await give('bell');
  const agent = await home.enter(home.session.secret);
  const child = (await E(agent.bootstrap).spawnChild({ name: 'helper', caps: { mine: 'bell' } })) as { id: string; secret: string }; // biome-ignore format: one line
  const helper = await home.host.session(child.id);
  const url = await helper.publish('mine');
  expect(await http(url, child.secret)).toMatch(/"value":"ding"/);
  const { grant, sturdyref } = (await E(home.granter).mint(child.id, 'mine')) as { grant: Grant; sturdyref: string };
  await E(home.granter).revoke({ grant: id });
  await expectDead(url, child.secret);
  expect(await code(helper.publish('mine'))).toBe('revoked');
  expect(await code(E(home.granter).mint(child.id, 'mine'))).toBe('revoked');
  expect(await code(E(home.granter).rotate(grant.id))).toBe('revoked');
  const upgrade = (secret: string): Promise<string> => knock(home.url, secret);
  expect(await upgrade(sturdyref)).toBe(await upgrade(`hob1_${'a'.repeat(43)}`));
  expect(await http(url, sturdyref)).toBe(await http(chance, `hob1_${'a'.repeat(43)}`));
});

/** The door's answer to a client that enters with that secret. */
function knock(url: string, secret: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = dial(Number(new URL(url).port), '127.0.0.1');
    let text = '';
    socket.setEncoding('latin1');
    socket.on('data', (part: string) => {
      text += part;
    });
    socket.on('close', () => resolve(text));
    socket.write(
      `GET / HTTP/1.1\r\nHost: ${new URL(url).host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: hob.1\r\nAuthorization: Bearer ${secret}\r\n\r\n`,
    );
  });
}

test('after a session has ended its secret opens no id', async () => {
  await give('bell');
  const url = await home.session.publish('bell');
  await home.session.end();
  expect(await http(url, home.session.secret)).toBe(await http(chance, home.session.secret));
  expect(await http(url, home.session.secret)).toMatch(/^HTTP\/1\.1 401 /);
});

test('an offer that is missing after a restart ends no grant: its session gets unavailable, another session the answer of an invented id', async () => {
  const state = join(home.folder, 'other-state');
  const start = async (): Promise<HostProcess> => {
    const host = new HostProcess(state);
    onTestFinished(() => host.kill());
    Object.assign(home, { url: await host.url });
    return host;
  };
  const first = await start();
  await first.do('offer');
  await first.do('addGranter', 'owner');
  const open = (name: string): Promise<{ id: string; secret: string }> => first.do('openSession', { name, granters: ['owner'] }); // biome-ignore format: one line
  const [mine, other] = [await open('mine'), await open('other')];
  await first.do('granter', 'owner', 'grant', mine.id, 'bell', 'bell', { scope: 'permanent' });
  const url = await first.do<string>('publish', mine.id, 'bell');
  expect(await http(url, mine.secret)).toMatch(/"value":"ding"/);
  await first.kill();
  const second = await start();
  expect(await http(url, mine.secret)).toMatch(/"code":"unavailable"/);
  await expectDead(url, other.secret);
  await second.do('granter', 'owner', 'revoke', 'all');
  await expectDead(url, mine.secret);
});

test('a dead id and an invented one leave the same ledger line', async () => {
  const id = await give('bell');
  const url = await home.session.publish('bell');
  await E(home.granter).revoke({ grant: id });
  await frame(chance, home.session.secret);
  const before = (await lines(home.host, 'refuse')).length;
  expect(before).toBe(1);
  clock.advance(2 * minute);
  await frame(url, home.session.secret);
  const told = (await lines(home.host, 'refuse')).map(({ k, session, what, code: said, grant, method }) => ({ k, session, what, code: said, grant, method })); // biome-ignore format: one line
  expect(told).toHaveLength(2);
  for (const line of told) expect(line).toEqual({ k: 'refuse', session: home.session.id, what: 'object', code: 'no-such-object', grant: undefined, method: undefined }); // biome-ignore format: one line
});

test('in a restored store, a suspended grant does not hide that the grant above has ended', async () => {
  const id = await give('bell', { uses: 9 });
  const agent = await home.enter(home.session.secret);
  const child = (await E(agent.bootstrap).spawnChild({ name: 'helper', caps: {} })) as { id: string };
  await E(home.granter).delegate(home.session.id, 'bell', child.id, { as: 'mine', uses: 3 });
  const { sturdyref } = (await E(home.granter).mint(child.id, 'mine', { uses: 2 })) as { sturdyref: string };
  agent.close();
  await agent.closed;
  await home.host.close();
  const store = await openStore({ path: join(home.folder, 'state') });
  await backup(store, join(home.folder, 'copy'));
  await store.close();
  await restoreStore(join(home.folder, 'copy'), { path: join(home.folder, 'again') });
  const host = await openHost({ stateDir: join(home.folder, 'again'), clock });
  onTestFinished(() => host.close());
  Object.assign(home, { host, url: (await host.serve()).url });
  const granter = await host.granter('owner');
  await E(granter).revoke({ grant: id });
  for (const grant of await E(granter).list({ session: child.id })) expect(grant.state).toBe('revoked');
  expect(await code(connect(home.url, { secret: sturdyref }))).toBe('denied');
});
