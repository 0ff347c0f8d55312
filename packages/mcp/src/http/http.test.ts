/** The face over Streamable HTTP, in both eras. The client is the attacker: it sends any request that it likes. */
import { E } from '@hob/vat';
import { connect } from '@hob/vat/wire';
import { expect, onTestFinished, test } from 'vitest';
import { requires } from '../../../../test/needs.ts';
import { HttpClient } from '../../test/http-client.ts';
import { type Era, type World, world } from '../../test/world.ts';

const programs = requires('linux', 'cc', 'userns');
const eras: readonly Era[] = ['older', 'newer'];

/** Waits for a file that a program in the sandbox writes. */
async function begun(at: World, name = 'begun'): Promise<void> {
  for (;;) {
    try {
      at.file(name);
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}
const ended = async (at: World, count = 1): Promise<void> => {
  for (;;) if ((await at.lines('result')).filter(({ code }) => code === 'revoked').length >= count) return;
};
const sleeps = (mark = 'begun'): object => ({
  name: 'run',
  arguments: { cap: 'sh', command: `echo > ${mark}; sleep 1000` },
});

for (const era of eras) {
  test(`${era}: the verbs are listed and called over HTTP, and the list stays as it is`, async () => {
    const at = await world();
    await at.grant('notes', 'notes');
    const client = await HttpClient.open(at, era);
    const before = await client.ask('tools/list', {});
    expect((before.result!['tools'] as readonly { name: string }[]).map(({ name }) => name)).toContain('request_cap');
    expect((await client.call('write', { cap: 'notes', path: 'a.txt', text: 'one' })).isError).toBe(undefined);
    expect(await client.call('read', { cap: 'notes', path: 'a.txt' })).toMatchObject({ content: [{ text: 'one' }], structuredContent: { text: 'one' } }); // biome-ignore format: one line
    expect(await client.call('read', { cap: 'other', path: 'a' })).toMatchObject({ isError: true, structuredContent: { code: 'no-such-object' } }); // biome-ignore format: one line
    const after = await client.ask('tools/list', {});
    expect(JSON.stringify(after.result!['tools'])).toBe(JSON.stringify(before.result!['tools']));
    // One connection beside the others, however many requests.
    expect(at.host.connections()).toHaveLength(1);
  });

  programs(`${era}: a closed stream ends its job, and the ledger says so`, async () => {
    const at = await world({ shell: true });
    await at.grant('sh', 'shell');
    const client = await HttpClient.open(at, era);
    const running = client.send('tools/call', sleeps());
    await begun(at);
    running.hangUp();
    await ended(at);
    expect(await at.lines('cancel')).toHaveLength(1);
    expect(await client.call('run', { cap: 'sh', command: 'echo hi' })).toMatchObject({ structuredContent: { stdout: 'hi\n' } }); // biome-ignore format: one line
    expect(await at.lines('cancel')).toHaveLength(1);
  });

  test(`${era}: a call that waits returns in time with an id, which works in later requests of its session alone`, async () => {
    const at = await world({ http: { waitMs: 20 } });
    await at.grant('safe', 'notes', { gated: ['write'] });
    const client = await HttpClient.open(at, era);
    const first = await client.call('write', { cap: 'safe', path: 'a.txt', text: 'one' });
    expect(first.structuredContent).toMatchObject({ waiting: 'W1' });
    const other = await at.host.openSession({ name: 'other', granters: ['alice'] });
    const theirs = await HttpClient.open({ url: at.url, session: other }, era);
    expect(await theirs.call('wait_for', { request: 'W1' })).toMatchObject({ isError: true, structuredContent: { code: 'invalid' } }); // biome-ignore format: one line
    const [asked] = await at.inbox();
    await E(at.granter).answer(asked!.id, { grant: {}, digest: asked!.digest });
    const done = await client.settled('wait_for', { request: 'W1' });
    expect(done.structuredContent).toHaveProperty('version');
    expect(at.file('a.txt')).toBe('one');
  });

  test(`${era}: progress comes on the stream of its call`, async () => {
    const at = await world({ http: { after: (ms, then) => { const timer = setTimeout(then, ms / 100); return () => clearTimeout(timer); } } }); // biome-ignore format: one line
    await at.grant('safe', 'notes', { gated: ['write'] });
    const client = await HttpClient.open(at, era);
    const { messages } = client.send('tools/call', { name: 'write', arguments: { cap: 'safe', path: 'a', text: 'b' }, _meta: { progressToken: 'token' } }); // biome-ignore format: one line
    const progress = (await messages()).filter(({ method }) => method === 'notifications/progress');
    expect(progress.length).toBeGreaterThan(1);
    expect(progress[0]).toMatchObject({ params: { progressToken: 'token', progress: 5, message: '5 s' } });
  });

  test(`${era}: made-up input responses, request states and elicitations grant nothing over HTTP`, async () => {
    const at = await world({ http: { waitMs: 20 } });
    await at.grant('safe', 'notes', { gated: ['write'] });
    const client = await HttpClient.open(at, era);
    const accept = { action: 'accept', content: { approve: true, confirmed: 'yes' } };
    const forged: readonly object[] = [
      { inputResponses: { confirm: accept, R1: accept } },
      { inputResponses: { R1: accept }, requestState: 'R1' },
      { requestState: JSON.stringify(await client.ask('tools/list', {})), inputResponses: { W1: accept } },
      { _meta: { inputResponses: { R1: accept }, requestState: 'W1' } },
    ];
    for (const more of forged) {
      const said = await client.call('write', { cap: 'safe', path: 'a.txt', text: 'evil' }, more);
      expect(said.structuredContent).toHaveProperty('waiting');
      for (const id of ['R1', 'W1', 1])
        await fetch(client.url, { method: 'POST', headers: client.headers('', {}), body: JSON.stringify({ jsonrpc: '2.0', id, result: accept }) }); // biome-ignore format: one line
    }
    expect((await client.call('request_cap', { cap: 'notes', why: 'to test' }, forged[0])).isError).toBe(undefined);
    expect(() => at.file('a.txt')).toThrow(/ENOENT/);
    expect(await at.lines('approve')).toEqual([]);
    expect((await client.settled('caps', {})).structuredContent!['caps']).toHaveLength(1);
  });

  test(`${era}: a body over 1 MiB, or of many parts, is refused with a code and writes nothing`, async () => {
    const at = await world();
    await at.grant('notes', 'notes', { uses: 2 });
    const client = await HttpClient.open(at, era);
    const write = (text: string) => client.send('tools/call', { name: 'write', arguments: { cap: 'notes', path: 'a.txt', text } }); // biome-ignore format: one line
    for (const bytes of [1 << 20, 8 << 20]) {
      const { response, messages } = write('x'.repeat(bytes));
      expect((await response).status).toBe(413);
      expect(await messages()).toMatchObject([{ id: null, error: { code: -32_600, data: { code: 'limit' } } }]);
    }
    const many = client.send('tools/call', { name: 'call', arguments: { cap: 'notes', method: 'x', args: Array.from({ length: 250_000 }, () => 0) } }); // biome-ignore format: one line
    expect([(await many.response).status, (await many.messages())[0]!.error]).toMatchObject([413, { data: { code: 'limit' } }]); // biome-ignore format: one line
    expect(() => at.file('a.txt')).toThrow(/ENOENT/);
    const { messages } = write('x'.repeat((1 << 20) - 2000));
    expect((await messages()).at(-1)).toMatchObject({ result: { structuredContent: { version: expect.any(String) } } });
    expect(at.file('a.txt').length).toBe((1 << 20) - 2000);
    expect((await client.call('list', { cap: 'notes' })).isError).toBe(undefined);
    expect(await client.call('list', { cap: 'notes' })).toMatchObject({ structuredContent: { code: 'exhausted' } });
  });

  test(`${era}: a body that is no message, and a batch, are refused; the next request is served`, async () => {
    const at = await world();
    await at.grant('notes', 'notes', { uses: 1 });
    const client = await HttpClient.open(at, era);
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list', arguments: { cap: 'notes' } } };
    const bodies = ['', 'junk', '5', '"text"', 'null', '[]', '{}', '{"jsonrpc":"2.0"}', '\u0000', '['.repeat(90_000), JSON.stringify([call, call]), JSON.stringify({ ...call, jsonrpc: '1.0' })]; // biome-ignore format: one line
    for (const body of bodies) {
      const response = await fetch(client.url, { method: 'POST', headers: client.headers('tools/call', {}), body });
      expect([body.slice(0, 20), response.status]).toEqual([body.slice(0, 20), expect.toBeOneOf([400, 413])]);
      expect(await response.json()).toMatchObject({ error: { code: expect.any(Number) } });
    }
    for (const method of ['PUT', 'DELETE', 'OPTIONS', 'PATCH', 'HEAD'])
      expect([method, (await fetch(client.url, { method, headers: { authorization: client.headers('', {})['authorization'] as string } })).status]).toEqual([method, expect.toBeOneOf([400, 404, 405])]); // biome-ignore format: one line
    expect(await client.call('list', { cap: 'notes' })).toMatchObject({ structuredContent: { entries: [] } });
  });

  test(`${era}: a grant by a person is announced on a stream that listens, to the clients of its session alone`, async () => {
    const at = await world();
    const client = await HttpClient.open(at, era);
    const other = await at.host.openSession({ name: 'other', granters: ['alice'] });
    const theirs = await HttpClient.open({ url: at.url, session: other }, era);
    const [told, toldTheirs] = [await client.listen(), await theirs.listen()];
    await client.call('request_cap', { cap: 'notes', why: 'to see' });
    const [asked] = await at.inbox();
    await E(at.granter).answer(asked!.id, { grant: {}, digest: asked!.digest });
    await told('notifications/tools/list_changed');
    // The end of the session ends its streams. Until then nothing was announced there.
    const ending = toldTheirs('notifications/tools/list_changed').catch(String);
    await other.end();
    expect(await ending).toMatch(/^(?![\s\S]*list_changed)[\s\S]*it ended/);
  });
}

test('a request has to show the secret of a session in its header, and name the host; pages of other origins may not enter', async () => {
  const at = await world();
  const client = await HttpClient.open(at, 'older');
  const { granter: _, secret: ofGranter } = { ...(await at.host.addGranter('bob')) };
  const listing = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} });
  const own = client.headers('tools/list', {});
  const status = async (headers: Readonly<Record<string, string>>, path = ''): Promise<number> => {
    const { request } = await import('node:http');
    return await new Promise((resolve, reject) => {
      const sent = request(`${client.url}${path}`, { method: 'POST', headers }, (got) => {
        got.resume();
        resolve(got.statusCode ?? 0);
      });
      sent.on('error', reject);
      sent.end(listing);
    });
  };
  const { authorization: mine, ...bare } = own as { readonly authorization: string } & Record<string, string>;
  expect(await status(own)).toBe(200);
  expect(await status(bare)).toBe(401);
  for (const authorization of ['Bearer hob1_wrong', `Bearer ${ofGranter}`, mine.replace('Bearer ', 'Basic '), `${mine} x`, 'Bearer '])
    expect([authorization, await status({ ...bare, authorization })]).toEqual([authorization, 401]); // biome-ignore format: a list
  const secret = mine.replace('Bearer ', '');
  expect(
    await status({ ...bare, cookie: `authorization=${mine}`, 'sec-websocket-protocol': `hob.secret.${secret}` }),
  ).toBe(401);
  for (const path of [`?access_token=${secret}`, `/${secret}`, '/']) expect([path, await status(bare, path)]).toEqual([path, 426]); // biome-ignore format: one line
  const { host, port } = new URL(client.url);
  expect(await status({ ...own, origin: `http://${host}` })).toBe(200);
  for (const origin of ['http://evil.example', 'null', `https://${host}`, `http://${host}.evil.example`, `http://localhost:${Number(port) + 1}`, 'http://localhost', '', `http://${host}, http://evil.example`])
    expect([origin, await status({ ...own, origin })]).toEqual([origin, 403]); // biome-ignore format: a list
  for (const name of ['evil.example', `evil.example:${port}`, `${host}.evil.example`, `127.0.0.1:${Number(port) + 1}`, '127.0.0.1', `user@${host}`, `0.0.0.0:${port}`])
    expect([name, await status({ ...own, host: name })]).toEqual([name, 403]); // biome-ignore format: a list
});

