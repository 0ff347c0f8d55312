/** A real host, the SDK's client as the editor, and agents that a test scripts. For tests. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type AgentApp,
  type AgentContext,
  agent,
  type ClientContext,
  client,
  ndJsonStream,
  type RequestPermissionRequest,
  type SessionNotification,
} from '@agentclientprotocol/sdk';
import { openFsCap } from '@hob/caps-fs';
import { makeShellCap } from '@hob/caps-shell';
import { type Granter, type Host, type NewSession, openHost, type Request, type SessionFace } from '@hob/host';
import { connect, E, type Far } from '@hob/vat';
import { onTestFinished } from 'vitest';
import { type Agent, type EditorGranter, type HeldSession, type Pipe, type Work, wrap } from '../src/index.ts';

/** The agent of one session, as a test drives it. */
export interface ScriptedAgent {
  readonly app: AgentApp;
  readonly id: string;
  /** Its client: the wrapper. */
  client: AgentContext;
  /** What it got for `session/new`. */
  given: Readonly<Record<string, unknown>>;
  crash(): void;
  /** Its process ends, and another one holds its streams open. */
  vanish(): void;
  /** Bytes that the SDK would not send. */
  inject(text: string): Promise<void>;
}

export interface Editor {
  readonly agent: ClientContext;
  readonly updates: SessionNotification[];
  readonly asked: RequestPermissionRequest[];
  /** Methods that came to the editor and are neither updates nor permissions. */
  readonly others: string[];
  /** The answer to the next permission; `cancelled` at first. */
  answer: (request: RequestPermissionRequest, signal: AbortSignal) => unknown;
  close(): void;
  /** Bytes that the SDK would not send. */
  inject(text: string): Promise<void>;
}

export interface World {
  readonly host: Host;
  readonly granter: Far<Granter>;
  readonly editor: Editor;
  readonly agents: ScriptedAgent[];
  readonly works: NewSession[];
  readonly said: string[];
  readonly folder: string;
  readonly url: string;
  readonly wrapped: Promise<void>;
  path(name: string): string;
  file(name: string): string;
  write(name: string, text: string): void;
  /** Begins a session of the editor: its id, its agent, and its session of Hob. */
  begin(more?: object): Promise<{ readonly id: string; readonly agent: ScriptedAgent; readonly session: NewSession }>;
  inbox(count?: number): Promise<readonly Request[]>;
  /** Asks again until it holds. */
  until(holds: () => boolean): Promise<void>;
}

export interface WorldOptions {
  readonly granters?: readonly string[];
  readonly shell?: boolean;
  readonly asks?: Agent['asks'];
  readonly terms?: object;
  readonly graceMs?: number;
  /** More of the agent. */
  readonly script?: (app: AgentApp, of: ScriptedAgent) => void;
  /** In place of an agent that speaks ACP. */
  readonly pipe?: () => Pipe;
}

export const tick = (): Promise<void> => new Promise((done) => setImmediate(done));

async function injected({ output }: Pipe, text: string): Promise<void> {
  // The SDK holds the writer while it writes a message.
  while (output.locked) await tick();
  const writer = output.getWriter();
  await writer.write(Buffer.from(text));
  writer.releaseLock();
}

/** As the end of a process does. */
function hangUp(connection: { close(): void }, { output }: Pipe): void {
  connection.close();
  void output.close().catch(() => {});
}

/** The ends of two pipes. */
export function pipes(): readonly [Pipe, Pipe] {
  const [there, back] = [new TransformStream<Uint8Array, Uint8Array>(), new TransformStream<Uint8Array, Uint8Array>()];
  return [
    { input: back.readable, output: there.writable },
    { input: there.readable, output: back.writable },
  ];
}

