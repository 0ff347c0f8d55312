/** Models behind HTTP, at servers of this machine. The server is the attacker. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { ModelFailure } from '../model.ts';
import { anthropicModel, openAiModel } from './http-model.ts';

interface Seen {
  readonly path: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: Readonly<Record<string, unknown>>;
}

async function server(answer: (seen: Seen, response: ServerResponse) => void) {
  const seen: Seen[] = [];
  const http = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    const one: Seen = { path: request.url, headers: request.headers, body: JSON.parse(body) };
    seen.push(one);
    answer(one, response);
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    http.closeAllConnections();
    return new Promise((resolve) => http.close(() => resolve()));
  });
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, seen };
}

const json = (value: unknown) => (_seen: Seen, response: ServerResponse) => void response.end(JSON.stringify(value));
const question = { system: 'be strict', user: 'a call waits' };
const never = new AbortController().signal;
const openAi = (content: unknown, more: object = {}, message: object = {}) => ({ choices: [{ finish_reason: 'stop', message: { role: 'assistant', content, ...message }, ...more }] }); // biome-ignore format: one line
const anthropic = (content: unknown, stop_reason = 'end_turn') => ({ type: 'message', stop_reason, content });

test('the question, the name of the model and the key are where each form has them', async () => {
  const one = await server(json(openAi('{"verdict":"none"}')));
  const model = openAiModel({ url: `${one.url}/v1/`, model: 'small', key: () => 'sk-1' });
  expect(await model.ask(question, never)).toBe('{"verdict":"none"}');
  expect(one.seen).toMatchObject([
    {
      path: '/v1/chat/completions',
      headers: { authorization: 'Bearer sk-1' },
      body: { model: 'small', messages: [{ role: 'system', content: 'be strict' }, { role: 'user', content: 'a call waits' }] },
    },
  ]); // biome-ignore format: one screen
  const two = await server(json(anthropic([{ type: 'text', text: 'yes' }])));
  expect(await anthropicModel({ url: two.url, model: 'tiny', key: () => 'k' }).ask(question, never)).toBe('yes');
  expect(two.seen).toMatchObject([
    {
      path: '/v1/messages',
      headers: { 'x-api-key': 'k', 'anthropic-version': '2023-06-01' },
      body: { model: 'tiny', system: 'be strict', messages: [{ role: 'user', content: 'a call waits' }] },
    },
  ]);
  // A model of this machine needs none.
  await openAiModel({ url: one.url, model: 'local' }).ask(question, never);
  expect(one.seen[1]?.headers).not.toHaveProperty('authorization');
});

test('whatever else a server sends is a failure, without a word of it', async () => {
  const evil = 'EVIL-ANSWER';
  const answers: readonly (readonly [string, (seen: Seen, response: ServerResponse) => void])[] = [
    ['HTTP 500', (_seen, response) => void response.writeHead(500).end(evil)],
    ['HTTP 302', (_seen, response) => void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()],
    ['is no JSON', (_seen, response) => void response.end(evil)],
    ['is no JSON', json([evil])],
    ['too large', json(openAi(evil.repeat(10_000)))],
    ['not one text', json({ error: evil })],
    ['not one text', json(openAi(null, {}, { tool_calls: [{ type: 'function', function: { name: 'grant' } }] }))],
    ['not one text', json(openAi(evil, {}, { tool_calls: [{ type: 'function', function: { name: 'grant' } }] }))],
    ['not one text', json(openAi(evil, {}, { function_call: { name: 'grant' } }))],
    ['not one text', json(openAi(evil, { finish_reason: 'length' }))],
    ['not one text', json(openAi([{ type: 'text', text: evil }]))],
    ['not one text', json({ choices: [...openAi(evil).choices, ...openAi(evil).choices] })],
    ['not one text', json(anthropic([{ type: 'tool_use', name: 'grant', input: {} }]))],
    ['not one text', json(anthropic([{ type: 'text', text: evil }, { type: 'text', text: evil }]))],
    ['not one text', json(anthropic([{ type: 'text', text: evil }], 'max_tokens'))],
    ['no connection', (_seen, response) => void response.destroy()],
  ]; // biome-ignore format: a table
  for (const [why, answer] of answers) {
    const { url, seen } = await server(answer);
    for (const make of [openAiModel, anthropicModel]) {
      const failure = await make({ url, model: 'm', key: () => 'sk-secret' }).ask(question, never).catch((error) => error); // biome-ignore format: one line
      expect(failure).toBeInstanceOf(ModelFailure);
      expect(failure.message).not.toMatch(/EVIL|sk-secret|127\.0/);
      if (make === openAiModel && !JSON.stringify(why).includes('HTTP 302')) expect(seen.length).toBe(1);
    }
    const failures = await Promise.all([openAiModel, anthropicModel].map((make) => make({ url, model: 'm' }).ask(question, never).catch((error) => error.message))); // biome-ignore format: one line
    expect(
      failures.some((message) => String(message).includes(why)),
      why,
    ).toBe(true);
  }
});

test('a redirect gets no key, and a signal ends the question', async () => {
  const other = await server(json(openAi('x')));
  const first = await server((_seen, response) => void response.writeHead(307, { location: other.url }).end());
  await expect(openAiModel({ url: first.url, model: 'm', key: () => 'sk' }).ask(question, never)).rejects.toThrow('HTTP 307'); // biome-ignore format: one line
  expect(other.seen).toEqual([]);
  const silent = await server(() => {});
  const over = new AbortController();
  const asked = openAiModel({ url: silent.url, model: 'm' }).ask(question, over.signal);
  asked.catch(() => {});
  over.abort();
  await expect(asked).rejects.toBeInstanceOf(ModelFailure);
});

test('a missing key asks nobody, and only https or this machine is an address', async () => {
  const one = await server(json(openAi('x')));
  await expect(openAiModel({ url: one.url, model: 'm', key: () => undefined }).ask(question, never)).rejects.toThrow(/key/); // biome-ignore format: one line
  expect(one.seen).toEqual([]);
  for (const url of ['http://example.com', 'ftp://x', 'https://a:b@example.com', 'https://example.com/?key=1', 'x', 1])
    expect(() => openAiModel({ url: url as string, model: 'm' })).toThrow(/https/);
  expect(() => openAiModel({ url: one.url, model: '' })).toThrow(/name of a model/);
  expect(() => openAiModel({ url: one.url, model: 'm', keys: 1 } as never)).toThrow(/keys/);
});
