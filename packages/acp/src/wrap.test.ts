/** The wrapper between an editor and agents: whose frames go where, and what ends with whom. Real hosts. */
import { E } from '@hob/vat';
import { expect, test } from 'vitest';
import { type ScriptedAgent, world } from '../test/world.ts';

const code = (answer: Promise<unknown>): Promise<unknown> =>
  answer.then(
    () => 'ok',
    (error: { readonly code?: unknown }) => error.code,
  );

test('each session of the editor has an agent and a session of Hob of its own, with Hob’s server and none of the editor’s', async () => {
  const at = await world();
  const editors = { name: 'theirs', command: 'evil', args: [], env: [] };
  const first = await at.begin({ mcpServers: [editors], _meta: { claudeCode: { options: { tools: ['Bash'] } } } });
  const second = await at.begin();
  expect(first.session.id).not.toBe(second.session.id);
  expect(at.agents).toHaveLength(2);
  for (const { agent } of [first, second])
    expect(agent.given).toEqual({
      cwd: at.path('').replace(/\/$/, ''),
      mcpServers: [{ name: 'hob', command: 'hob', args: ['mcp'], env: [] }],
      _meta: { claudeCode: { options: { tools: [] } } },
    });
  expect(at.said.join()).toMatch(/1 servers of MCP of the editor stay with the editor/);
});

test('the editor is told of no capability that the wrapper does not serve', async () => {
  const at = await world();
  const answer = await at.editor.agent.request('initialize', {
    protocolVersion: 1,
    clientCapabilities: { fs: { readTextFile: true } },
  });
  expect(answer.agentCapabilities).toEqual({
    loadSession: true,
    mcpCapabilities: { http: false, sse: false },
    sessionCapabilities: { close: {} },
  });
  for (const method of ['session/list', 'session/fork', '_anything', 'fs/read_text_file', 'terminal/create'])
    expect([method, await code(at.editor.agent.request(method, { sessionId: 'session-0' }))]).toEqual([method, -32601]);
});

test('reads and writes of the agent are those of the caps of its session, and reach no editor', async () => {
  const at = await world();
  const { id, agent } = await at.begin();
  const read = async (path: string, more: object = {}): Promise<unknown> =>
    (await agent.client.request('fs/read_text_file', { sessionId: id, path, ...more })).content;
  expect(await read(at.path('src/a.txt'))).toBe('one\ntwo\nthree\n');
  expect(await read(at.path('src/a.txt'), { line: 2, limit: 1 })).toBe('two\n');
  expect(await read('/files/src/a.txt')).toBe('one\ntwo\nthree\n');
  await agent.client.request('fs/write_text_file', { sessionId: id, path: at.path('src/b.txt'), content: 'new\n' });
  expect(at.file('src/b.txt')).toBe('new\n');
  expect(at.editor.others).toEqual([]);
});

test('updates reach the editor in their order and before the answer of their turn', async () => {
  const many = 200;
  const at = await world({
    script: (app, of) =>
      app.onRequest('session/prompt', ({ params }) => {
        for (let n = 0; n < many; n += 1)
          void of.client.notify('session/update', { sessionId: params.sessionId, update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: String(n) } } }); // biome-ignore format: one line
        return { stopReason: 'end_turn' };
      }),
  });
  const { id } = await at.begin();
  const answer = await at.editor.agent.request('session/prompt', {
    sessionId: id,
    prompt: [{ type: 'text', text: 'go' }],
  });
  expect(answer).toEqual({ stopReason: 'end_turn' });
  expect(
    at.editor.updates.map(({ update }) => (update as never as { content: { text: string } }).content.text),
  ).toEqual(Array.from({ length: many }, (_, n) => String(n)));
});

test('an agent speaks of its own session alone: updates, files, terminals and permissions of another one come to nothing', async () => {
  const at = await world({ asks: 'shown' });
  const [first, second] = [await at.begin(), await at.begin()];
  const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'forged' } } as const;
  await second.agent.client.notify('session/update', { sessionId: first.id, update });
  for (const [method, params] of [
    ['fs/read_text_file', { path: at.path('src/a.txt') }],
    ['fs/write_text_file', { path: at.path('src/a.txt'), content: 'x' }],
    ['terminal/output', { terminalId: 'hob-terminal-1' }],
    ['session/request_permission', { toolCall: { toolCallId: 'x' }, options: [] }],
  ] as const)
    expect([method, await code(second.agent.client.request(method, { sessionId: first.id, ...params }))]).toEqual([
      method,
      -32002,
    ]);
  await second.agent.client.notify('session/update', {
    sessionId: second.id,
    update: { ...update, content: { type: 'text', text: 'own' } },
  });
  await at.until(() => at.editor.updates.length > 0);
  expect(at.editor.updates.map(({ sessionId }) => sessionId)).toEqual([second.id]);
  expect(at.editor.asked).toEqual([]);
});

