/** `hob acp` as an editor starts it: real processes, the SDK's client as the editor, and an agent that says the frames of ACP itself. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { editorOf } from '../../test/acp-editor.ts';
import { type HobHome, hobHome } from '../../test/hob.ts';

const MANIFEST = `version: 1
roots: { project: project }
granters: [owner, editor]
session:
  deadline: 8h
  mode: supervised
  caps:
    src: { fs: project/src, can: [read, list, write] }
  ask:
    more: { fs: project, can: [read, write], offer: { uses: 20, for: 1h } }
`;

/** Each prompt is a list of JSON lines: what the agent sends before its answer. The answers come back as messages. */
const AGENT = `
import { createInterface } from 'node:readline';
import { readdirSync, writeFileSync } from 'node:fs';
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const waiting = new Map();
let next = 0;
const ask = (method, params) => new Promise((done) => { waiting.set(++next, done); send({ id: next, method, params }); });
const sessionId = 's-' + process.pid;
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params, result, error } = JSON.parse(line);
  if (method === undefined) { waiting.get(id)?.(error ?? result); continue; }
  if (method === 'initialize') send({ id, result: { protocolVersion: 1, agentCapabilities: { loadSession: true } } });
  if (method === 'session/new') { writeFileSync(process.argv[2], JSON.stringify({ params, env: process.env, here: [process.cwd(), readdirSync('.')] })); send({ id, result: { sessionId } }); }
  if (method === 'session/load') send({ id, result: {} });
  if (method === 'session/prompt') (async () => {
    for (const [name, args] of JSON.parse(params.prompt[0].text)) {
      if (name === 'crash') process.exit(1);
      const text = JSON.stringify(await ask(name, { sessionId, ...args })) + '\\n';
      send({ method: 'session/update', params: { sessionId, update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } } } });
    }
    send({ id, result: { stopReason: 'end_turn' } });
  })();
}
`;

interface Told {
  readonly params: {
    readonly cwd: string;
    readonly mcpServers: readonly {
      readonly name: string;
      readonly command: string;
      readonly args: readonly string[];
    }[];
  };
  readonly env: Readonly<Record<string, string>>;
  /** Its directory, and what lies there. */
  readonly here: readonly [string, readonly string[]];
}

function scene(manifest = MANIFEST, ...options: readonly string[]) {
  const hob = hobHome(manifest);
  const told = join(hob.folder, 'told.json');
  writeFileSync(join(hob.folder, 'acp-agent.mjs'), AGENT);
  const begin = () => {
    const running = hob.start('acp', ...options, '--', process.execPath, join(hob.folder, 'acp-agent.mjs'), told);
    return { running, editor: editorOf(running) };
  };
  return { hob, begin, told: () => JSON.parse(readFileSync(told, 'utf8')) as Told };
}

const names = async (hob: HobHome): Promise<readonly string[]> =>
  (await hob.json<readonly { readonly name: string }[]>('sessions')).map(({ name }) => name);

test('apart, an agent begins in an empty directory, is told no other, and reads through its caps all the same', async () => {
  const { hob, begin, told } = scene(MANIFEST, '--apart');
  await hob.serve();
  const { running, editor } = begin();
  await editor.agent.request('initialize', { protocolVersion: 1, clientCapabilities: {} });
  const cwd = join(hob.folder, 'config/project');
  const { sessionId } = await editor.agent.request('session/new', { cwd, mcpServers: [] });
  const { params, here } = told();
  expect([params.cwd, here[1]]).toEqual([here[0], []]);
  expect(here[0].startsWith(hob.folder) && !here[0].startsWith(cwd)).toBe(true);
  const text = JSON.stringify([['fs/read_text_file', { path: join(cwd, 'src/a.txt') }]]);
  await editor.agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] });
  expect(editor.said()).toBe('{"content":"one\\n"}\n');
  editor.close();
  expect(await running.ended).toBe(0);
  expect(existsSync(here[0])).toBe(false);
  const both = await hob.run('acp', '--apart', '--recipe', 'opencode', '--model', 'm', '--', 'opencode', 'acp');
  expect(both).toMatchObject({
    code: 2,
    err: expect.stringMatching(/--apart is for an agent without --recipe and --box/),
  });
});

