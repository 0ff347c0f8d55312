/**
 * The same session from any Endo peer: this agent speaks the published `@endo/captp` and imports nothing of Hob but types
 * and the hardening of intrinsics.
 *
 * It reads, lists, writes and takes a subdirectory. It tries three ways out and is refused. It uses a grant for one
 * call up. Then it reads until a granter revokes it.
 *
 *   HOB_URL=… npm run agent -- examples/endo-peer.ts
 */
import '@hob/host/lockdown';
import { makeCapTP } from '@endo/captp';
import { E } from '@endo/eventual-send';
import type { AgentPowers } from '@hob/host';
import { WebSocket } from 'ws';

interface Directory {
  readText(path: string): Promise<string>;
  list(path?: string): Promise<readonly string[]>;
  write(path: string, data: string): Promise<unknown>;
  subdir(path: string): Promise<Directory>;
}

interface SessionFace {
  caps(): readonly string[];
  cap(petname: string): Directory;
}

/** How long it waits to be revoked, in ms. */
const patience = 120_000;

export default async function agent({ url, secret, say }: AgentPowers): Promise<void> {
  const socket = new WebSocket(url, ['captp'], { headers: { authorization: `Bearer ${secret}` } });
  const { dispatch, getBootstrap, abort } = makeCapTP(
    'agent',
    (message) => socket.send(JSON.stringify(message)),
    undefined,
    { onReject: () => {} },
  );
  socket.on('message', (data: Buffer) => void dispatch(JSON.parse(data.toString('utf8'))));
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  // A host that ends a connection says why.
  socket.once('close', (_code, reason) => abort(new Error(String(reason) || 'the host is gone')));
  const session = getBootstrap() as Promise<SessionFace>;

  const step = async (name: string, work: () => Promise<unknown>): Promise<void> => {
    try {
      say(`${name}: ${JSON.stringify(await work())}`);
    } catch (error) {
      say(`${name}: refused: ${(error as Error).message}`);
    }
  };

  await step('holds', () => E(session).caps());
  const workspace = E(session).cap('workspace');
  await step('read', () => E(workspace).readText('notes.txt'));
  await step('list', () => E(workspace).list('src'));
  await step('write', async () => {
    await E(workspace).write('written-by-the-agent.txt', 'I was here.\n');
    return E(workspace).readText('written-by-the-agent.txt');
  });
  const src = E(workspace).subdir('src');
  await step('subdir', () => E(src).readText('hello.txt'));
  await step('dot-dot', () => E(src).readText('../notes.txt'));
  await step('absolute', () => E(workspace).readText('/etc/passwd'));
  await step('link', () => E(workspace).list('way-out'));
  await step('not-held', () => E(E(session).cap('host-state')).list());

  const once = E(session).cap('once');
  await step('once', () => E(once).list('src'));
  await step('once-again', () => E(once).list('src'));

  say('working: until I am revoked (npm run hob -- list, then revoke ID)');
  let stopped: string | undefined;
  for (const end = Date.now() + patience; stopped === undefined && Date.now() < end; ) {
    try {
      await E(workspace).readText('notes.txt');
      await new Promise((resolve) => setTimeout(resolve, 250));
    } catch (error) {
      stopped = (error as Error).message;
    }
  }
  say(stopped === undefined ? 'ended: nobody revoked me' : `ended: refused: ${stopped}`);
  await step('subdir-too', () => E(src).readText('hello.txt'));
  socket.close();
}
