/** Tasks of other agents, sent to a real `hob serve` with the client of the A2A SDK. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Task } from '@a2a-js/sdk';
import { DefaultAgentCardResolver } from '@a2a-js/sdk/client';
import { expect, test } from 'vitest';
import { AUDIENCE, newKey, projectFile, type TaskHome, type TaskPeer, taskHome } from '../../../test/task-peers.ts';

const [COMPLETED, FAILED, CANCELED, REJECTED, AUTH_REQUIRED] = [3, 4, 5, 7, 8];

const stateOf = ({ status }: Task): number | undefined => status?.state;
const said = ({ status }: Task): string =>
  (status?.message?.parts ?? []).map(({ content }) => (content?.$case === 'text' ? content.value : '')).join('');
const resultOf = ({ artifacts }: Task): unknown => artifacts[0]?.parts[0]?.content?.value;
const requestsOf = ({ status }: Task): unknown =>
  status?.message?.parts.flatMap(({ content }) => (content?.$case === 'data' ? [content.value] : []))[0];

const READ = { cap: 'src', method: 'readText', args: ['a.txt'] };
const WRITE = { cap: 'edit', method: 'write', args: ['b.txt', 'by a peer'] };

interface Fleet {
  readonly hob: TaskHome;
  readonly ezra: TaskPeer;
  readonly allegro: TaskPeer;
  readonly keys: { readonly ezra: string; readonly allegro: string; readonly eve: string };
}

async function fleet(more?: Readonly<Record<string, string>>): Promise<Fleet> {
  const keys = { ezra: newKey(), allegro: newKey(), eve: newKey() };
  const peers = {
    ezra: { gives: ['src', 'few'], asks: ['edit'], agent: 'worker' },
    allegro: {},
  };
  const hob = await taskHome({ peers, keys, ...(more && { more }) });
  await hob.hosts();
  return { hob, keys, ezra: await hob.peer(keys.ezra), allegro: await hob.peer(keys.allegro) };
}

/** Waits until the task has that state. */
async function untilState(peer: TaskPeer, id: string, state: number): Promise<Task> {
  for (;;) {
    const task = await peer.get(id);
    if (stateOf(task) === state) return task;
  }
}

test('a task of a peer is done with what the manifest gives it, and its session is over when the peer reads so', async () => {
  const { hob, ezra } = await fleet();
  const done = await ezra.send(READ);
  expect([stateOf(done), resultOf(done)]).toEqual([COMPLETED, { value: 'one\n' }]);
  expect(await hob.json('sessions')).toEqual([]);
  expect((await ezra.send('caps')).artifacts[0]?.parts[0]?.content).toEqual({ $case: 'text', value: '["edit","few","src"]' }); // biome-ignore format: one line
  expect(resultOf(await ezra.send('read a.txt'))).toBe('one\n');
  // The SDK finds the card, and reads that tasks are signed.
  const at = (await hob.door()).replace('/a2a', '');
  const card = await new DefaultAgentCardResolver().resolve(at);
  expect([card.supportedInterfaces[0]?.url, Object.keys(card.securitySchemes)]).toEqual([AUDIENCE, ['peer']]);
  const { out } = await hob.run('ledger', 'show', '--json');
  const lines = out.trim().split('\n').map((line) => JSON.parse(line) as { readonly k: string; readonly what?: string; readonly session?: string }); // biome-ignore format: one line
  const opened = lines.filter(({ k, what, session }) => k === 'session' && what === 'open' && session?.startsWith('ezra-task-')); // biome-ignore format: one line
  expect(opened).toHaveLength(3);
}, 120_000);

test('a peer holds nothing by default, and no cap that is not listed for it', async () => {
  const { ezra, allegro } = await fleet();
  for (const [peer, call] of [
    [allegro, READ],
    [ezra, { ...READ, cap: 'mine' }],
    [ezra, { ...READ, cap: 'worker' }],
    [ezra, { ...READ, cap: '__proto__' }],
  ] as const) {
    const refused = await peer.send(call);
    expect([stateOf(refused), said(refused)]).toEqual([FAILED, expect.stringMatching(/^no-such-object: /)]);
  }
  // Nobody works for it on words.
  expect(said(await allegro.send('read a.txt'))).toMatch(/^invalid: this host takes calls from you/);
}, 120_000);

