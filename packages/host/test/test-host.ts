/** A host on scratch folders, and ways to its door. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { connect as dialTcp, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, E, type Far } from '@hob/vat';
import type { Connected } from '@hob/vat/wire';
import {
  type Granter,
  type Host,
  type HostOptions,
  type NewSession,
  openHost,
  type SessionFace,
} from '../src/index.ts';

export interface TestHost {
  readonly folder: string;
  readonly host: Host;
  readonly granter: Far<Granter>;
  readonly granterSecret: string;
  readonly session: NewSession;
  readonly url: string;
  /** Ends when the house does. */
  enter(secret: string): Promise<Connected<SessionFace>>;
  close(): Promise<void>;
}

export const scratch = (): string => mkdtempSync(join(tmpdir(), 'hob-host-'));

/** One granter "owner", one session "work", served; nothing is granted. */
export async function testHost(options: Partial<HostOptions> = {}): Promise<TestHost> {
  const folder = scratch();
  mkdirSync(join(folder, 'state'));
  const host = await openHost({ stateDir: join(folder, 'state'), ...options });
  const { granter, secret: granterSecret } = await host.addGranter('owner');
  const session = await host.openSession({ name: 'work', granters: ['owner'] });
  const { url } = await host.serve();
  const entered: Connected<SessionFace>[] = [];
  return {
    folder,
    host,
    granter,
    granterSecret,
    session,
    url,
    async enter(secret) {
      const connection = await connect<SessionFace>(url, { secret });
      entered.push(connection);
      return connection;
    },
    async close() {
      for (const connection of entered) {
        connection.close();
        await connection.closed;
      }
      await host.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The cap of that name in the session that `connection` entered. */
export const held = <T>(connection: Connected<SessionFace>, petname: string): Far<T> =>
  E(connection.bootstrap).cap(petname) as unknown as Far<T>;

export const code = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'ok',
    (error: { code?: string }) => error.code ?? String(error),
  );

export async function lines(host: Host, kind?: string): Promise<readonly Record<string, unknown>[]> {
  const all: Record<string, unknown>[] = [];
  for await (const line of host.ledger()) all.push(JSON.parse(line));
  return kind === undefined ? all : all.filter(({ k }) => k === kind);
}

/**
 * Bytes on a bare TCP connection: what comes back until the other side closes, or it is `enough`; whoever
 * keeps it open for ever fails the test.
 */
export function shout(url: string, bytes: string, enough?: RegExp): Promise<{ text: string; closed: boolean }> {
  return new Promise((resolve) => {
    // Its own half stays open: only the other side can end this.
    const socket: Socket = dialTcp({ port: Number(new URL(url).port), host: '127.0.0.1', allowHalfOpen: true });
    let text = '';
    let poke: ReturnType<typeof setInterval> | undefined;
    const done = (closed: boolean): void => {
      clearTimeout(timer);
      clearInterval(poke);
      socket.destroy();
      resolve({ text, closed });
    };
    const timer = setTimeout(() => done(false), 45_000);
    socket.setEncoding('latin1');
    socket.on('data', (part: string) => {
      text += part;
      if (enough?.test(text)) done(false);
    });
    socket.on('error', () => done(true));
    socket.on('close', () => done(true));
    // The end of what it says is not yet the end of the connection: who has really let go resets what comes
    // then.
    socket.on('end', () => {
      poke = setInterval(() => socket.write('x'), 10);
    });
    socket.write(bytes, 'latin1');
  });
}
