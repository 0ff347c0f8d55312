/** Http caps of a manifest in a real host, against a server on loopback. The agent is the attacker. */
import type { HttpCap } from '@hob/caps-net';
import type { Grant, Holding, SessionFace } from '@hob/host';
import { check } from '@hob/manifest';
import { openFace } from '@hob/mcp';
import { E, type Far } from '@hob/vat';
import { expect, test } from 'vitest';
import { code, type PlanScene, planOf, planScene } from '../../test/plan.ts';
import { type Web, web } from '../../test/web.ts';

const TOKEN = 'ghp_INTIMATE+token/1';

type Reached = Parameters<typeof openFace>[0];

interface Scene extends PlanScene {
  readonly server: Web;
  /** A manifest with these caps, all of one server. `{at}` is its origin. */
  text(session: string): string;
}

/** A server that tells what it was sent. */
async function scene(): Promise<Scene> {
  const at = await planScene();
  const server = await web((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (part) => {
      body += part;
    });
    request.on('end', () => response.end(JSON.stringify({ url: request.url, headers: request.headers, body })));
  });
  return {
    ...at,
    server,
    text: (session) => `version: 1\nroots: { project: project }\nsession:\n${session.replaceAll('{at}', `http://127.0.0.1:${server.port}`)}`, // biome-ignore format: one line
  };
}
const http = (agent: Far<SessionFace>, name: string): Far<HttpCap> =>
  E(agent).cap<HttpCap>(name) as unknown as Far<HttpCap>;
const sent = async (answer: unknown): Promise<{ readonly url: string; readonly headers: Readonly<Record<string, string>>; readonly body: string }> =>
  JSON.parse(((await answer) as { readonly text: string }).text); // biome-ignore format: one line

const GH = 'http: "{at}/repos/acme/app/", methods: [GET, POST], secret: TOKEN, addresses: [127.0.0.1]';

test('a session reads without a question, a change waits, and the granter sees all that will be sent', async () => {
  const at = await scene();
  const sessions = await at.sessionsOf(planOf(at.text(`  caps: { gh: { ${GH}, headers: [X-Trace] } }\n`)), {
    secret: (name) => (name === 'TOKEN' ? TOKEN : undefined),
  });
  const { session } = await sessions.open('work');
  const agent = (await at.enter(session.secret)).bootstrap;
  const gh = http(agent, 'gh');
  const read = await E(gh).getText('issues?state=open');
  expect(await sent(read)).toMatchObject({
    url: '/repos/acme/app/issues?state=open',
    // The server got it, and told it: it is blanked.
    headers: { authorization: 'Bearer ⟦secret⟧' },
  });
  const body = `{"title": "${'many words '.repeat(200)}and pay Eve"}`;
  const posting = sent(E(gh).fetchText('issues', { method: 'POST', headers: { 'X-Trace': '7' }, body }));
  const [asked] = await at.inbox();
  expect(asked).toMatchObject({ kind: 'call', asks: 'gh' });
  const rows = Object.fromEntries(asked?.table ?? []);
  expect(rows).toMatchObject({
    what: `“http://127.0.0.1:${at.server.port}/repos/acme/app/”`,
    sends: '“POST” to the path “issues”',
    header: '“X-Trace”: “7”',
  });
  expect(rows['body']).toContain('and pay Eve');
  expect(JSON.stringify(asked)).not.toContain('INTIMATE');
  expect(at.server.seen).toEqual(['GET /repos/acme/app/issues?state=open']);
  await at.grantAll();
  expect(await posting).toMatchObject({ body, headers: { 'x-trace': '7' } });
  // `fetch` can send a POST, so it waits also for a GET, and for a cap that came out of this one.
  const below = E(gh).subpath('issues') as unknown as Far<HttpCap>;
  const deeper = sent(E(below).fetchText('1', { method: 'GET' }));
  const [second] = await at.inbox();
  expect(second?.effect).toContain('subpath');
  await at.grantAll();
  expect((await deeper).url).toBe('/repos/acme/app/issues/1');
  const [holding] = (await E(agent).holdings()) as readonly Holding[];
  expect(holding).toMatchObject({ petname: 'gh', waits: ['fetch', 'fetchText'] });
});