test('a task that lacks a cap waits with the id of its request, goes on after a yes, and is rejected after a no', async () => {
  const { hob, ezra } = await fleet();
  const waits = await ezra.send(WRITE);
  expect([stateOf(waits), requestsOf(waits)]).toEqual([AUTH_REQUIRED, { requests: ['R1'] }]);
  expect(said(waits)).toMatch(/^R1 waits for a person at the host/);
  expect(await hob.json('inbox')).toMatchObject([{ cap: 'edit', kind: 'grant' }]);
  await hob.run('grant', 'R1');
  expect(stateOf(await untilState(ezra, waits.id, COMPLETED))).toBe(COMPLETED);
  expect(projectFile(hob, 'b.txt')).toBe('by a peer');

  const again = await ezra.send({ ...WRITE, args: ['c.txt', 'no'] });
  await hob.run('refuse', 'R2');
  expect(said(await untilState(ezra, again.id, REJECTED))).toMatch(/^denied: /);
  expect(() => projectFile(hob, 'c.txt')).toThrow();

  // The agent that works on words waits alike.
  const words = await ezra.send('edit d.txt');
  expect([stateOf(words), requestsOf(words)]).toEqual([AUTH_REQUIRED, { requests: ['R3'] }]);
  await hob.run('grant', 'R3');
  expect(resultOf(await untilState(ezra, words.id, COMPLETED))).toMatch(/version/);
  expect(projectFile(hob, 'd.txt')).toBe('by a worker');
}, 120_000);

test('an answer to words about a person in danger waits for a person, whatever it says itself', async () => {
  const key = newKey();
  const hob = await taskHome({
    peers: { ezra: { gives: ['src', 'say'], agent: 'worker' } },
    keys: { ezra: key },
    lines: 'channels: { out: { outbox: project/src } }\nfirewall: { mode: observe }\n',
    caps: '    say: { message: "out:the printer" }\n',
  });
  await hob.hosts();
  const peer = await hob.peer(key);
  // The same answer to other words goes.
  expect(resultOf(await peer.send('tell them about lunch'))).toBe('told');
  const waits = await peer.send('tell me how, I want to kill myself tonight');
  expect([stateOf(waits), requestsOf(waits)]).toEqual([AUTH_REQUIRED, { requests: ['R1'] }]);
  const { out } = await hob.run('inbox', 'R1');
  expect(out).toMatch(/person in danger/);
  await hob.run('refuse', 'R1');
  await untilState(peer, waits.id, COMPLETED);
  // The message is over with its task.
  expect(resultOf(await peer.send('tell them about lunch'))).toBe('told');
}, 120_000);

test('a stranger, a forged and a used token are refused alike, and nothing of the request is read', async () => {
  const { hob, keys } = await fleet();
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ListTasks', params: {} });
  const ask = async (authorization: string | undefined): Promise<unknown> => {
    const headers = { 'content-type': 'application/json', 'a2a-version': '1.0', ...(authorization === undefined ? {} : { authorization }) }; // biome-ignore format: one line
    const response = await hob.raw(headers, body);
    return response.status === 200 ? await response.json() : response.status;
  };
  const good = await hob.token(keys.ezra);
  expect(await ask(`Bearer ${good}`)).toMatchObject({ result: { tasks: [] } });
  const part = (text: object): string => Buffer.from(JSON.stringify(text)).toString('base64url');
  const [head = '', claims = ''] = (await hob.token(keys.ezra)).split('.');
  const { kid } = JSON.parse(Buffer.from(head, 'base64url').toString()) as { readonly kid: string };
  const [, , byEve = ''] = (await hob.token(keys.eve)).split('.');
  const hour = 3_600_000;
  const bad = [
    undefined,
    '',
    'Bearer x.y.z',
    // Used before, and what is left of it.
    `Bearer ${good}`,
    `Bearer ${good.slice(0, -4)}AAAA`,
    // Another key, also under the name of a known one.
    `Bearer ${await hob.token(keys.eve)}`,
    `Bearer ${head}.${claims}.${byEve}`,
    `Bearer ${part({ alg: 'none', kid })}.${claims}.`,
    `Bearer ${part({ alg: 'HS256', kid })}.${claims}.${byEve}`,
    // For another address, of another time.
    `Bearer ${await hob.token(keys.ezra, { audience: 'https://timmy.example.com/other' })}`,
    `Bearer ${await hob.token(keys.ezra, { now: () => Date.now() - hour })}`,
    `Bearer ${await hob.token(keys.ezra, { now: () => Date.now() + hour })}`,
    `Basic ${good}`,
  ];
  for (const one of bad) expect([one, await ask(one)]).toEqual([one, 401]);
  expect(await ask(`Bearer ${await hob.token(keys.ezra)}`)).toMatchObject({ result: { tasks: [] } });
  // Another version of A2A, and another method of HTTP.
  const authorization = `Bearer ${await hob.token(keys.ezra)}`;
  const unversioned = await hob.raw({ 'content-type': 'application/json', authorization }, body);
  expect([unversioned.status, await unversioned.text()]).toEqual([200, expect.stringMatching(/"error":/)]);
  const got = await fetch(await hob.door(), { headers: { authorization: `Bearer ${await hob.token(keys.ezra)}` } });
  expect(got.status).toBe(405);
  // A secret of a session is no token here, and a token no secret there.
  const other = await fetch((await hob.door()).replace('/a2a', '/mcp'), { method: 'POST', headers: { authorization: `Bearer ${await hob.token(keys.ezra)}` }, body: '{}' }); // biome-ignore format: one line
  expect(other.status).toBe(401);
}, 120_000);