test('an editor works with an agent in a session of the manifest: it reads, its change is asked for in the editor, and closing ends it', async () => {
  const { hob, begin, told } = scene();
  await hob.serve();
  const { running, editor } = begin();
  await editor.agent.request('initialize', { protocolVersion: 1, clientCapabilities: {} });
  const cwd = join(hob.folder, 'config/project');
  const { sessionId } = await editor.agent.request('session/new', { cwd, mcpServers: [] });
  expect(await names(hob)).toEqual(['acp']);
  expect(await hob.json('granter', 'list')).toContainEqual({ name: 'editor', by: 'socket' });
  expect(running.err).toMatch(/this agent keeps its own tools, and the authority of your user/);
  const { params } = told();
  expect(params.cwd).toBe(cwd);
  expect(params.mcpServers.map(({ name }) => name)).toEqual(['hob']);
  const prompt = async (...calls: readonly (readonly [string, object])[]): Promise<string> => {
    const before = editor.said();
    const answer = await editor.agent.request('session/prompt', {
      sessionId,
      prompt: [{ type: 'text', text: JSON.stringify(calls) }],
    });
    expect(answer.stopReason).toBe('end_turn');
    return editor.said().slice(before.length);
  };
  expect(await prompt(['fs/read_text_file', { path: join(cwd, 'src/a.txt') }])).toBe('{"content":"one\\n"}\n');
  expect(
    await prompt(
      ['fs/read_text_file', { path: join(hob.folder, 'config/hob.yaml') }],
      ['fs/read_text_file', { path: '/etc/passwd' }],
    ),
  ).toMatch(/^\{"code":-32002.*\n\{"code":-32002.*\n$/);
  expect(await prompt(['fs/write_text_file', { path: join(cwd, 'src/a.txt'), content: 'two\n' }])).toBe('{}\n');
  expect(readFileSync(join(cwd, 'src/a.txt'), 'utf8')).toBe('two\n');
  expect(editor.asked[0]?.toolCall.content?.[0]).toEqual({
    type: 'diff',
    path: join(cwd, 'src/a.txt'),
    oldText: 'one\n',
    newText: 'two\n',
  });
  editor.choice = 'deny';
  expect(await prompt(['fs/write_text_file', { path: join(cwd, 'src/a.txt'), content: 'three\n' }])).toMatch(/denied/);
  expect(readFileSync(join(cwd, 'src/a.txt'), 'utf8')).toBe('two\n');
  expect(editor.others).toEqual([]);
  editor.close();
  expect(await running.ended).toBe(0);
  expect(await names(hob)).toEqual([]);
});

test('the server that the agent gets serves the session, and no secret is in its command line, its environment or the protocol', async () => {
  const { hob, begin, told } = scene();
  await hob.serve();
  const { running, editor } = begin();
  await editor.agent.request('initialize', { protocolVersion: 1, clientCapabilities: {} });
  await editor.agent.request('session/new', { cwd: '/', mcpServers: [] });
  const { params, env } = told();
  const [{ command, args }] = params.mcpServers as [Told['params']['mcpServers'][0]];
  const file = args.at(-1) as string;
  const secret = readFileSync(file, 'utf8').trim();
  expect(secret.length).toBeGreaterThan(30);
  expect(JSON.stringify([params, env, running.out, running.err])).not.toContain(secret);
  expect([command, args.includes('mcp')]).toEqual([process.execPath, true]);
  editor.close();
  await running.ended;
  expect(existsSync(file)).toBe(false);
});

test('a second session has an agent and a session of its own; a crash of the first leaves it alone, and the first can be loaded again', async () => {
  const { hob, begin } = scene();
  await hob.serve();
  const { running, editor } = begin();
  await editor.agent.request('initialize', { protocolVersion: 1, clientCapabilities: {} });
  const cwd = join(hob.folder, 'config/project');
  const [first, second] = [
    await editor.agent.request('session/new', { cwd, mcpServers: [] }),
    await editor.agent.request('session/new', { cwd, mcpServers: [] }),
  ];
  expect(await names(hob)).toEqual(['acp', 'acp-2']);
  const prompt = (sessionId: string, calls: object): Promise<unknown> =>
    editor.agent
      .request('session/prompt', { sessionId, prompt: [{ type: 'text', text: JSON.stringify(calls) }] })
      .catch((error) => error.code);
  expect(await prompt(first.sessionId, [['crash', {}]])).toBe(-32000);
  await prompt(second.sessionId, [['fs/read_text_file', { path: join(cwd, 'src/a.txt') }]]);
  expect(editor.said()).toBe('{"content":"one\\n"}\n');
  await editor.agent.request('session/load', { sessionId: first.sessionId, cwd, mcpServers: [] });
  expect(await names(hob)).toEqual(['acp', 'acp-2']);
  editor.close();
  expect(await running.ended).toBe(0);
  expect(await names(hob)).toEqual([]);
});

test('kill -9 of hob acp ends its agent and, after the grace time or at once, its session', async () => {
  const { hob, begin } = scene();
  await hob.serve();
  const { running, editor } = begin();
  await editor.agent.request('initialize', { protocolVersion: 1, clientCapabilities: {} });
  const { sessionId } = await editor.agent.request('session/new', { cwd: '/', mcpServers: [] });
  const pid = Number(sessionId.slice(2));
  running.child.kill('SIGKILL');
  await running.ended;
  const lives = (): boolean => {
    try {
      return process.kill(pid, 0) && !/ Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
    } catch {
      return false;
    }
  };
  while (lives()) await new Promise((done) => setTimeout(done, 20));
  await hob.until(
    () => names(hob),
    (left) => left.length === 0,
  );
});

test('without a host, with an agent that is not there, or with a recipe without ACP, the person is told what to do', async () => {
  const { hob } = scene();
  const refused = async (...args: readonly string[]): Promise<string> => {
    const { code, err, out } = await hob.run('acp', ...args);
    expect([args.join(' '), code === 0, out]).toEqual([args.join(' '), false, '']);
    return err;
  };
  expect(await refused('--', 'agent')).toMatch(/no host serves this state: start one with hob serve/);
  expect(await refused('--model', 'x', '--', 'agent')).toMatch(/go with --recipe or --box/);
  await hob.serve();
  expect(await refused('--recipe', 'hermes', '--model', 'm', '--', 'hermes', 'acp')).toMatch(
    /over ACP it has fifteen tools of its own/,
  );
  expect(await refused('--recipe', 'claude', '--box', '--', 'claude-agent-acp')).toMatch(
    /there is no box for the adapter of claude/,
  );
  expect(await refused('--box', '--', 'claude-agent-acp')).toMatch(/a box runs agent hosts that Hob knows/);
  const running = hob.start('acp', '--', '/nowhere/agent');
  const editor = editorOf(running);
  const error = await editor.agent
    .request('initialize', { protocolVersion: 1, clientCapabilities: {} })
    .catch((caught) => caught);
  expect(error.message).toMatch(/cannot be run \(ENOENT\): name a program that is there/);
  editor.close();
  expect(await running.ended).toBe(0);
  expect(await names(hob)).toEqual([]);
});