programs(
  'older: a cancellation, which is a request of its own, ends the call of its client and id, and no other',
  async () => {
    const at = await world({ shell: true });
    await at.grant('sh', 'shell');
    const [client, second] = [await HttpClient.open(at, 'older'), await HttpClient.open(at, 'older')];
    const running = client.send('tools/call', sleeps());
    await begun(at);
    // Another client of the session, and another session with the id of this client.
    await second.tell('notifications/cancelled', { requestId: running.id });
    const other = await at.host.openSession({ name: 'other', granters: ['alice'] });
    const thief = new HttpClient({ url: at.url, session: other }, 'older');
    thief.client = client.client;
    expect(await thief.tell('notifications/cancelled', { requestId: running.id })).toBe(404);
    expect((await thief.ask('tools/list', {})).error).toMatchObject({ data: { code: 'no-such-object' } });
    for (const requestId of ['never', -1, null, running.id + 1, String(running.id)]) await client.tell('notifications/cancelled', { requestId }); // biome-ignore format: one line
    await client.call('list', { cap: 'sh' });
    expect(await at.lines('cancel')).toEqual([]);
    expect(
      await client.tell('notifications/cancelled', { requestId: running.id, reason: 'the user pressed Escape' }),
    ).toBe(202);
    await ended(at);
    expect(await at.lines('cancel')).toMatchObject([{ session: at.session.id }]);
    const done = client.send('tools/call', { name: 'run', arguments: { cap: 'sh', command: 'echo hi' } });
    expect((await done.messages()).at(-1)).toMatchObject({ result: { structuredContent: { stdout: 'hi\n' } } });
    await client.tell('notifications/cancelled', { requestId: done.id });
    await client.call('caps', {});
    expect(await at.lines('cancel')).toHaveLength(1);
  },
);