test('nothing leaves the prefix, the methods and the listed addresses; nothing else of the host is sent', async () => {
  const at = await scene();
  const { agent } = await at.open(
    at.text(`  mode: autonomous
  caps:
    gh: { http: "{at}/repos/acme/app/", methods: [GET], addresses: [127.0.0.1] }
    inside: { http: "{at}/", methods: [GET] }
`),
  );
  const gh = http(agent, 'gh');
  for (const path of ['../other', '/repos/acme/app-evil', '%2e%2e/x', '/repos/acme/app/..;/x', '//evil.example/x'])
    expect([path, await code(E(gh).getText(path) as never)]).toEqual([path, 'E_PATH']);
  expect(await code(E(gh).fetchText('x', { method: 'POST' }) as never)).toBe('E_METHOD');
  expect(await code(E(gh).getText('x', { headers: { host: 'evil.example' } }) as never)).toBe('E_HEADER');
  expect(await code(E(http(agent, 'inside')).getText('x') as never)).toBe('E_ADDRESS');
  expect(at.server.seen).toEqual([]);
  expect(Object.keys((await sent(E(gh).getText('a'))).headers).sort()).not.toContain('authorization');
});

test('a secret goes where auth says, and a new value works at once, under the same grant; the old one stays blanked', async () => {
  const at = await scene();
  const values = new Map([['TOKEN', TOKEN]]);
  const way = (auth: string): string => `{ ${GH}, auth: ${auth}, always_human: false }`;
  const sessions = await at.sessionsOf(
    planOf(
      at.text(`  mode: autonomous
  caps: { head: ${way('{ header: x-api-key }')}, basic: ${way('{ basic: ann }')}, query: ${way('{ query: key }')} }
`),
    ),
    { secret: (name) => values.get(name) },
  );
  const { session } = await sessions.open('work');
  const agent = (await at.enter(session.secret)).bootstrap;
  const asked = async (name: string) => await sent(E(http(agent, name)).getText('x'));
  expect((await asked('head')).headers['x-api-key']).toBe('⟦secret⟧');
  expect((await asked('basic')).headers['authorization']).toMatch(/^Basic .*⟦secret⟧/);
  expect((await asked('query')).url).toBe('/repos/acme/app/x?key=⟦secret⟧');
  expect(at.server.seen.at(-1)).toBe(`GET /repos/acme/app/x?key=${encodeURIComponent(TOKEN)}`);
  values.set('TOKEN', 'NEWVALUE-of-the-token');
  expect((await asked('query')).url).toBe('/repos/acme/app/x?key=⟦secret⟧');
  expect(at.server.seen.at(-1)).toContain('NEWVALUE');
  // Another cap of the same secret never used the second value, and the server tells it.
  values.set('TOKEN', 'THIRDVALUE-of-the-token');
  const old = (await E(http(agent, 'head')).fetchText('x', { method: 'POST', body: `${TOKEN} NEWVALUE-of-the-token` })) as { readonly text: string }; // biome-ignore format: one line
  expect(JSON.parse(old.text).body).toBe('⟦secret⟧ ⟦secret⟧');
  values.delete('TOKEN');
  expect(await code(E(http(agent, 'head')).getText('x') as never)).toBe('E_SECRET');
});