export async function world(options: WorldOptions = {}): Promise<World> {
  const { granters = ['alice'], shell = false, terms = {}, graceMs } = options;
  const folder = mkdtempSync(join(tmpdir(), 'hob-acp-'));
  const root = join(folder, 'root');
  mkdirSync(join(root, 'src'), { recursive: true });
  writeFileSync(join(root, 'src/a.txt'), 'one\ntwo\nthree\n');
  writeFileSync(join(folder, 'secret.txt'), 'MARK-secret\n');
  const host = await openHost({ stateDir: join(folder, 'state'), ...(graceMs === undefined ? {} : { graceMs }) });
  const directory = await openFsCap(root);
  await host.offer('files', directory, { reads: ['readText', 'read', 'list', 'stat', 'entries'] });
  const sh = shell ? await makeShellCap({ mounts: { '/files': directory } }) : undefined;
  if (sh !== undefined) await host.offer('shell', sh);
  const granter = (await host.ensureGranter('alice')).granter;
  const editorGranter = granters.includes('editor') ? (await host.ensureGranter('editor')).granter : undefined;
  const maker = granters.includes('alice') ? granter : (editorGranter as Far<Granter>);
  const { url } = await host.serve();
  const agents: ScriptedAgent[] = [];
  const works: NewSession[] = [];
  const said: string[] = [];

  const open = async (): Promise<Work> => {
    const session = await host.openSession({ name: `acp-${works.length}`, granters: [...granters] });
    works.push(session);
    await E(maker).grant(session.id, 'files', 'files', { scope: 'session', ...terms });
    if (sh !== undefined) await E(maker).grant(session.id, 'shell', 'shell', { scope: 'session' });
    let entered: Awaited<ReturnType<typeof connect<SessionFace>>> | undefined;
    const reach = async (): Promise<Far<HeldSession>> => {
      entered ??= await connect<SessionFace>(`${url}/beside`, { secret: session.secret });
      return entered.bootstrap as unknown as Far<HeldSession>;
    };
    const leave = async (): Promise<void> => {
      entered?.close();
      await entered?.closed;
      entered = undefined;
    };
    return {
      id: session.id,
      session: reach,
      places: { files: root },
      start: async () => startAgent(options, agents),
      leave,
      async end() {
        await leave();
        await session.end('the editor closed');
      },
    };
  };

  const [ours, theirs] = pipes();
  const wrapped = wrap({
    editor: ours,
    open,
    ...(editorGranter === undefined ? {} : { granter: editorGranter as unknown as Far<EditorGranter> }),
    say: (line) => void said.push(line),
  });
  const editor = openEditor(theirs);
  onTestFinished(async () => {
    editor.close();
    await wrapped;
    await sh?.close();
    await host.close();
    await directory.close();
    rmSync(folder, { recursive: true });
  });
  await editor.agent.request('initialize', { protocolVersion: 1, clientCapabilities: {} });
  return {
    ...{ host, granter, editor, agents, works, said, folder, url, wrapped },
    path: (name) => join(root, name),
    file: (name) => readFileSync(join(root, name), 'utf8'),
    write: (name, text) => writeFileSync(join(root, name), text),
    async begin(more = {}) {
      const { sessionId } = await editor.agent.request('session/new', { cwd: root, mcpServers: [], ...more });
      const found = agents.find(({ id }) => id === sessionId) as ScriptedAgent;
      return { id: sessionId, agent: found, session: works[agents.indexOf(found)] as NewSession };
    },
    async inbox(count = 1) {
      for (;;) {
        const all = (await E(maker).inbox()) as readonly Request[];
        if (all.length === count) return all;
        await tick();
      }
    },
    async until(holds) {
      while (!holds()) await tick();
    },
  };
}

function openEditor(pipe: Pipe): Editor {
  const app = client({ name: 'editor' });
  const editor: { -readonly [Name in keyof Editor]: Editor[Name] } = {
    agent: undefined as unknown as ClientContext,
    updates: [],
    asked: [],
    others: [],
    answer: () => ({ outcome: { outcome: 'cancelled' } }),
    close: () => hangUp(connection, pipe),
    inject: (text) => injected(pipe, text),
  };
  app.onNotification('session/update', ({ params }) => void editor.updates.push(params));
  app.onRequest('session/request_permission', async ({ params, signal }) => {
    editor.asked.push(params);
    return (await editor.answer(params, signal)) as never;
  });
  app.onRequest('*', ({ method }) => {
    editor.others.push(method);
    return {};
  });
  const connection = app.connect(ndJsonStream(pipe.output, pipe.input));
  editor.agent = connection.agent;
  return editor;
}

function startAgent({ asks = 'allowed', script, pipe: other }: WorldOptions, agents: ScriptedAgent[]): Agent {
  const [ours, theirs] = pipes();
  const over = Promise.withResolvers<void>();
  const app = agent({ name: 'scripted' });
  let isHeldOpen = false;
  const scripted: ScriptedAgent = {
    app,
    id: `session-${agents.length}`,
    client: undefined as unknown as AgentContext,
    given: {},
    crash: () => {
      hangUp(connection, theirs);
      over.resolve();
    },
    vanish: () => {
      isHeldOpen = true;
      over.resolve();
    },
    inject: (text) => injected(theirs, text),
  };
  agents.push(scripted);
  app.onRequest('initialize', () => ({
    protocolVersion: 1,
    agentCapabilities: {
      loadSession: true,
      mcpCapabilities: { http: true },
      sessionCapabilities: { list: {}, close: {} },
    },
  }));
  app.onRequest('session/new', ({ params }) => {
    scripted.given = params as never;
    return { sessionId: scripted.id };
  });
  app.onRequest('session/load', ({ params }) => {
    scripted.given = params as never;
    return {};
  });
  script?.(app, scripted);
  const connection = app.connect(ndJsonStream(theirs.output, theirs.input));
  scripted.client = connection.client;
  return {
    pipe: other?.() ?? ours,
    ended: over.promise,
    stop: async () => {
      if (!isHeldOpen) scripted.crash();
    },
    directory: (cwd) => cwd,
    mcpServers: [{ name: 'hob', command: 'hob', args: ['mcp'], env: [] }],
    meta: { claudeCode: { options: { tools: [] } } },
    asks,
  };
}
