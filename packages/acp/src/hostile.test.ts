/**
 * Hostile agents and hostile editors on either end of the wrapper. Nothing happens outside, and the wrapper
 * serves on.
 */
import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type ScriptedAgent, type World, world } from '../test/world.ts';

const code = (answer: Promise<unknown>): Promise<unknown> =>
  answer.then(
    () => 'ok',
    (error: { readonly code?: unknown }) => error.code,
  );

/** It still does what it is for. */
async function serves(at: World, { id, agent }: { readonly id: string; readonly agent: ScriptedAgent }): Promise<void> {
  const { content } = await agent.client.request('fs/read_text_file', { sessionId: id, path: at.path('src/a.txt') });
  expect(content).toBe('one\ntwo\nthree\n');
}

test('no path leads outside: absolute paths, dots, links and places of others are not found, for reading and for writing', async () => {
  const at = await world();
  const { id, agent } = await at.begin();
  symlinkSync(join(at.folder, 'secret.txt'), at.path('link.txt'));
  symlinkSync(at.folder, at.path('out'));
  const paths = [
    ...[
      join(at.folder, 'secret.txt'),
      '/etc/passwd',
      '/files/../secret.txt',
      at.path('../secret.txt'),
      at.path('src/../../secret.txt'),
    ],
    ...[
      at.path('link.txt'),
      at.path('out/secret.txt'),
      '/files/out/secret.txt',
      `${at.path('')}x/secret.txt`,
      '/proc/self/environ',
      '//etc/passwd',
    ],
    ...['/files\0/../secret.txt', `/${'x'.repeat(100_000)}`],
  ];
  for (const path of paths) {
    expect([path.slice(0, 80), await code(agent.client.request('fs/read_text_file', { sessionId: id, path }))]).toEqual(
      [path.slice(0, 80), -32002],
    );
    const made = path.replace('secret', 'made');
    expect([
      path.slice(0, 80),
      await code(agent.client.request('fs/write_text_file', { sessionId: id, path: made, content: 'x' })),
    ]).not.toEqual([path, 'ok']);
  }
  expect(readFileSync(join(at.folder, 'secret.txt'), 'utf8')).toBe('MARK-secret\n');
  expect(readdirSync(at.folder).sort()).toEqual(['root', 'secret.txt', 'state']);
  for (const path of ['src/a.txt', '', 'C:\\a', 7, null, undefined, ['/a'], { toString: 'x' }])
    expect(await code(agent.client.request('fs/read_text_file', { sessionId: id, path } as never))).toBe(-32602);
  for (const line of [-1, 1.5, '1', Number.MAX_VALUE])
    expect(
      await code(agent.client.request('fs/read_text_file', { sessionId: id, path: '/files/src/a.txt', line } as never)),
    ).toBe(-32602);
  await serves(at, { id, agent });
});

test('unknown methods of an agent get an error, and reach no editor', async () => {
  const at = await world();
  const begun = await at.begin();
  for (const method of [
    'fs/delete',
    'fs/list_directory',
    'terminal/write',
    'elicitation/create',
    '_zed/run',
    'session/new',
    'initialize',
    'constructor',
    '__proto__',
    'toString',
    '',
  ])
    expect([method, await code(begun.agent.client.request(method, { sessionId: begun.id }))]).toEqual([method, -32601]);
  for (const method of ['session/new', '_anything', 'elicitation/complete', 'fs/write_text_file'])
    await begun.agent.client.notify(method, { sessionId: begun.id });
  await serves(at, begun);
  expect([at.editor.others, at.editor.updates]).toEqual([[], []]);
});

test.for([
  ['no JSON', '{"jsonrpc": nonsense\n'],
  ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"session/update"}]\n'],
  ['a number', '7\n'],
  ['no params', '{"jsonrpc":"2.0","id":"a","method":"fs/read_text_file"}\n'],
  ['params that are a list', '{"jsonrpc":"2.0","id":"b","method":"fs/read_text_file","params":[1]}\n'],
  ['an answer to nothing', '{"jsonrpc":"2.0","id":99999,"result":{}}\n'],
  ['an error without a code', '{"jsonrpc":"2.0","id":99999,"error":"x"}\n'],
  [
    'a prototype',
    '{"jsonrpc":"2.0","method":"session/update","params":{"__proto__":{"sessionId":"x"},"update":{"__proto__":null}}}\n',
  ],
  [
    'an update that is none',
    '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"session-0","update":7}}\n',
  ],
  ['bytes that are no UTF-8', '\ufffd\u0000\u0001\n'],
  ['empty lines', '\n\n\n'],
] as const)('%s from an agent, and from an editor, harms neither', async ([, line]) => {
  const at = await world();
  const begun = await at.begin();
  await begun.agent.inject(line);
  await at.editor.inject(line);
  await serves(at, begun);
  await serves(at, await at.begin());
});

