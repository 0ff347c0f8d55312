/** Front doors with hosts, and two of them that are connected. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, connect as dialTcp, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, E, type Far } from '@hob/vat';
import type { Connected } from '@hob/vat/wire';
import { onTestFinished } from 'vitest';
import {
  type FrontDoor,
  type FrontOptions,
  type Granter,
  type Host,
  type HttpFaces,
  type HttpPages,
  type NewSession,
  openFrontDoor,
  openHost,
  type ServeOptions,
  type SessionFace,
} from '../src/index.ts';

export interface Named {
  readonly host: Host;
  readonly url: string;
  readonly session: NewSession;
  readonly granter: Far<Granter>;
  close(): Promise<void>;
}

/** The object behind the cap `bell` of each session. */
export interface Bell {
  ring(word?: string): Promise<string>;
}

/** A front door that ends with the test. */
export async function frontDoor(options: FrontOptions = {}, at?: ServeOptions): Promise<FrontDoor> {
  const front = await openFrontDoor(at, options);
  onTestFinished(() => front.close());
  return front;
}

/** A host at a front door. Its session holds `bell`, which says its own name. */
export async function hostAt(
  front: FrontDoor,
  name: string,
  faces?: HttpFaces,
  pages?: HttpPages,
  observe: (error: unknown) => void = () => {},
): Promise<Named> {
  const folder = mkdtempSync(join(tmpdir(), 'hob-front-'));
  const host = await openHost({ stateDir: join(folder), observe: ({ error }) => observe(error) });
  onTestFinished(async () => {
    await host.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const { granter } = await host.addGranter('owner');
  await host.offer('bell', { ring: async (word = 'ding') => `${name} ${word}` });
  const session = await host.openSession({ name: 'work', granters: ['owner'] });
  await E(granter).grant(session.id, 'bell', 'bell', {});
  const door = await host.serve({ front, name }, faces, pages);
  return { host, url: door.url, session, granter, close: () => door.close() };
}

/** A connection to a session, and the cap `bell` that it holds. */
export type Entered = Connected<SessionFace> & { readonly bell: Far<Bell> };

/** Enters, and leaves at the end of the test. */
export async function enter(url: string, secret: string, ca?: string): Promise<Entered> {
  const connection = await connect<SessionFace>(url, { secret, patienceMs: 0, ...(ca && { ca }) });
  onTestFinished(async () => {
    connection.close();
    await connection.closed;
  });
  const bell = E(connection.bootstrap).cap('bell');
  bell.catch(() => {});
  return { ...connection, bell: bell as unknown as Far<Bell> };
}

export interface TwoMachines {
  /** The door that clients come to. It has a host `here`. */
  readonly near: FrontDoor;
  /** Serves `there`. */
  readonly far: FrontDoor;
  /** The address of `there` at the near door. */
  readonly url: string;
  readonly there: Named;
  readonly here: Named;
  /** The sockets between the two, on the side of the far one. */
  readonly links: Set<Socket>;
  readonly asked: string[];
  readonly faults: unknown[];
}

/** Two front doors. The near one relays `there` (and `gone`, which nobody serves) over sockets of TCP. */
export async function twoMachines(
  faces?: HttpFaces,
  pages?: HttpPages,
  at?: ServeOptions,
  farAt?: ServeOptions,
): Promise<TwoMachines> {
  const [asked, faults]: [string[], unknown[]] = [[], []];
  const fault = (error: unknown): void => void faults.push(error);
  const unasked = (name: string): undefined => {
    asked.push(`far ${name}`);
  };
  const far = await frontDoor({ fault, elsewhere: unasked }, farAt);
  const links = new Set<Socket>();
  const between = createServer((socket) => {
    links.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => links.delete(socket));
    far.take(socket);
  });
  await new Promise<void>((open) => void between.listen(0, '127.0.0.1', open));
  onTestFinished(() => new Promise<void>((closed) => void between.close(() => closed())));
  const { port } = between.address() as { readonly port: number };
  const open = (): Promise<Socket> =>
    new Promise((resolve, reject) => {
      const socket = dialTcp(port, '127.0.0.1', () => resolve(socket));
      socket.once('error', reject);
    });
  const elsewhere = (name: string): { open(): Promise<Socket> } | undefined => {
    asked.push(`near ${name}`);
    if (name === 'broken') return { open: () => Promise.reject(new Error('/secret/path of this machine')) };
    return name === 'there' || name === 'gone' ? { open } : undefined;
  };
  const near = await frontDoor({ fault, elsewhere }, at);
  const there = await hostAt(far, 'there', faces, pages, fault);
  const here = await hostAt(near, 'here', faces, pages, fault);
  return { near, far, there, here, links, asked, faults, url: here.url.replace(/here$/, 'there') };
}