test('an agent that gives its session the id of another one gets none, and the other one goes on', async () => {
  const at = await world({ script: (_app, of) => void Object.assign(of, { id: 'same' }) });
  const first = await at.begin();
  expect(await code(at.editor.agent.request('session/new', { cwd: '/', mcpServers: [] }))).toBe(-32000);
  await at.works[1]?.ended;
  await first.agent.client.request('fs/read_text_file', { sessionId: first.id, path: at.path('src/a.txt') });
});

test('when an agent crashes its turn ends, its session has the grace time, and loading it enters the same session of Hob', async () => {
  let prompted: ScriptedAgent | undefined;
  const at = await world({
    graceMs: 60_000,
    script: (app, of) =>
      app.onRequest('session/prompt', () => {
        prompted = of;
        return new Promise(() => {});
      }),
  });
  const { id, session } = await at.begin();
  const other = await at.begin();
  const turn = code(at.editor.agent.request('session/prompt', { sessionId: id, prompt: [] }));
  await at.until(() => prompted !== undefined);
  prompted?.crash();
  expect(await turn).toBe(-32000);
  expect(await code(at.editor.agent.request('session/prompt', { sessionId: id, prompt: [] }))).toBe(-32000);
  expect((await at.host.sessions()).map((one) => one.id)).toContain(session.id);
  await at.editor.agent.request('session/load', { sessionId: id, cwd: at.path(''), mcpServers: [] });
  expect(at.works).toHaveLength(2);
  const again = at.agents.at(-1) as ScriptedAgent;
  await again.client.request('fs/write_text_file', { sessionId: id, path: at.path('src/c.txt'), content: 'again' });
  expect(at.file('src/c.txt')).toBe('again');
  // The other session noticed nothing.
  await other.agent.client.request('fs/read_text_file', { sessionId: other.id, path: at.path('src/c.txt') });
});

test('the turn of an agent that has ended ends, also while another program holds its streams open', async () => {
  let isAsked = false;
  const at = await world({
    script: (app) =>
      app.onRequest('session/prompt', () => {
        isAsked = true;
        return new Promise(() => {});
      }),
  });
  const { id, agent } = await at.begin();
  const turn = code(at.editor.agent.request('session/prompt', { sessionId: id, prompt: [] }));
  await at.until(() => isAsked);
  agent.vanish();
  expect(await turn).toBe(-32000);
});

test('after the grace time a crashed session is over, and loading it opens a new one', async () => {
  const at = await world({ graceMs: 1 });
  const { id, agent, session } = await at.begin();
  await agent.client.request('fs/read_text_file', { sessionId: id, path: at.path('src/a.txt') });
  agent.crash();
  await session.ended;
  await at.editor.agent.request('session/load', { sessionId: id, cwd: at.path(''), mcpServers: [] });
  expect(at.works).toHaveLength(2);
});

test('when the editor closes all sessions end at once, also one that no session of the editor has taken', async () => {
  const at = await world({ graceMs: 600_000 });
  const { session } = await at.begin();
  await at.editor.agent.request('initialize', { protocolVersion: 1, clientCapabilities: {} });
  at.editor.close();
  await at.wrapped;
  await session.ended;
  expect(await at.host.sessions()).toEqual([]);
});

test('an editor that greets twice has one agent that waits, and one session', async () => {
  const at = await world();
  for (let n = 0; n < 40; n += 1)
    await at.editor.agent.request('initialize', { protocolVersion: 1, clientCapabilities: {} });
  expect(await at.host.sessions()).toHaveLength(1);
  await at.begin();
  expect(await at.host.sessions()).toHaveLength(1);
});

test('closing a session ends it, and no other one', async () => {
  const at = await world({ script: (app) => void app.onRequest('session/close', () => ({})) });
  const [first, second] = [await at.begin(), await at.begin()];
  await at.editor.agent.request('session/close', { sessionId: first.id });
  await first.session.ended;
  expect((await at.host.sessions()).map(({ id }) => id)).toEqual([second.session.id]);
  expect(await code(at.editor.agent.request('session/prompt', { sessionId: first.id, prompt: [] }))).toBe(-32002);
});

test('a revoked cap ends at once for the methods of the editor, too', async () => {
  const at = await world();
  const { id, agent, session } = await at.begin();
  const read = (): Promise<unknown> =>
    code(agent.client.request('fs/read_text_file', { sessionId: id, path: at.path('src/a.txt') }));
  expect(await read()).toBe('ok');
  await E(at.granter).revoke({ session: session.id });
  expect(await read()).toBe(-32002);
});
