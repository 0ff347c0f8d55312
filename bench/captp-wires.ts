/**
 * The four wires that `captp.ts` compares: the serving end and the calling end of each, over the same `ws`.
 *
 * Promise: all wires serve the same object and get the same calls, in the way that their makers show. All
 * sockets are set up alike (loopback, no compression, TCP_NODELAY). A client gives back what it no longer
 * needs in the way of its wire.
 */
import { makeCapTP } from '@endo/captp';
import { E as endoE, Far as endoFar } from '@endo/far';
import {
  type ByteSource,
  captp,
  type Definition,
  type Dialect,
  define,
  driver,
  E,
  type Far,
  fromWebSocket,
  handOver,
  iterate,
  openVats,
  spawn,
} from '@hob/vat';
import type { Connected } from '@hob/vat/wire';
import { newWebSocketRpcSession, type RpcStub, RpcTarget } from 'capnweb';
import { WebSocket, WebSocketServer } from 'ws';

/** The calls that each wire gets. */
export interface Client {
  /** One call with a short text, which comes back. */
  ping(): Promise<unknown>;
  /** A new object and a call of it, in one round trip. */
  hop(): Promise<unknown>;
  /** There and back. */
  echo(value: unknown): Promise<unknown>;
  /** So many bytes by a stream; answers how many came. */
  bytes(total: number): Promise<number>;
  close(): void;
}

export interface Wire {
  serve(socket: WebSocket): void;
  open(socket: WebSocket): Promise<Client>;
}

export const wireNames = ['hob.1', 'captp', 'capnweb', 'endo', 'bare'] as const;
export type WireName = (typeof wireNames)[number];

/** As much as `FsCap` gives of a file at a time. */
export const chunkBytes: number = 1 << 20;

const short = 'hello';
const unmeasured = (): never => {
  throw new Error('not measured on this wire');
};

// ---- ours

interface Counter {
  next(): number;
}
const Counter: Definition<Counter, [count: number]> = define('Counter', (bcom, count) => ({
  next: () => bcom(Counter(count + 1), count + 1),
}));

interface Service {
  ping(text: string): string;
  counter(): Counter;
  echo(value: unknown): unknown;
  stream(total: number): ByteSource;
}
const Service: Definition<Service, [source: (total: number) => Far<ByteSource>]> = define(
  'Service',
  (_bcom, source) => ({
    ping: (text) => text,
    counter: () => spawn(Counter(0)),
    echo: (value) => value,
    stream: (total) => E(source as unknown as Far<{ open(total: number): ByteSource }>).open(total) as never,
  }),
);

/** Zeros, in fresh memory each time, which is given away: as from a file. */
function zeros(total: number): Far<ByteSource> {
  let left = total;
  return driver<ByteSource>({
    next: () => {
      const length = Math.min(left, chunkBytes);
      left -= length;
      return Promise.resolve(length === 0 ? undefined : handOver(new Uint8Array(length)));
    },
    return: () => Promise.resolve(),
  });
}

const vats = await openVats();
const service = await vats
  .vat('bench')
  .spawn(Service(driver<{ open(total: number): Far<ByteSource> }>({ open: ([total]) => zeros(total) }) as never));

const ours = (dialect: Dialect): Wire => ({
  serve: (socket) => void captp(fromWebSocket(socket), { dialect, bootstrap: service }),
  open: (socket) => {
    const peer: Connected<Service> = captp<Service>(fromWebSocket(socket), { dialect });
    const { bootstrap } = peer;
    return Promise.resolve({
      ping: () => E(bootstrap).ping(short),
      hop: () => E(E(bootstrap).counter()).next(),
      echo: (value) => E(bootstrap).echo(value),
      async bytes(total) {
        let got = 0;
        const source = (await E(bootstrap).stream(total)) as unknown as Far<ByteSource>;
        for await (const chunk of iterate(source, { max: chunkBytes, ahead: 4 })) got += chunk.length;
        return got;
      },
      close: () => peer.close(),
    });
  },
});

// ---- capnweb

class CapnCounter extends RpcTarget {
  #count = 0;
  next(): number {
    this.#count += 1;
    return this.#count;
  }
}
class CapnService extends RpcTarget {
  ping(text: string): string {
    return text;
  }
  counter(): CapnCounter {
    return new CapnCounter();
  }
  echo(value: unknown): unknown {
    return value;
  }
  stream(total: number): ReadableStream<Uint8Array> {
    let left = total;
    return new ReadableStream({
      pull(controller) {
        const length = Math.min(left, chunkBytes);
        left -= length;
        if (length === 0) controller.close();
        else controller.enqueue(new Uint8Array(length));
      },
    });
  }
}

/** The part of its types that this needs: the whole of them does not know sockets of `ws`. */
type CapnStub = RpcStub<CapnService> & { echo(value: unknown): Promise<unknown> };

