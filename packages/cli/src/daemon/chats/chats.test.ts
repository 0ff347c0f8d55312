/** Chats of a real `hob serve`: a bot of Telegram and a webhook, both on loopback, and kill -9. */
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { signedHeaders } from '@hob/chat/signed';
import { expect, onTestFinished, test } from 'vitest';
import { type BotApi, botApi, TOKEN } from '../../../../../test/bot-api.ts';
import { type HobHome, hobHome, resolveHook } from '../../../test/hob.ts';

const ANN = 77;
const KEY = Buffer.from('a key of thirty-two bytes, not a word');

/** Calls `edit.write` once, and prints how it ends. */
const AGENT = `
import '@hob/vat/lockdown';
import { readFileSync } from 'node:fs';
import { connect, E } from '@hob/vat';
const { bootstrap: session, close } = await connect(process.env.HOB_URL, { secret: readFileSync(process.env.HOB_SECRET_FILE, 'utf8').trim() });
console.log('entered');
await E(E(session).cap('edit')).write('b.txt', 'by an agent').then(() => console.log('ended ok'), (error) => console.log('ended', error.code));
close();
`;

interface World {
  readonly hob: HobHome;
  readonly api: BotApi;
  /** The messages that the webhook got. */
  readonly posted: Readonly<Record<string, string>>[];
  agent(): ReturnType<HobHome['start']>;
}

async function world(): Promise<World> {
  const api = await botApi();
  const posted: Readonly<Record<string, string>>[] = [];
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    posted.push(JSON.parse(Buffer.concat(parts).toString('utf8')));
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await api.close();
  });
  const hob = hobHome(`version: 1
roots: { project: project }
session:
  deadline: 8h
  ask:
    edit: { fs: project/src, can: [read, write] }
chats:
  phone: { telegram: BOT_TOKEN, user: ${ANN}, api: "${api.url}" }
  ops: { webhook: "http://127.0.0.1:${(server.address() as AddressInfo).port}/in", secret: OPS_KEY, sender: ann }
`);
  const secret = async (name: string, value: string): Promise<void> => {
    const set = hob.start('secret', 'set', name);
    set.child.stdin?.end(value);
    expect(await set.ended).toBe(0);
  };
  await secret('BOT_TOKEN', TOKEN);
  await secret('OPS_KEY', `whsec_${KEY.toString('base64')}`);
  writeFileSync(join(hob.folder, 'ask.mjs'), AGENT);
  return { hob, api, posted, agent: () => hob.start('start', '--', process.execPath, '--import', resolveHook, join(hob.folder, 'ask.mjs')) }; // biome-ignore format: one line
}

test('a request of an agent is in both chats; a press answers it, the other chat is told, and nothing names the token', async () => {
  const { hob, api, posted, agent } = await world();
  const host = await hob.serve();
  const asking = agent();
  const [message] = await api.sees(1);
  await api.until(() => posted.length > 0);
  expect(message?.text).toContain('first it calls write');
  api.press(message?.buttons['Refuse'] ?? '', 78);
  api.press(Object.values(message?.buttons ?? {})[0] ?? '', ANN);
  await asking.shows(/ended ok/);
  expect(readFileSync(join(hob.folder, 'config/project/src/b.txt'), 'utf8')).toBe('by an agent');
  await api.until(() => /approved once, here$/.test(message?.text ?? ''));
  await api.until(() => posted.at(-1)?.['type'] === 'settled');
  const { out } = await hob.run('ledger', 'show', '--json');
  expect(out).toMatch(/"k":"approve"[^\n]*"surface":"chat"/);
  expect(host.err + host.out).not.toMatch(/the-token|whsec_/);
}, 120_000);

test('an answer is posted, signed, to the door of the host; unsigned, or once more after kill -9, it is nothing', async () => {
  const { hob, api, posted, agent } = await world();
  const host = await hob.serve();
  const asking = agent();
  await api.until(() => posted.length > 0);
  const body = JSON.stringify({ chat: 'ops', request: posted[0]?.['request'], sender: 'ann', choice: 'refuse' });
  const post = async (headers: Readonly<Record<string, string>>): Promise<number> => {
    const { url } = await hob.json<{ readonly url: string }>('status');
    return (await fetch(`${url.replace('ws:', 'http:')}/chat`, { method: 'POST', headers, body })).status;
  };
  const headers = signedHeaders(KEY, 'one', Date.now(), body);
  expect(await post({})).toBe(401);
  expect(await post({ ...headers, 'webhook-signature': 'v1,AAAA' })).toBe(401);
  expect(await post(headers)).toBe(200);
  expect(await post(headers)).toBe(401);
  await asking.shows(/ended denied/);
  host.child.kill('SIGKILL');
  await host.ended;
  await hob.serve();
  expect(await post(headers)).toBe(401);
  expect(await post(signedHeaders(KEY, 'two', Date.now(), body))).toBe(200);
}, 120_000);

test('kill -9 under a shown request: the next host edits its message, and an old button answers nothing', async () => {
  const { hob, api, agent } = await world();
  const host = await hob.serve();
  agent();
  const [message] = await api.sees(1);
  const old = Object.values(message?.buttons ?? {})[0] ?? '';
  // The id of the message is stored by the time that somebody else is refused.
  api.press(old, 78, { chat: ANN });
  await api.until(() => api.toasts.length === 1);
  host.child.kill('SIGKILL');
  await host.ended;
  await hob.serve();
  await api.until(() => /it was answered elsewhere, or has ended$/.test(message?.text ?? ''));
  api.press(old, ANN);
  // A press that was not confirmed before the kill comes once more, and answers nothing either.
  await api.until(() => api.toasts.includes('It was answered already, or has ended.'));
  expect(() => readFileSync(join(hob.folder, 'config/project/src/b.txt'))).toThrow();
}, 120_000);

test('a chat whose secret is not stored is told with its remedy, and the host does not begin', async () => {
  const { hob } = await world();
  await hob.run('secret', 'remove', 'BOT_TOKEN');
  const refused = await hob.run('serve', '--manifest', join(hob.folder, 'config/hob.yaml'));
  expect(refused).toMatchObject({ code: 1, err: expect.stringMatching(/chats\.phone: there is no secret BOT_TOKEN: store it with hob secret set BOT_TOKEN/) }); // biome-ignore format: one line
}, 120_000);