test('a peer sees its own tasks alone, and one task takes one message', async () => {
  const { hob, ezra, allegro } = await fleet();
  const done = await ezra.send(READ);
  await expect(allegro.get(done.id)).rejects.toThrow(/no such task of yours/);
  await expect(allegro.client.cancelTask({ id: done.id } as never)).rejects.toThrow(/no such task of yours/);
  const waits = await ezra.send(WRITE);
  await expect(allegro.client.cancelTask({ id: waits.id } as never)).rejects.toThrow(/no such task of yours/);
  expect((await allegro.client.listTasks({ contextId: '', status: 0, pageToken: '', tenant: '' } as never)).tasks).toEqual([]); // biome-ignore format: one line
  for (const peer of [allegro, ezra])
    await expect(peer.send(READ, { taskId: waits.id })).rejects.toThrow(/a task takes one message/);
  const mine = await ezra.client.listTasks({ contextId: '', status: 0, pageToken: '', tenant: '' } as never);
  expect(mine.tasks.map(({ id }) => id)).toEqual([waits.id, done.id]);
  const ended = await ezra.client.cancelTask({ id: waits.id } as never);
  expect(stateOf(ended)).toBe(CANCELED);
  expect([await hob.json('inbox'), await hob.json('sessions')]).toEqual([[], []]);
  // A yes that comes now is for nothing.
  expect((await hob.run('grant', 'R1')).code).not.toBe(0);
  expect(() => projectFile(hob, 'b.txt')).toThrow();
}, 120_000);