test('the verb fetch of MCP is there if the session holds an http cap; it reads without a question, and a change asks', async () => {
  const at = await scene();
  const { agent } = await at.open(
    at.text('  caps: { gh: { http: "{at}/app/", methods: [GET, POST], addresses: [127.0.0.1], uses: 3 } }\n'),
  );
  const face = await openFace(agent as unknown as Reached);
  const { definitions } = face;
  expect(definitions.map(({ name }) => name)).toContain('fetch');
  // With every verb that there is.
  expect(Buffer.byteLength(JSON.stringify({ tools: definitions })) / 4).toBeLessThan(2400);
  const got = await face.call('fetch', { cap: 'gh', path: 'a?b=1', headers: { accept: 'text/x' } });
  expect(got.data).toMatchObject({ status: 200, path: '/app/a?b=1', text: expect.stringContaining('"text/x"') });
  expect(got.text).toMatch(/^200 \/app\/a\?b=1\n[\s\S]*\n\n\{"url"/);
  expect((await face.call('caps', {})).data['caps']).toMatchObject([{ cap: 'gh', verbs: ['fetch'], waits: ['fetch', 'fetchText'] }]); // biome-ignore format: one line
  for (const args of [
    { path: 'a', body: 5 },
    { path: 'a', headers: ['accept: a'] },
    { path: 'a', secret: 'x' },
  ])
    expect(await face.call('fetch', { cap: 'gh', ...args })).toMatchObject({
      isError: true,
      data: { code: 'invalid' },
    });
  expect((await face.call('fetch', { cap: 'gh', path: '../x' })).data).toMatchObject({ code: 'E_PATH' });
  const posting = face.call('fetch', { cap: 'gh', path: 'a', method: 'POST', body: 'b' });
  expect((await at.inbox())[0]).toMatchObject({ kind: 'call', asks: 'gh' });
  await at.grantAll();
  expect((await posting).data).toMatchObject({ status: 200 });
  expect(at.server.seen).toEqual(['GET /app/a?b=1', 'POST /app/a']);
  const none = await openFace(
    (await at.enter((await (await at.sessions(at.text('  caps: {}\n'))).open('none')).session.secret))
      .bootstrap as unknown as Reached,
  );
  expect(none.definitions.map(({ name }) => name)).not.toContain('fetch');
});

test('a missing secret is told at the start, with the cap and the remedy, and the host serves on', async () => {
  const at = await scene();
  const sessions = await at.sessions(at.text(`  caps: { gh: { ${GH} } }\n`));
  expect(sessions.notes).toEqual([expect.stringMatching(/^hob: gh: the secret TOKEN is not stored.*hob secret set TOKEN$/)]); // biome-ignore format: one line
  const { session } = await sessions.open('work');
  const agent = (await at.enter(session.secret)).bootstrap;
  expect(await code(E(http(agent, 'gh')).getText('x') as never)).toBe('E_SECRET');
  expect(at.server.seen).toEqual([]);
});

test('uses count requests, an ask waits for its first call, and a child with .readonly only gets', async () => {
  const at = await scene();
  const { agent, children, session } = await at.open(
    `${at.text(`  mode: autonomous
  caps: { gh: { http: "{at}/", methods: [GET, POST], addresses: [127.0.0.1], uses: 3 } }
  ask: { more: { http: "{at}/more/", methods: [GET], addresses: [127.0.0.1], offer: { uses: 1 } } }
`)}children: { reader: { give: [gh.readonly] } }\n`,
  );
  const reader = (await at.enter(children['reader']?.secret as string)).bootstrap;
  const low = http(reader, 'gh');
  expect((await sent(E(low).getText('a'))).url).toBe('/a');
  expect(await code(E(low).fetchText('a', { method: 'POST' }) as never)).toBe('no-such-method');
  const lower = E(low).subpath('b') as unknown as Far<HttpCap>;
  expect(await code(E(lower).fetch('a', { method: 'POST' }) as never)).toBe('no-such-method');
  const first = sent(E(http(agent, 'more')).getText('x'));
  expect((await at.inbox())[0]).toMatchObject({ kind: 'grant', asks: 'more' });
  await at.grantAll();
  expect((await first).url).toBe('/more/x');
  const grants = (await E(at.granter).list({ session: session.id })) as readonly Grant[];
  expect(grants.find(({ petname }) => petname === 'gh')).toMatchObject({ usesLeft: 1 });
  expect(at.server.seen).toEqual(['GET /a', 'GET /more/x']);
});

test('what the network package does not take is told with the name of the cap, and no session starts', async () => {
  const at = await scene();
  const refused: Readonly<Record<string, RegExp>> = {
    '{ http: "https://h.example./", methods: [GET] }': /^gh: not a host as it is written in a grant/,
    '{ http: "https://h.example/", methods: [GET], headers: [Cookie] }': /^gh: the header is not one/,
    '{ http: "https://h.example/", methods: [GET], addresses: ["10.0.0.1/8"] }': /^gh: /,
    '{ http: "https://h.example/a%2f../", methods: [GET] }': /^gh: the path is not one/,
  };
  for (const [cap, why] of Object.entries(refused))
    await expect(at.open(at.text(`  caps: { gh: ${cap} }\n`)), cap).rejects.toThrow(why);
  expect(await at.host.sessions()).toEqual([]);
});

test('a cap that is no part of a scratch folder lives on when the session that it was first made for has ended', async () => {
  const at = await scene();
  const text = at
    .text(`  mode: autonomous
  caps:
    gh: { http: "{at}/", methods: [GET], addresses: [127.0.0.1] }
    src: { fs: project/src, can: [read] }
    own: { fs: scratch, can: [read, write] }
`)
    .replace('roots: {', 'roots: { scratch: { temp: true },');
  const sessions = await at.sessions(text);
  const one = await sessions.open('one');
  await one.session.end();
  await one.session.ended;
  const two = await sessions.open('two');
  const agent = (await at.enter(two.session.secret)).bootstrap;
  expect((await sent(E(http(agent, 'gh')).getText('a'))).url).toBe('/a');
  expect(await E((await E(agent).cap('src')) as unknown as Far<{ readText(path: string): Promise<string> }>).readText('a.txt')).toBe('one\n'); // biome-ignore format: one line
});

test('own: true lets a session change the issue that it opened in the mode cautious; an issue of others asks, and no lower layer adds it', async () => {
  const at = await planScene();
  const server = await web((request, response) => {
    request.resume().on('end', () => {
      const made = request.method === 'POST' && request.url === '/repos/acme/app/issues';
      response.writeHead(made ? 201 : 200, made ? { location: '/repos/acme/app/issues/17' } : {}).end('{}');
    });
  });
  const cap = (more: string) =>
    `gh: { http: "http://127.0.0.1:${server.port}/repos/acme/app/", methods: [GET, POST, PATCH], addresses: [127.0.0.1]${more} }`;
  const text = (caps: string, key = 'caps') =>
    `version: 1\nroots: { project: project }\nsession: { ${key}: { ${caps} } }\n`;
  const { agent } = await at.open(text(cap(', own: true')));
  const gh = http(agent, 'gh');
  const opening = E(gh).fetchText('issues', { method: 'POST', body: '{}' });
  await at.grantAll();
  const { made } = await opening;
  expect(await code(E(gh).fetchText(made ?? '', { method: 'PATCH', body: '{}' }))).toBe('ok');
  const asking = code(E(gh).fetchText('issues/18', { method: 'PATCH', body: '{}' }));
  expect(await at.inbox()).toMatchObject([{ kind: 'call', asks: 'gh' }]);
  await at.grantAll();
  expect(await asking).toBe('ok');
  expect(server.seen).toEqual(['POST /repos/acme/app/issues', 'PATCH /repos/acme/app/issues/17', 'PATCH /repos/acme/app/issues/18']); // biome-ignore format: one line
  const layers = (upper: string, lower: string) =>
    check([{ layer: 'user', file: 'u', text: text(upper) }, { layer: 'flags', file: 'f', text: `version: 1\nsession: { caps: { ${lower} } }\n` }], { now: 0 }).plan?.caps['gh']; // biome-ignore format: one line
  const [plain, own] = [cap(''), cap(', own: true')];
  for (const lower of [own, plain]) expect(layers(own, lower)).toMatchObject({ own: true });
  for (const [upper, lower] of [[plain, own], [own, cap(', own: false')], [own, cap(', always_human: true')]] as const) // biome-ignore format: one line
    expect(layers(upper, lower)).not.toHaveProperty('own', true);
  for (const wrong of [text(own, 'ask'), text(cap(', own: true, always_human: true'))])
    expect(check([{ layer: 'user', file: 'u', text: wrong }], { now: 0 }).mistakes[0]?.wrong).toMatch(/asked about each call/); // biome-ignore format: one line
});
