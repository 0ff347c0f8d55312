/** Object URLs: who was not given one learns nothing from it. */
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { E, type Far } from '@hob/vat';
import { testClock } from '@hob/vat/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { requires } from '../../../../test/needs.ts';
import { code, lines, shout, type TestHost, testHost } from '../../test/test-host.ts';

interface Bell {
  ring(text: string): Promise<string>;
}
const clock = testClock();
let home: TestHost;
let url: string;
let rung: string[];
beforeEach(async () => {
  home = await testHost({ clock });
  rung = [];
  await home.host.offer('bell', {
    ring: async (text: string) => {
      rung.push(text);
      return `ding ${text}`;
    },
    bytes: async () => new Uint8Array(3),
    self: async () => ({ ring: async () => 'x' }),
    nothing: async () => undefined,
    fail: async () => {
      throw new Error('somebody/secret.txt: no such file');
    },
  });
  await E(home.granter).grant(home.session.id, 'bell', 'bell', {});
  url = await home.session.publish('bell');
});
afterEach(() => home.close());

/** The whole answer, byte for byte. */
async function http(
  path: string,
  { secret, method = 'POST', body = '{"method":"ring","args":["x"]}', ...more }: { readonly secret?: string; readonly method?: string; readonly body?: string; readonly host?: string; readonly origin?: string } = {}, // biome-ignore format: one line
): Promise<string> {
  const head = [
    `${method} ${path} HTTP/1.1`,
    `Host: ${more.host ?? new URL(home.url).host}`,
    ...(secret === undefined ? [] : [`Authorization: Bearer ${secret}`]),
    ...(more.origin === undefined ? [] : [`Origin: ${more.origin}`]),
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  const { text, closed } = await shout(home.url, `${head.join('\r\n')}\r\n\r\n${body}`);
  expect(closed).toBe(true);
  return text;
}
const json = (answer: string): unknown => JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')));
const status = (answer: string): string => answer.slice(9, 12);
const chance = `/object/${'a'.repeat(52)}`;

test('the session that an object URL was made for can call it, over the wire, by HTTP and in the program', async () => {
  expect(url).toMatch(/^\/object\/[a-z2-7]{52}$/);
  const { secret } = home.session;
  const agent = await home.enter(secret);
  expect(await E(E(agent.bootstrap).resolve(url) as unknown as Far<Bell>).ring('a')).toBe('ding a');
  expect(await E(await home.session.resolve<Bell>(url)).ring('b')).toBe('ding b');
  expect(json(await http(url, { secret }))).toEqual({ value: 'ding x' });
  expect(json(await http(url, { secret, body: '{"method":"nothing"}' }))).toEqual({ value: null });
  // A value that JSON cannot carry is named as such, a failure has its code, and nothing of the host is in it.
  for (const [body, expected] of [
    ['{"method":"bytes"}', 'invalid'],
    ['{"method":"self"}', 'invalid'],
    ['{"method":"fail"}', 'error'],
    ['{"method":"absent"}', 'no-such-method'],
    ['{"method":"then"}', 'no-such-method'],
    ['{"method":"__proto__"}', 'no-such-method'],
    ['{"method":"constructor"}', 'no-such-method'],
  ] as const) {
    const answer = await http(url, { secret, body });
    expect(json(answer), body).toMatchObject({ code: expected });
    expect(answer).not.toMatch(/somebody|\.ts/);
  }
  for (const body of ['', '{', '[]', 'null', '{"method":7}', '{"method":"ring","args":{}}', 'x'.repeat(300_000)])
    for (const path of [url, chance]) expect(status(await http(path, { secret, body })), body.slice(0, 20)).toBe('400');
  expect(rung).toEqual(['a', 'b', 'x']);
});

test('foreign, dead, expired, revoked and invented URLs get the same answer, byte for byte, for every kind of request; the ledger has each attempt', async () => {
  const other = await home.host.openSession({ name: 'other', granters: ['owner'] });
  const { secret } = home.session;
  const random = await http(chance, { secret });
  expect(status(random)).toBe('404');
  const dead = await home.session.publish('bell');
  await home.session.unpublish(dead);
  const over = await home.session.publish('bell', { for: 1000 });
  expect(json(await http(over, { secret }))).toEqual({ value: 'ding x' });
  clock.advance(1000);
  const recorded = (await lines(home.host, 'refuse')).length;
  const tries = [
    http(url, { secret: other.secret }),
    http(dead, { secret }),
    http(over, { secret }),
    http(`${url}a`, { secret }),
    http(`${url.slice(0, -1)}`, { secret }),
    http(`${url}?x`, { secret }),
    http('/object/../object/x', { secret }),
    http(url, { secret, method: 'GET' }),
    http(chance, { secret, method: 'GET' }),
    http(url, { secret, method: 'PUT' }),
    http(url, { secret: other.secret, method: 'GET' }),
    http(url, { secret: home.granterSecret }),
    http(url, { method: 'GET' }),
  ];
  for (const answer of await Promise.all(tries)) expect(answer).toBe(random);
  expect(rung).toEqual(['x']);
  await home.host.close();
  const { openHost } = await import('../index.ts');
  const again = await openHost({ stateDir: `${home.folder}/state`, clock });
  const refusals = (await lines(again, 'refuse')).slice(recorded);
  const count = (session: string): number =>
    refusals
      .filter((line) => line['session'] === session)
      .reduce((sum, line) => sum + ((line['count'] as number | undefined) ?? 1), 0);
  expect(count(home.session.id)).toBe(9);
  expect(count(other.id)).toBe(2);
  // It is there after a restart, as long as its time and its grant last.
  await again.offer('bell', { ring: async () => 'dong' });
  expect(await E(await (await again.session(home.session.id)).resolve<Bell>(url)).ring('x')).toBe('dong');
  await E(await again.granter('owner')).revoke('all');
  expect(await code((await again.session(home.session.id)).resolve<Bell>(url))).toBe('no-such-object');
  await (await again.session(home.session.id)).end();
  await again.close();
});

test('over the wire the URL of another session gets the answer of an invented one', async () => {
  const other = await home.host.openSession({ name: 'other', granters: ['owner'] });
  const thief = await home.enter(other.secret);
  const why = async (text: unknown): Promise<unknown> =>
    E(thief.bootstrap)
      .resolve(text as string)
      .then(
        () => 'ok',
        ({ code: said, message }) => [said, message],
      );
  const said = await Promise.all([url, chance, '', '/object/', url.slice(8), 7, null, {}].map(why));
  expect(new Set(said.map((each) => JSON.stringify(each))).size).toBe(1);
  expect(said[0]).toEqual(['no-such-object', expect.any(String)]);
  expect(rung).toEqual([]);
});

test('a stranger gets 401 for every id; web pages and re-bound names get no answer about it', async () => {
  const answers = await Promise.all([http(url), http(chance), http(url, { secret: 'hob1_wrong' }), http(url, { secret: 'x' })]); // biome-ignore format: one line
  expect(new Set(answers).size).toBe(1);
  expect(status(answers[0] as string)).toBe('401');
  const { secret } = home.session;
  for (const more of [{ origin: 'http://evil.example' }, { origin: 'null' }, { host: 'evil.example' }])
    for (const path of [url, chance]) expect(status(await http(path, { secret, ...more }))).toBe('403');
  expect(rung).toEqual([]);
  expect(await lines(home.host, 'refuse')).toEqual([]);
});

/**
 * Run by another user, who was told the URL: what the door says to it, and what it finds of the host's state.
 */
const intruder = `
  const { readdirSync, readFileSync } = require('node:fs');
  const [base, path, state] = process.argv.slice(1);
  const found = [];
  for (const look of [() => readdirSync(state), () => readFileSync(state + '/store.db'), () => readFileSync(state + '/ledger.key')])
    try { look(); found.push('read'); } catch { found.push('not'); }
  const tries = [{}, { authorization: 'Bearer ' }, { authorization: 'Bearer hob1_' + 'a'.repeat(43) }, { authorization: 'Bearer ' + path }];
  Promise.all(tries.map(async (headers) => (await fetch(base + path, { method: 'POST', headers, body: '{"method":"ring","args":["x"]}' })).status))
    .then((statuses) => console.log(JSON.stringify([process.getuid(), found, statuses])));
`;

requires('unprivileged', 'root')(
  'another user’s process that learnt the URL has no credential for it, and finds none in the state of the host',
  async () => {
    const base = home.url.replace(/^ws/, 'http');
    expect(readdirSync(join(home.folder, 'state'))).toEqual(expect.arrayContaining(['store.db', 'ledger.key']));
    const child = promisify(execFile)(process.execPath, ['-e', intruder, base, url, join(home.folder, 'state')], {
      uid: 54_321,
      gid: 54_321,
      cwd: '/',
      env: {},
    });
    expect(JSON.parse((await child).stdout)).toEqual([54_321, ['not', 'not', 'not'], [401, 401, 401, 401]]);
    expect(rung).toEqual([]);
  },
);

test('an HTTP call is a call of the session: the grant counts it and can end it, and an ended session has no objects', async () => {
  const { id } = (await E(home.granter).grant(home.session.id, 'two', 'bell', { uses: 2 })) as { id: string };
  const two = await home.session.publish('two');
  const { secret } = home.session;
  const said = await Promise.all(Array.from({ length: 5 }, () => http(two, { secret })));
  expect(said.map(json).filter((each) => (each as { value?: string }).value !== undefined)).toHaveLength(2);
  // Used up, and revoked: no object, as for a made up one.
  expect(said.filter((each) => status(each) === '404')).toHaveLength(3);
  await E(home.granter).revoke({ grant: id });
  expect(await http(two, { secret })).toBe(await http(chance, { secret }));
  await home.session.end();
  expect(status(await http(url, { secret }))).toBe('401');
  for (const ms of [0, -1, Number.NaN, 25 * 3_600_000, '5'])
    expect(await code(home.session.publish('bell', { for: ms as number }))).not.toBe('ok');
});

test('a session has at most 1,000 object URLs; expired ones do not count', async () => {
  for (let made = 1; made < 1000; made += 1) await home.session.publish('bell', { for: 60_000 });
  expect(await code(home.session.publish('bell'))).toBe('limit');
  clock.advance(60_000);
  await home.session.publish('bell');
  expect(await code(home.session.publish('absent'))).toBe('no-such-object');
});
