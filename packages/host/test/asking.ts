/**
 * A house with a directory to ask for, an agent at the far end of a real wire, and a granter over the wire
 * too.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type FsCap, openFsCap } from '@hob/caps-fs';
import { connect, E, type Far } from '@hob/vat';
import type { Connected } from '@hob/vat/wire';
import { onTestFinished } from 'vitest';
import type { Granter, HostOptions, NewSession, Request, RequestAnswer, SessionFace } from '../src/index.ts';
import { type TestHost, testHost } from './test-host.ts';

export type Asked = Parameters<SessionFace['request']>[0];

export interface Scene extends TestHost {
  readonly agent: Connected<SessionFace>;
  readonly owner: Far<Granter>;
  file(name: string): string;
  write(name: string, text: string): void;
  request(ask: Partial<Asked>, of?: Connected<SessionFace>): Promise<Far<FsCap>>;
  /** Waits until so many are asked. */
  inbox(count?: number, of?: Far<Granter>): Promise<readonly Request[]>;
  answer(request: Request, act: Omit<RequestAnswer, 'digest'>, of?: Far<Granter>): Promise<void>;
  enterAs<T extends object>(secret: string): Promise<Connected<T>>;
  child(
    name: string,
    caps?: Readonly<Record<string, string>>,
  ): Promise<{ readonly id: string; readonly secret: string }>;
}

/** Marks a promise that is awaited later: it may break before. */
export function later<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}

export async function scene(options: Partial<HostOptions> = {}): Promise<Scene> {
  const home = await testHost(options);
  const root = join(home.folder, 'root');
  mkdirSync(join(root, 'src'), { recursive: true });
  const dir = await openFsCap(root);
  const open: Connected<object>[] = [];
  onTestFinished(async () => {
    for (const connection of open) {
      connection.close();
      await connection.closed;
    }
    await home.close();
    await dir.close();
  });
  await home.host.offer('notes', dir, { reads: ['readText', 'read', 'list', 'stat', 'entries'] });
  const enterAs = async <T extends object>(secret: string): Promise<Connected<T>> => {
    const connection = await connect<T>(home.url, { secret });
    open.push(connection);
    return connection;
  };
  const agent = await enterAs<SessionFace>(home.session.secret);
  const owner = (await enterAs<Granter>(home.granterSecret)).bootstrap;
  const inbox = async (count = 1, of: Far<Granter> = owner): Promise<readonly Request[]> => {
    for (;;) {
      const all = (await E(of).inbox()) as readonly Request[];
      if (all.length === count) return all;
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  return {
    ...home,
    agent,
    owner,
    enterAs,
    inbox,
    file: (name) => readFileSync(join(root, name), 'utf8'),
    write: (name, text) => writeFileSync(join(root, name), text),
    request: (ask, of = agent) =>
      later(
        E(of.bootstrap).request({ asks: 'notes', terms: {}, why: 'to see', ...ask }) as unknown as Promise<Far<FsCap>>,
      ),
    answer: (request, act, of = owner) =>
      E(of).answer(request.id, { ...act, digest: request.digest } as RequestAnswer) as unknown as Promise<void>,
    child: (name, caps = {}) =>
      E(agent.bootstrap).spawnChild({ name, caps }) as unknown as Promise<{ readonly id: string; readonly secret: string }>, // biome-ignore format: one line
  };
}

export type { NewSession };