const capnweb: Wire = {
  serve: (socket) => void newWebSocketRpcSession(socket as never, new CapnService()),
  open: (socket) => {
    const stub = newWebSocketRpcSession<CapnService>(socket as never) as unknown as CapnStub;
    return Promise.resolve({
      ping: async () => await stub.ping(short),
      async hop() {
        using counter = stub.counter();
        return await counter.next();
      },
      echo: async (value) => await stub.echo(value),
      async bytes(total) {
        let got = 0;
        const stream = (await stub.stream(total)) as unknown as ReadableStream<Uint8Array>;
        for await (const chunk of stream) got += chunk.length;
        return got;
      },
      close: () => stub[Symbol.dispose](),
    });
  },
};

// ---- @endo/captp

type Asked = Record<string, (...args: unknown[]) => Promise<unknown>>;
const ask = (of: unknown): Asked => endoE(of as never) as unknown as Asked;

const endoService = (): object =>
  endoFar('Service', {
    ping: (text: string) => text,
    counter() {
      let count = 0;
      return endoFar('Counter', {
        next() {
          count += 1;
          return count;
        },
      });
    },
    echo: (value: unknown) => value,
  });

/** JSON text frames, as its own examples have it. */
function endoEnd(socket: WebSocket, bootstrap?: object) {
  const { dispatch, getBootstrap, abort } = makeCapTP(
    'bench',
    (message) => void (socket.readyState === WebSocket.OPEN && socket.send(JSON.stringify(message))),
    bootstrap,
    { onReject: () => {} },
  );
  socket.on('message', (data: Buffer) => void dispatch(JSON.parse(data.toString('utf8'))));
  socket.on('close', () => abort('closed'));
  return { bootstrap: getBootstrap };
}

const endo: Wire = {
  serve: (socket) => void endoEnd(socket, endoService()),
  open: async (socket) => {
    const peer = await endoEnd(socket).bootstrap();
    return {
      ping: () => (ask(peer)['ping'] as Asked[string])(short),
      hop: () => (ask((ask(peer)['counter'] as Asked[string])())['next'] as Asked[string])(),
      echo: (value) => (ask(peer)['echo'] as Asked[string])(deepFrozen(value)),
      // It carries no bytes.
      bytes: unmeasured,
      close: () => socket.close(),
    };
  },
};

/** It takes only what is hardened; whoever uses it does that for each value. */
function deepFrozen(value: unknown): unknown {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    for (const item of Object.values(value)) deepFrozen(item);
    Object.freeze(value);
  }
  return value;
}

// ---- bare ws and JSON

interface Question {
  readonly id: number;
  readonly method: 'ping' | 'echo' | 'bytes';
  readonly value: unknown;
}

const bare: Wire = {
  serve: (socket) =>
    void socket.on('message', (data: Buffer) => {
      const { id, method, value } = JSON.parse(data.toString('utf8')) as Question;
      if (method === 'bytes') push(socket, value as number);
      else socket.send(JSON.stringify({ id, value }));
    }),
  open: (socket) => {
    const waiting = new Map<number, (value: unknown) => void>();
    let last = 0;
    let got = 0;
    const call = (method: Question['method'], value: unknown): Promise<unknown> => {
      last += 1;
      const id = last;
      socket.send(JSON.stringify({ id, method, value } satisfies Question));
      return new Promise((resolve) => void waiting.set(id, resolve));
    };
    socket.on('message', (data: Buffer, binary: boolean) => {
      if (binary) {
        got += data.length;
        if (data.length === 0) settle(0, got);
        return;
      }
      const { id, value } = JSON.parse(data.toString('utf8')) as { id: number; value: unknown };
      settle(id, value);
    });
    const settle = (id: number, value: unknown): void => {
      waiting.get(id)?.(value);
      waiting.delete(id);
    };
    return Promise.resolve({
      ping: () => call('ping', short),
      hop: unmeasured,
      echo: (value) => call('echo', value),
      async bytes(total) {
        got = 0;
        const all = new Promise<unknown>((resolve) => void waiting.set(0, resolve));
        socket.send(JSON.stringify({ id: 0, method: 'bytes', value: total } satisfies Question));
        return (await all) as number;
      },
      close: () => socket.close(),
    });
  },
};

/** All of it as fast as the socket takes it, without being asked for each part. */
function push(socket: WebSocket, total: number): void {
  let left = total;
  const next = (): void => {
    const length = Math.min(left, chunkBytes);
    left -= length;
    socket.send(new Uint8Array(length), () => void (length > 0 && next()));
  };
  next();
}

export const wires: Readonly<Record<WireName, Wire>> = {
  'hob.1': ours('hob.1'),
  captp: ours('captp'),
  capnweb,
  endo,
  bare,
};

/** A port of the system's choice that serves `wire`; to be closed by the end of the process. */
export function listen(wire: Wire): Promise<number> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false, maxPayload: 64 << 20 });
  server.on('connection', (socket) => wire.serve(socket));
  return new Promise((resolve) =>
    server.once('listening', () => resolve((server.address() as { readonly port: number }).port)),
  );
}

export function dial(name: WireName, port: number): Promise<Client> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}`, { perMessageDeflate: false, maxPayload: 64 << 20 });
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.once('open', () => resolve(wires[name].open(socket)));
  });
}
