/** A served host with a door for tasks, and agents that send some with the client of the A2A SDK. For tests. */
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Message, Task } from '@a2a-js/sdk';
import { type Client, ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory } from '@a2a-js/sdk/client';
import { cardKey, peerToken } from '@hob/a2a';
import { type HobHome, hobHome, type Running, resolveHook } from './hob.ts';

/** The address in the card. A proxy would lead from there to the door. */
export const AUDIENCE = 'https://timmy.example.com/a2a';

export const newKey = (): string =>
  generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

/** The agent of `agents.worker`. It writes what it was asked, and what it found in its session. */
const WORKER = `
import '@hob/vat/lockdown';
import { readFileSync } from 'node:fs';
import { connect, E } from '@hob/vat';
const task = readFileSync(0, 'utf8');
const secret = readFileSync(process.env.HOB_SECRET_FILE, 'utf8').trim();
const { bootstrap: session, close } = await connect(process.env.HOB_URL, { secret });
const [word, ...rest] = task.split(' ');
const calls = {
  caps: () => E(session).caps(),
  read: (path) => E(E(session).cap('src')).readText(path),
  tell: () => E(E(session).cap('say')).draft('All is well, we look at it tomorrow.').then((draft) => E(E(session).cap('say')).send(draft)).then(() => 'told'),
  edit: (path) => E(E(session).cap('edit')).write(path, 'by a worker'),
  flood: async (count) => 'x'.repeat(Number(count)),
  fail: async () => { console.error('it broke in ' + process.cwd()); process.exit(3); },
  stay: () => new Promise(() => setInterval(() => {}, 1000)),
};
const ended = await (calls[word] ?? (async () => 'what?'))(...rest).then((value) => value ?? 'done', (error) => error.code);
process.stdout.write(typeof ended === 'string' ? ended : JSON.stringify(ended));
close();
`;

/** One agent that sends tasks. */
export interface TaskPeer {
  /** The client of the A2A SDK. */
  readonly client: Client;
  /** Begins a task, and returns when it is over or waits. */
  send(asked: string | object, more?: Partial<Message>): Promise<Task>;
  get(id: string): Promise<Task>;
}

export interface TaskHome extends HobHome {
  /** The door of the host that serves now. */
  door(): Promise<string>;
  /** A peer with this key. */
  peer(pem: string, audience?: string): Promise<TaskPeer>;
  /** A request as it stands on the wire. */
  raw(headers: Readonly<Record<string, string>>, body: string, method?: string): Promise<Response>;
  token(pem: string, more?: { readonly audience?: string; readonly now?: () => number }): Promise<string>;
  hosts(): Promise<Running>;
}

export interface TaskHomeOptions {
  /** `a2a.peers` as JSON, by the keys that were made for the names. */
  readonly peers: Readonly<Record<string, object>>;
  readonly keys: Readonly<Record<string, string>>;
  readonly more?: Readonly<Record<string, string>>;
  /** Further lines of the manifest. */
  readonly lines?: string;
  /** Further caps, as lines below `caps`. */
  readonly caps?: string;
}

export async function taskHome({ peers, keys, more, lines = '', caps = '' }: TaskHomeOptions): Promise<TaskHome> {
  const hob = hobHome('', more);
  const worker = join(hob.folder, 'worker.mjs');
  writeFileSync(worker, WORKER);
  const command = [process.execPath, '--import', resolveHook, worker];
  const listed: Record<string, object> = {};
  for (const [name, peer] of Object.entries(peers))
    listed[name] = { key: await cardKey(keys[name] as string), ...peer };
  writeFileSync(join(hob.folder, 'config/hob.yaml'), `version: 1
roots: { project: project }
agents:
  worker: { command: ${JSON.stringify(command)} }
session:
  deadline: 8h
  mode: autonomous
  caps:
    src: { fs: project/src, can: [read, list] }
    edit: { fs: project/src, can: [read, write] }
    few: { fs: project/src, can: [read], uses: 1 }
    mine: { fs: project/src, can: [read, write, remove] }
${caps}${lines}a2a:
  url: ${JSON.stringify(AUDIENCE)}
  serve: true
  peers: ${JSON.stringify(listed)}
`); // biome-ignore format: one text
  const door = async (): Promise<string> => {
    const { url } = await hob.json<{ readonly url: string }>('status');
    return `${url.replace('ws:', 'http:')}/a2a`;
  };
  const token: TaskHome['token'] = (pem, { audience = AUDIENCE, now = () => Date.now() } = {}) =>
    peerToken({ pem, audience, now });
  return {
    ...hob,
    door,
    token,
    hosts: () => hob.serve(),
    async peer(pem, audience = AUDIENCE) {
      const at = await door();
      const fetchImpl: typeof fetch = async (_url, init) =>
        await fetch(at, {
          ...init,
          headers: { ...(init?.headers as object), authorization: `Bearer ${await token(pem, { audience })}` },
        });
      const factory = new ClientFactory({ transports: [new JsonRpcTransportFactory({ fetchImpl })] });
      // The SDK reads the card that the host serves, and knows from it where and how to send.
      const card = await new DefaultAgentCardResolver().resolve(at.replace('/a2a', ''));
      const client = await factory.createFromAgentCard(card);
      return {
        client,
        get: (id) => client.getTask({ id, tenant: '' } as never),
        async send(asked, rest = {}) {
          const value = typeof asked === 'string' ? { $case: 'text', value: asked } : { $case: 'data', value: asked };
          const part = { content: value, metadata: undefined, filename: '', mediaType: '' };
          const message = { messageId: randomUUID(), contextId: '', taskId: '', role: 1, parts: [part], metadata: undefined, extensions: [], referenceTaskIds: [], ...rest }; // biome-ignore format: one line
          return (await client.sendMessage({ tenant: '', message, metadata: undefined } as never)) as Task;
        },
      };
    },
    async raw(headers, body, method = 'POST') {
      return await fetch(await door(), { method, headers, ...(method === 'POST' ? { body } : {}) });
    },
  };
}

/** The text of a file of the project. */
export const projectFile = ({ folder }: HobHome, name: string): string =>
  readFileSync(join(folder, 'config/project/src', name), 'utf8');
