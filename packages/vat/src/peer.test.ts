/** `@hob/vat/peer` runs in a browser. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect, types as nodeTypes } from 'node:util';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { bundle, page } from '../test/browser.ts';
import { fromBase64, portableBase64, portableKinds, toBase64, toHex } from './core/drivers/platform.ts';
import { CapError, captp, type Dialect, driver, E, type Far, fromWebSocket } from './index.ts';

interface Page {
  shout(text: string): string;
}
interface Server {
  echo(value: unknown): unknown;
  /** Calls an object of the page. */
  ask(shouter: Far<Page>, text: string): Promise<string>;
  fail(): never;
}

/** A server that offers `Server` in a dialect; the address of its socket. */
async function serve(dialect: Dialect): Promise<string> {
  const server = createServer();
  const sockets = new WebSocketServer({ server, handleProtocols: () => dialect });
  sockets.on('connection', (socket) => {
    const bootstrap = driver<Server>({
      echo: ([value]) => value,
      ask: async ([shouter, text]) => await E(shouter).shout(text),
      fail: () => {
        throw new CapError('denied', 'ask for a larger grant');
      },
    });
    captp(fromWebSocket(socket), { dialect, bootstrap });
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  onTestFinished(async () => {
    for (const socket of sockets.clients) socket.terminate();
    sockets.close();
    await new Promise((done) => server.close(done));
  });
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const VISIT = `async (url, dialect) => {
  const { captp, CapError, driver, E, fromBrowserSocket, isReference } = peer;
  const { bootstrap, closed, close } = captp(fromBrowserSocket(new WebSocket(url, [dialect])), { dialect });
  const shouter = driver({ shout: ([text]) => text.toUpperCase() });
  const text = await E(bootstrap).echo('ö'.repeat(2000));
  const bytes = await E(bootstrap).echo(Uint8Array.from({ length: 20000 }, (_, i) => i % 256));
  const seen = {
    text: text.length,
    bytes: bytes.length + ' ' + bytes.every((byte, i) => byte === i % 256),
    record: JSON.stringify(await E(bootstrap).echo({ deep: [{ n: 1 }, null, true] })),
    asked: await E(bootstrap).ask(shouter, 'from the page'),
    reference: isReference(bootstrap),
    refused: await E(bootstrap).fail().then(() => 'not refused', (error) => error instanceof CapError && error.code + ': ' + error.message),
  };
  close();
  await closed;
  return JSON.stringify(seen);
}`;

test('a page with nothing of Node talks to a server in hob.1: values, bytes, errors, its own objects', async () => {
  const { run } = page();
  run(await bundle(join(import.meta.dirname, 'peer.ts'), 'peer'));
  expect(run('typeof process + typeof Buffer + typeof require + typeof setImmediate')).toBe('undefined'.repeat(4));
  const visit = run(`(${VISIT})`) as (url: string, dialect: string) => Promise<string>;
  const seen = JSON.parse(await visit(await serve('hob.1'), 'hob.1')) as Record<string, unknown>;
  expect(seen).toEqual({
    text: 2000,
    bytes: '20000 true',
    record: '{"deep":[{"n":1},null,true]}',
    asked: 'FROM THE PAGE',
    reference: true,
    refused: 'denied: ask for a larger grant',
  });
});

test('a page cannot speak the dialect of Endo: it is told so, and what to take instead', async () => {
  const { run } = page();
  run(await bundle(join(import.meta.dirname, 'peer.ts'), 'peer'));
  const visit = run(`(${VISIT})`) as (url: string, dialect: string) => Promise<string>;
  await expect(visit(await serve('captp'), 'captp')).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('@hob/vat/wire') as string,
  });
});

test('an import of Node anywhere below a face is found', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hob-peer-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(
    join(folder, 'inner.ts'),
    "import { types } from 'node:util';\nexport const is: unknown = types.isProxy;\n",
  );
  writeFileSync(join(folder, 'face.ts'), "export { is } from './inner.ts';\n");
  await expect(bundle(join(folder, 'face.ts'), 'face')).rejects.toThrow(/node:util/);
  writeFileSync(join(folder, 'inner.ts'), "export const is: unknown = async () => await import('node:fs');\n");
  await expect(bundle(join(folder, 'face.ts'), 'face')).rejects.toThrow(/node:fs/);
  // The other faces need Node. If they did not, this test would prove nothing of the peer.
  await expect(bundle(join(import.meta.dirname, 'wire.ts'), 'wire')).rejects.toThrow(/node:/);
});

test('what a browser has instead of Node agrees with Node', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 20_000 }), (bytes) => {
      const text = toBase64(bytes);
      expect(portableBase64.to(bytes)).toBe(text);
      for (const form of [text, text.replaceAll('=', ''), text.replaceAll('+', '-').replaceAll('/', '_')])
        expect([...portableBase64.from(form)]).toEqual([...fromBase64(form)]);
      expect(toHex(bytes)).toBe(Buffer.from(bytes).toString('hex'));
    }),
  );
  fc.assert(
    fc.property(fc.stringMatching(/^[\w+/]{0,40}$/), (text) => {
      expect([...portableBase64.from(text)]).toEqual([...fromBase64(text)]);
    }),
  );
  const other = runInNewContext('[new Uint8Array(2), new ArrayBuffer(2)]') as unknown[];
  const liar = { [Symbol.toStringTag]: 'Uint8Array', byteLength: 4, constructor: Uint8Array };
  const values = [
    ...[undefined, null, 0, '', 'x', 1n, true, {}, [], () => {}, liar, Object.create(Uint8Array.prototype)],
    ...[
      new Uint8Array(1),
      Buffer.alloc(1),
      new Uint16Array(1),
      new ArrayBuffer(1),
      new SharedArrayBuffer(1),
      new DataView(new ArrayBuffer(1)),
    ],
    ...[new Error('e'), new TypeError('t'), new CapError('denied', 'd'), Promise.resolve(), new Map(), ...other],
  ];
  for (const kind of ['isUint8Array', 'isArrayBuffer', 'isNativeError', 'isPromise'] as const)
    for (const value of values)
      expect(portableKinds[kind](value), `${kind} of ${inspect(value)}`).toBe(nodeTypes[kind](value));
});
