/** A host with an agent that asks, and a desk over a chat. For tests. */

import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FsCap, openFsCap } from '@hob/caps-fs';
import { type Granter, type Host, type NewSession, openHost, type SessionFace } from '@hob/host';
import { connect, E, type Far, table } from '@hob/vat';
import { onTestFinished } from 'vitest';
import {
  ChatDesk,
  type ChatGranter,
  type ChatPort,
  type ChatRows,
  ChatRowsActor,
  chatDefinitions,
} from '../src/index.ts';

export interface Scene {
  readonly host: Host;
  readonly session: NewSession;
  readonly owner: Far<Granter>;
  readonly rows: Far<ChatRows>;
  readonly log: string[];
  desk(port: ChatPort, sender?: string): Promise<ChatDesk>;
  /** The agent asks for the directory. It may break before anybody awaits it. */
  ask(terms?: object, why?: string): Promise<string>;
  /** The agent writes through a grant whose writes wait. */
  write(text: string, petname?: string): Promise<string>;
  file(): string;
}

export async function scene(): Promise<Scene> {
  const folder = mkdtempSync(join(tmpdir(), 'hob-chat-'));
  mkdirSync(join(folder, 'root'));
  const host = await openHost({ stateDir: join(folder, 'state'), definitions: chatDefinitions });
  const dir = await openFsCap(join(folder, 'root'));
  await host.offer('notes', dir);
  await host.offer('safe', dir, { needs: 'passkey' });
  const { granter: owner } = await host.addGranter('owner');
  const session = await host.openSession({ name: 'work', granters: ['owner'] });
  const { url } = await host.serve();
  const agent = await connect<SessionFace>(url, { secret: session.secret });
  const rows = (await host.vats.vat('chats').root('rows', () => ChatRowsActor(table(), table()))) as never;
  const log: string[] = [];
  const desks: ChatDesk[] = [];
  onTestFinished(async () => {
    for (const desk of desks) desk.close();
    agent.close();
    await agent.closed;
    await host.close();
    await dir.close();
    rmSync(folder, { recursive: true });
  });
  const code = (promise: Promise<unknown>): Promise<string> =>
    promise.then(
      () => 'ok',
      (error: { readonly code?: string }) => error.code ?? String(error),
    );
  return {
    ...{ host, session, owner, rows, log },
    async desk(port, sender = '7') {
      const granter = (await host.granter('owner', 'chat')) as unknown as Far<ChatGranter>;
      const pause = (ms: number): Promise<void> =>
        new Promise((resolve) => setTimeout(resolve, Math.min(ms, 20)).unref());
      const desk = new ChatDesk({ chat: 'phone', sender, granter, rows, port, pause, newToken: randomUUID, log: (line) => void log.push(line) }); // biome-ignore format: one line
      desks.push(desk);
      void desk.follow();
      return desk;
    },
    ask: (terms = {}, why = 'to see') => code(E(agent.bootstrap).request({ asks: 'notes', terms, why }) as never),
    async write(text, petname = 'gated') {
      const held = (await E(agent.bootstrap).caps()) as readonly string[];
      if (!held.includes(petname)) await E(owner).grant(session.id, petname, petname === 'safe' ? 'safe' : 'notes', { gated: ['write'], ...(petname === 'alone' ? { personOnly: true as const } : {}) }); // biome-ignore format: one line
      return await code(E(E(agent.bootstrap).cap<FsCap>(petname) as unknown as Far<FsCap>).write('a.txt', text));
    },
    file: () => readFileSync(join(folder, 'root/a.txt'), 'utf8'),
  };
}