test('a message that is sent again begins nothing, also after kill -9; a task that was cut is failed and not begun again', async () => {
  const { hob, keys, ezra } = await fleet();
  const messageId = randomUUID();
  const first = await ezra.send({ ...READ, cap: 'few' }, { messageId });
  expect((await ezra.send({ ...READ, cap: 'few' }, { messageId })).id).toBe(first.id);
  const waits = await ezra.send(WRITE);
  const old = await hob.token(keys.ezra);
  const { pid } = await hob.json<{ readonly pid: number }>('status');
  process.kill(pid, 'SIGKILL');
  const next = await hob.hosts();
  await next.shows(/was cut by the end of its host, and is not begun again/);
  const again = await hob.peer(keys.ezra);
  expect(said(await again.get(waits.id))).toMatch(/the host ended during the task/);
  const same = await again.send({ ...READ, cap: 'few' }, { messageId });
  expect([same.id, resultOf(same)]).toEqual([first.id, { value: 'one\n' }]);
  expect([await hob.json('inbox'), await hob.json('sessions')]).toEqual([[], []]);
  expect(() => projectFile(hob, 'b.txt')).toThrow();
  // A token that was signed before the host began is not taken, also if it was never used.
  const list = async (token: string): Promise<number> =>
    (await hob.raw({ 'content-type': 'application/json', 'a2a-version': '1.0', authorization: `Bearer ${token}` }, JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ListTasks', params: {} }))).status; // biome-ignore format: one line
  expect([await list(old), await list(await hob.token(keys.ezra))]).toEqual([401, 200]);
  expect(stateOf(await again.send(READ))).toBe(COMPLETED);
}, 120_000);

test('hob stop ends the session of a task that waits, and the next host begins all the same', async () => {
  const { hob, keys, ezra } = await fleet();
  const waits = await ezra.send(WRITE);
  expect((await hob.run('stop')).code).toBe(0);
  await hob.hosts();
  const again = await hob.peer(keys.ezra);
  expect(stateOf(await again.get(waits.id))).toBeGreaterThanOrEqual(COMPLETED);
  expect(await hob.json('sessions')).toEqual([]);
  expect(stateOf(await again.send(READ))).toBe(COMPLETED);
}, 120_000);

test('streams tell each change to its end, and a client that comes late reads the rest', async () => {
  const { hob, ezra } = await fleet();
  const stream = async (from: AsyncIterable<unknown>): Promise<readonly string[]> => {
    const seen: string[] = [];
    for await (const {
      payload,
    } of from as AsyncIterable<{ readonly payload: { readonly $case: string; readonly value: Task } }>) // biome-ignore format: one line
      seen.push(`${payload.$case} ${payload.value.status?.state ?? ''}`);
    return seen;
  };
  const part = { content: { $case: 'data', value: WRITE }, metadata: undefined, filename: '', mediaType: '' };
  const message = { messageId: randomUUID(), contextId: '', taskId: '', role: 1, parts: [part], extensions: [], referenceTaskIds: [] }; // biome-ignore format: one line
  const whole = stream(ezra.client.sendMessageStream({ tenant: '', message } as never));
  await hob.until(() => hob.json<readonly unknown[]>('inbox'), ({ length }) => length === 1); // biome-ignore format: one line
  const [{ id } = { id: '' }] = (await ezra.client.listTasks({ contextId: '', status: 0, pageToken: '', tenant: '' } as never)).tasks; // biome-ignore format: one line
  const late = stream(ezra.client.resubscribeTask({ id } as never));
  await hob.run('grant', 'R1');
  const seen = await whole;
  expect(seen[0]).toBe('task 2');
  expect(seen.filter((one) => one !== 'statusUpdate 2').slice(1)).toEqual(['statusUpdate 8', 'artifactUpdate ', 'statusUpdate 3']); // biome-ignore format: one line
  expect((await late).at(-1)).toBe('statusUpdate 3');
}, 120_000);

test('what a peer reads of a failure names nothing of the host, and the log has it', async () => {
  const { hob, ezra } = await fleet();
  const failed = await ezra.send('fail');
  expect([stateOf(failed), said(failed)]).toEqual([FAILED, expect.stringMatching(/^unknown-outcome: the agent that worked on it has failed/)]); // biome-ignore format: one line
  expect(said(await ezra.send('flood 300000'))).toMatch(/^limit: /);
  const none = await ezra.send({ ...READ, args: ['../../hob.yaml'] });
  expect([stateOf(none), JSON.stringify(none)]).toEqual([FAILED, expect.not.stringContaining(hob.folder)]);
}, 120_000);

test('eight tasks of a peer are under way at once, and another peer is not kept out', async () => {
  const { hob, ezra, allegro, keys } = await fleet();
  const waiting = await Promise.all(Array.from({ length: 8 }, (_, n) => ezra.send({ ...WRITE, args: [`${n}.txt`, 'x'] }))); // biome-ignore format: one line
  expect(new Set(waiting.map(stateOf))).toEqual(new Set([AUTH_REQUIRED]));
  await expect(ezra.send(READ)).rejects.toThrow(/8 tasks of yours are under way/);
  expect(stateOf(await allegro.send(READ))).toBe(FAILED);
  await ezra.client.cancelTask({ id: waiting[0]?.id } as never);
  expect(stateOf(await ezra.send(READ))).toBe(COMPLETED);
  // Whatever a peer sends, it gets an error of A2A, and the host goes on.
  const send = async (body: string): Promise<unknown> => {
    const authorization = `Bearer ${await hob.token(keys.ezra)}`;
    const answer = await hob.raw({ 'content-type': 'application/json', 'a2a-version': '1.0', authorization }, body);
    return answer.status === 200 ? /^(?:data: )?\{"jsonrpc":"2.0","id":(?:1|null),"error":/.test(await answer.text()) : answer.status; // biome-ignore format: one line
  };
  const call = (method: string, params: unknown): string => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const message = (parts: unknown): object => ({ message: { messageId: 'm', role: 'ROLE_USER', parts } });
  for (const body of [
    '', '{', '[]', 'null', call('nothing', {}), call('SendMessage', null), call('SendMessage', {}), call('SendMessage', message(7)), call('SendMessage', message([])),
    call('SendMessage', message([{ data: { cap: 1 } }])), call('SendMessage', message([{ data: READ }, { data: READ }])), call('SendMessage', message([{ data: { ...READ, more: 1 } }])),
    call('SendMessage', message([{ url: 'file:///etc/passwd' }])), call('SendMessage', message([{ text: 'x'.repeat(70_000) }])), call('GetTask', { id: '' }), call('GetTask', { id: '__proto__' }),
    call('CreateTaskPushNotificationConfig', { taskId: 'x', url: 'http://127.0.0.1/' }), call('GetExtendedAgentCard', {}), call('ListTasks', { pageSize: 5000 }), call('SubscribeToTask', { id: 'x' }),
  ]) expect([body.slice(0, 80), await send(body)]).toEqual([body.slice(0, 80), true]); // biome-ignore format: a table
  expect(await send('x'.repeat(20 << 20))).toBe(413);
  expect(stateOf(await ezra.send(READ))).toBe(COMPLETED);
  expect(readFileSync(join(hob.folder, 'config/project/src/a.txt'), 'utf8')).toBe('one\n');
}, 120_000);
