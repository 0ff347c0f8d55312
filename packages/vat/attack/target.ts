/**
 * The victim: a vat that serves a room, over memory or a real WebSocket, and measures what its peers cost it.
 *
 * Promise: what is measured is the victim's own: CPU of this thread while a frame is heard; where the victim
 * is a process of its own (`serve.ts`), also its event loop and its heap.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import {
  type CapTPLimits,
  captp,
  type Dialect,
  type Duplex,
  fromWebSocket,
  memoryPair,
  openVats,
} from '../src/index.ts';
import type { Connected } from '../src/wire.ts';
import { openRoom } from './room.ts';

export interface Terms {
  readonly limits?: CapTPLimits | undefined;
  /** Budgets of the meter that pays. */
  readonly meter?: Readonly<Record<string, number>> | undefined;
}

/** A way in; `socket` where there is one. */
export interface Entrance {
  readonly duplex: Duplex;
  readonly socket?: WebSocket;
}

export interface Target {
  enter(dialect: Dialect, terms?: Terms): Promise<Entrance>;
  /** Where sockets knock. */
  readonly port: number;
  close(): Promise<void>;
}

export interface Victim {
  readonly port: number;
  /** Longest CPU time, ms, that hearing one frame took since it was asked last. */
  longest(): number;
  /** The entries in the tables of closed connections, which should be none. Forgets them. */
  leftovers(): readonly string[];
  readonly open: number;
  close(): Promise<void>;
}

const cpu = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};

/** Serves; `memory` is the way in without a socket. */
export async function openVictim(): Promise<Victim & { memory(dialect: Dialect, terms: Terms): Duplex }> {
  const vats = await openVats();
  const bootstrap = await openRoom(vats);
  const connections = new Set<Connected<object>>();
  const left: string[] = [];
  let longest = 0;
  let meters = 0;

  const measured = (duplex: Duplex): Duplex => ({
    send: (frame) => duplex.send(frame),
    get buffered() {
      return duplex.buffered;
    },
    onFrame: (then) =>
      duplex.onFrame((frame) => {
        const before = cpu();
        then(frame);
        longest = Math.max(longest, cpu() - before);
      }),
    onClose: (then) => duplex.onClose(then),
    close: (code, reason) => duplex.close(code, reason),
  });
  const welcome = (duplex: Duplex, dialect: Dialect, { limits, meter }: Terms): void => {
    meters += 1;
    const connection = captp<object>(measured(duplex), {
      dialect,
      bootstrap,
      meter: vats.meter(`peer-${meters}`, meter ?? {}),
      ...(limits === undefined ? {} : { limits }),
    });
    connections.add(connection);
    void connection.closed.then(() => {
      connections.delete(connection);
      for (const [name, count] of Object.entries(connection.stats()))
        if (count !== 0 && !(name === 'bytes' && duplex.buffered > 0)) left.push(`${name}: ${count}`);
    });
  };

  const server = createServer();
  const sockets = new WebSocketServer({ server, maxPayload: 1 << 20, perMessageDeflate: false });
  sockets.on('connection', (socket, request) => {
    const terms = new URL(request.url ?? '/', 'ws://victim').searchParams.get('terms');
    welcome(fromWebSocket(socket), socket.protocol as Dialect, JSON.parse(terms ?? '{}') as Terms);
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', 4096, ready));
  return {
    port: (server.address() as AddressInfo).port,
    memory: (dialect, terms) => {
      const [a, b] = memoryPair();
      welcome(a, dialect, terms);
      return b;
    },
    longest: () => {
      const was = longest;
      longest = 0;
      return was;
    },
    leftovers: () => left.splice(0),
    get open() {
      return connections.size;
    },
    close: async () => {
      for (const connection of connections) connection.close();
      for (const socket of sockets.clients) socket.terminate();
      sockets.close();
      await new Promise<void>((done) => {
        server.close(() => done());
        server.closeAllConnections();
      });
      await vats.close();
    },
  };
}

/** Knocks at a victim's door. */
export function knock(port: number, dialect: Dialect, terms: Terms = {}): Promise<Required<Entrance>> {
  const address = `ws://127.0.0.1:${port}/?terms=${encodeURIComponent(JSON.stringify(terms))}`;
  const socket = new WebSocket(address, [dialect], { perMessageDeflate: false });
  const duplex = fromWebSocket(socket);
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.once('open', () => resolve({ duplex, socket }));
  });
}
