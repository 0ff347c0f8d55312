/** Dialling a host: who answers, who refuses, nobody there. */
import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { type Connection, captp, connect, driver, E, fromWebSocket } from '../index.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const portOf = (server: { address(): unknown }): number => (server.address() as AddressInfo).port;
const closing = (server: Server): void =>
  void closers.push(
    () =>
      new Promise<void>((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  );

interface Greeter {
  greet(name: string): string;
}

/** How often the secret `soon` is still told 503. */
let knocks = 0;
const refusal = (bearer: string | undefined): number =>
  bearer === 'Bearer soon' ? 503 : bearer === 'Bearer crowd' ? 429 : bearer === 'Bearer odd' ? 418 : 401;

async function host(greeting: string): Promise<string> {
  const server = createServer();
  const sockets = new WebSocketServer({ noServer: true, handleProtocols: () => 'hob.1' });
  server.on('upgrade', (request, stream, head) => {
    if (request.headers.authorization === 'Bearer soon' && knocks > 0) knocks -= 1;
    else if (request.headers.authorization === 'Bearer soon') request.headers.authorization = 'Bearer the-right-one';
    if (request.headers.authorization !== 'Bearer the-right-one')
      return void stream.end(`HTTP/1.1 ${refusal(request.headers.authorization)} No\r\n\r\n`, () => stream.destroy());
    sockets.handleUpgrade(request, stream, head, (socket) => {
      const bootstrap = driver<Greeter>({ greet: ([name]) => `${greeting} ${name}` });
      open.push(captp(fromWebSocket(socket), { bootstrap }));
    });
  });
  const open: Connection[] = [];
  closing(server);
  closers.push(async () => {
    for (const connection of open) {
      connection.close();
      await connection.closed;
    }
    sockets.close();
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  return `ws://127.0.0.1:${portOf(server)}`;
}

const code = async (url: string, secret: string): Promise<string> => {
  try {
    const connection = await connect<Greeter>(url, { secret });
    connection.close();
    await connection.closed;
    return 'connected';
  } catch (error) {
    expect((error as Error).message).not.toContain(secret);
    return (error as { code?: string }).code ?? String(error);
  }
};

test('the right secret connects, and calls are answered', async () => {
  const connection = await connect<Greeter>(await host('hello'), { secret: 'the-right-one' });
  expect(await E(connection.bootstrap).greet('you')).toBe('hello you');
  connection.close();
  expect((await connection.closed).code).toBe(1000);
});

test('a wrong secret is denied, and a refusal of another kind too', async () => {
  const url = await host('hello');
  expect(await code(url, 'a-wrong-one')).toBe('denied');
  expect(await code(url, 'odd')).toBe('denied');
  expect(await code(url, 'crowd')).toBe('limit');
});

test('a host that cannot look the secret up is asked again until it can', async () => {
  const url = await host('hello');
  knocks = 3;
  expect(await code(url, 'soon')).toBe('connected');
  expect(knocks).toBe(0);
});

test('a host that fails for all that time is unavailable, which says nothing against the secret', async () => {
  const url = await host('hello');
  knocks = 1000;
  const tried = connect<Greeter>(url, { secret: 'soon', patienceMs: 500 });
  await expect(tried).rejects.toMatchObject({ code: 'unavailable', message: expect.stringMatching(/keep the secret/) });
  expect(knocks).toBeLessThan(999);
  expect(knocks).toBeGreaterThan(900);
});

test('a host that is gone while it is waited for may come back', async () => {
  const server = createServer();
  server.on('upgrade', (_request, stream) => {
    // It says that it cannot, ends, and is started again at the same address.
    stream.end('HTTP/1.1 503 No\r\n\r\n', () => stream.destroy());
    server.close(() => setTimeout(() => void again.listen(port, '127.0.0.1'), 250));
  });
  const again = createServer();
  again.on('upgrade', (_request, stream) => stream.end('HTTP/1.1 401 No\r\n\r\n', () => stream.destroy()));
  closing(again);
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const port = portOf(server);
  expect(await code(`ws://127.0.0.1:${port}`, 'soon')).toBe('denied');
});

test('no listener, or one that does not speak HTTP, gives disconnected', async () => {
  const server = createTcpServer(
    (socket) =>
      void socket
        .on('error', () => {})
        .resume()
        .end('junk\r\n\r\n'),
  );
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const port = portOf(server);
  expect(await code(`ws://127.0.0.1:${port}`, 'the-right-one')).toBe('disconnected');
  await new Promise<void>((done) => server.close(() => done()));
  expect(await code(`ws://127.0.0.1:${port}`, 'the-right-one')).toBe('disconnected');
});

test('an address that is none and a secret that no header can carry are invalid, and neither is repeated', async () => {
  for (const url of ['', 'nonsense', 'ftp://127.0.0.1:1', 'ws://127.0.0.1:99999'])
    expect(await code(url, 'the-secret')).toBe('invalid');
  expect(await code('ws://127.0.0.1:1', 'a\r\nX-Injected: 1')).toBe('invalid');
  expect(await code('ws://127.0.0.1:1', 'sécret\u2028')).toBe('invalid');
});

test('a host that goes away breaks what waits', async () => {
  const server = createServer();
  const sockets = new WebSocketServer({ server });
  closing(server);
  sockets.on('connection', (socket) => socket.on('message', () => socket.terminate()));
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const connection = await connect<Greeter>(`ws://127.0.0.1:${portOf(server)}`, { secret: 'the-right-one' });
  await expect(E(connection.bootstrap).greet('you')).rejects.toMatchObject({ code: 'disconnected' });
  expect((await connection.closed).code).toBe(1006);
  sockets.close();
});