test('the same id twice gets two answers and does nothing twice', async () => {
  const at = await world();
  const begun = await at.begin();
  const line = `${JSON.stringify({ jsonrpc: '2.0', id: 'same', method: 'fs/write_text_file', params: { sessionId: begun.id, path: at.path('src/b.txt'), content: 'x' } })}\n`;
  await begun.agent.inject(line + line);
  await at.until(() => existsSync(at.path('src/b.txt')));
  await serves(at, begun);
});

test('an update of more than 32 MiB ends the agent that sent it, and no other session', async () => {
  const at = await world();
  const [first, second] = [await at.begin(), await at.begin()];
  const turn = code(at.editor.agent.request('session/prompt', { sessionId: first.id, prompt: [] }));
  const piece = 'x'.repeat(1024 * 1024);
  const sending = (async () => {
    for (let n = 0; n < 40; n += 1) await first.agent.inject(piece);
  })();
  expect(await turn).not.toBe('ok');
  void sending.catch(() => {});
  await at.until(() => at.editor.updates.length === 0);
  await serves(at, second);
  expect(await code(at.editor.agent.request('session/prompt', { sessionId: first.id, prompt: [] }))).toBe(-32000);
});

test('many updates at once are all shown', async () => {
  const at = await world();
  const begun = await at.begin();
  const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'x'.repeat(1000) } } as const;
  // From now on the editor knows the session.
  await code(at.editor.agent.request('session/set_mode', { sessionId: begun.id, modeId: 'x' }));
  for (let n = 0; n < 2_000; n += 1) void begun.agent.client.notify('session/update', { sessionId: begun.id, update });
  await at.until(() => at.editor.updates.length === 2_000);
  await serves(at, begun);
});

test('an editor reaches nothing by names of sessions, and nothing before it has greeted', async () => {
  const at = await world();
  const begun = await at.begin();
  for (const sessionId of ['session-9', '', '__proto__', 'constructor', 7, null, undefined, {}]) {
    const said = await code(at.editor.agent.request('session/prompt', { sessionId, prompt: [] } as never));
    expect([-32002, -32602]).toContain(said);
  }
  for (const cwd of ['relative', '', 7, null])
    expect(await code(at.editor.agent.request('session/new', { cwd, mcpServers: [] } as never))).toBe(-32602);
  await serves(at, begun);
});

test('sessions are limited, and one that was closed makes room', async () => {
  const at = await world({ script: (app) => void app.onRequest('session/close', () => ({})) });
  const begun = [];
  for (let n = 0; n < 32; n += 1) begun.push(await at.begin());
  expect(await code(at.editor.agent.request('session/new', { cwd: '/', mcpServers: [] }))).toBe(-32000);
  expect(at.works).toHaveLength(32);
  await at.editor.agent.request('session/close', { sessionId: begun[0]!.id });
  await serves(at, await at.begin());
});

test('property: whatever an agent asks for, nothing outside of its directory is read or written', async () => {
  const at = await world();
  const begun = await at.begin();
  const name = fc.oneof(
    fc.constantFrom('..', '.', '', 'src', 'a.txt', 'files', 'secret.txt', 'state'),
    fc.string({ maxLength: 6 }),
  );
  const path = fc.oneof(
    fc.array(name, { maxLength: 6 }).map((names) => `/${names.join('/')}`),
    fc.array(name, { maxLength: 6 }).map((names) => `${at.path('')}${names.join('/')}`),
    fc.array(name, { maxLength: 6 }).map((names) => `${at.folder}/${names.join('/')}`),
  );
  const before = readdirSync(join(at.folder, 'root/..')).sort();
  await fc.assert(
    fc.asyncProperty(path, fc.boolean(), async (each, isRead) => {
      const params = { sessionId: begun.id, path: each, ...(isRead ? {} : { content: 'MADE' }) };
      const answer = await begun.agent.client
        .request(isRead ? 'fs/read_text_file' : 'fs/write_text_file', params as never)
        .catch(() => ({}));
      expect(JSON.stringify(answer)).not.toContain('MARK-');
      expect(readdirSync(at.folder).sort()).toEqual(before);
    }),
    { numRuns: 300 },
  );
  expect(readFileSync(join(at.folder, 'secret.txt'), 'utf8')).toBe('MARK-secret\n');
});