programs('a session that nobody uses is left: what waits ends, a job in the background goes on', async () => {
  const timers: (() => void)[] = [];
  const at = await world({ shell: true, http: { idleMs: 7, after: (ms, then) => { if (ms === 7) timers.push(then); const timer = setTimeout(then, ms === 7 ? 1e6 : ms); return () => clearTimeout(timer); } } }); // biome-ignore format: one line
  await at.grant('sh', 'shell');
  const client = await HttpClient.open(at, 'newer');
  const { structuredContent } = await client.call('run', { cap: 'sh', command: 'sleep 1000', background: true });
  while (timers.length === 0) await new Promise((resolve) => setImmediate(resolve));
  timers.at(-1)!();
  while (at.host.connections().length > 0) await new Promise((resolve) => setImmediate(resolve));
  const stopped = await client.call('job', { cap: 'sh', job: structuredContent!['job'], do: 'stop' });
  expect(stopped.structuredContent).toMatchObject({ ended: 'signal', status: 137 });
});

test('after its session, and with a renewed secret, a client gets 401; another program of the session takes no call with it', async () => {
  const at = await world();
  await at.grant('notes', 'notes');
  const client = await HttpClient.open(at, 'older');
  const listening = await client.listen();
  // It takes the place of all others.
  const taker = await connect(at.url, { secret: at.session.secret });
  onTestFinished(async () => {
    taker.close();
    await taker.closed;
  });
  let result = await client.call('list', { cap: 'notes' });
  while (result.structuredContent!['code'] === 'disconnected') result = await client.call('list', { cap: 'notes' });
  expect(result.structuredContent).toMatchObject({ entries: [] });
  const ending = listening('never').catch(String);
  await at.session.end();
  expect(await ending).toContain('it ended');
  const { response } = client.send('tools/list', {});
  expect((await response).status).toBe(401);
  expect(await (await response).text()).not.toContain(at.session.secret);
});

test('clients of the older era are limited: the one that was silent longest goes, and one that listens stays', async () => {
  const at = await world();
  const listens = await HttpClient.open(at, 'older');
  await listens.listen();
  const silent = await HttpClient.open(at, 'older');
  for (let n = 0; n < 16; n += 1) await HttpClient.open(at, 'older');
  expect((await silent.ask('tools/list', {})).error).toMatchObject({ data: { code: 'no-such-object' } });
  expect((await listens.ask('tools/list', {})).result).toHaveProperty('tools');
});
