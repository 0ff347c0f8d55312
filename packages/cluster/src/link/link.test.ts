/** The link between machines: who is taken for a machine, and who is not. */
import { once } from 'node:events';
import { type AddressInfo, createServer, connect as dialTcp, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ConnectionOptions, createServer as createTls, connect as dialTls, type TLSSocket } from 'node:tls';
import type { CapError } from '@hob/vat';
import { expect, onTestFinished, test } from 'vitest';
import { certificate } from '../../../../test/certificate.ts';
import { openLink } from './drivers/link.ts';
import { routesOf } from './routes.ts';
import type { Link, LinkOptions } from './types.ts';

const at = { host: '127.0.0.1', port: 0 };
const greeting = 'hob-link 1\n';

interface Listening {
  readonly link: Link;
  readonly address: string;
  /** The streams that it took, with the names of their machines. */
  readonly taken: [stream: Duplex, peer: string | undefined][];
}

/** A link whose streams say back what they hear. */
async function echo(options: Omit<LinkOptions, 'at' | 'take'> & Partial<LinkOptions>): Promise<Listening> {
  const taken: [Duplex, string | undefined][] = [];
  const take: LinkOptions['take'] = (stream, peer) => {
    taken.push([stream, peer]);
    stream.pipe(stream);
  };
  const link = await openLink({ at, take, ...options });
  onTestFinished(() => link.close());
  return { link, address: `127.0.0.1:${link.port}`, taken };
}

const code = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'ok',
    (error: CapError) => `${error.code}: ${error.message}`,
  );

async function says(stream: Duplex, word: string): Promise<string> {
  stream.write(word);
  return String((await once(stream, 'data'))[0]);
}

/** A stranger with a TLS client of its own: all bytes that it gets. Bytes of it are there before it is refused. */
function stranger(port: number, options: ConnectionOptions, words = `${greeting}hello`): Promise<string> {
  return new Promise((resolve) => {
    const socket: TLSSocket = dialTls({ host: '127.0.0.1', port, rejectUnauthorized: false, ...options }, () => {
      socket.write(words);
    });
    let heard = '';
    socket.on('data', (part) => {
      heard += part;
      if (heard.endsWith('hello')) socket.destroy();
    });
    socket.on('error', () => {});
    socket.once('close', () => resolve(heard));
    onTestFinished(() => void socket.destroy());
  });
}

const [a, b, c] = [certificate('a'), certificate('b'), certificate('c')];

test('two machines that have pinned each other are linked, and each knows the other by the name of its pin', async () => {
  const [atA, atB] = [
    await echo({ ...a, peers: { b: b.cert, c: c.cert } }),
    await echo({ ...b, peers: { a: a.cert } }),
  ];
  const stream = await atB.link.dial({ name: 'a', address: atA.address });
  expect(await says(stream, 'hello')).toBe('hello');
  expect(atA.taken.map(([, peer]) => peer)).toEqual(['b']);
  const back = await atA.link.dial({ name: 'b', address: `127.0.0.1:${atB.link.port}` });
  expect(await says(back, 'and back')).toBe('and back');
  const gone = once(stream, 'close');
  await atA.link.close();
  await gone;
  expect(await code(atB.link.dial({ name: 'a', address: atA.address }))).toMatch(/^unavailable: /);
  expect(await code(atA.link.dial({ name: 'b', address: atB.address }))).toMatch(/^unavailable: /);
});

test('a stranger without a certificate, with another one, or with one that a peer has signed, gets no byte', async () => {
  const { link, taken } = await echo({ ...a, peers: { b: b.cert } });
  const other = certificate('b');
  const signed = certificate('forged', { name: 'b', key: b.key });
  for (const shown of [{}, c, other, { key: other.key, cert: `${other.cert}${b.cert}` }, { key: signed.key, cert: `${signed.cert}${b.cert}` }, a]) // biome-ignore format: one line
    expect(await stranger(link.port, shown)).toBe('');
  // The certificate is public. Without its key it is worth nothing.
  expect(() => dialTls({ port: link.port, cert: b.cert, key: c.key })).toThrowError(/key values mismatch/);
  // An older TLS sends the certificate of a client in the clear.
  expect(await stranger(link.port, { ...b, maxVersion: 'TLSv1.2' })).toBe('');
  // The same program with the right key.
  expect(await stranger(link.port, b)).toBe(`${greeting}hello`);
  expect(taken.map(([, peer]) => peer)).toEqual(['b']);
});

test('a machine that shows the certificate of another one is not dialled, nor one that is not pinned', async () => {
  const [atA, atC] = [await echo({ ...a, peers: { b: b.cert } }), await echo({ ...c, peers: { b: b.cert } })];
  const atB = await echo({ ...b, peers: { a: a.cert, c: c.cert } });
  const dial = (name: string, address: string | undefined): Promise<string> => code(atB.link.dial({ name, address }));
  expect(await dial('a', atA.address)).toBe('ok');
  // A known peer in the place of another.
  expect(await dial('c', atA.address)).toMatch(/^unavailable: /);
  expect(await dial('a', atC.address)).toMatch(/^unavailable: /);
  // One that the right machine has signed.
  const signed = certificate('forged', { name: 'a', key: a.key });
  const forged = await echo({ key: signed.key, cert: signed.cert + a.cert, peers: { b: b.cert } });
  expect(await dial('a', forged.address)).toMatch(/^unavailable: /);
  expect(forged.taken).toEqual([]);
  expect(await dial('d', atA.address)).toMatch(/^unavailable: no certificate is pinned/);
  for (const address of [undefined, '', 'x', '127.0.0.1', '127.0.0.1:99999', '127.0.0.1:1:2', '[::1', '/path:1'])
    expect(await dial('a', address)).toMatch(/^unavailable: the address/);
  const said = await dial('a', '127.0.0.1:1');
  expect(said).toMatch(/^unavailable: /);
  expect(said).not.toMatch(/127|ECONN/);
});

test('a pin that is removed ends the streams of its machine, and lets it in no more; others go on', async () => {
  const atA = await echo({ ...a, peers: { b: b.cert, c: c.cert } });
  const [atB, atC] = [await echo({ ...b, peers: { a: a.cert } }), await echo({ ...c, peers: { a: a.cert } })];
  const peer = { name: 'a', address: atA.address };
  const [fromB, fromC] = [await atB.link.dial(peer), await atC.link.dial(peer)];
  let session: Buffer | undefined;
  const early = dialTls({ host: '127.0.0.1', port: atA.link.port, ...b, rejectUnauthorized: false });
  early.on('session', (ticket) => {
    session = ticket;
  });
  early.on('error', () => {});
  onTestFinished(() => void early.destroy());
  early.write(greeting);
  await once(early, 'data');
  expect(session).toBeDefined();
  const again = { ...b, session: session as unknown as Buffer };
  // Nobody shows a certificate in a resumed session, so it is refused also while the pin is there.
  expect(await stranger(atA.link.port, again)).toBe('');
  atA.link.pin({ c: c.cert });
  await once(fromB, 'close');
  expect(await says(fromC, 'still here')).toBe('still here');
  expect(await code(atB.link.dial(peer))).toMatch(/^unavailable: /);
  expect(await stranger(atA.link.port, again)).toBe('');
  atA.link.pin({ b: b.cert, c: c.cert });
  expect(await code(atB.link.dial(peer))).toBe('ok');
  expect(() => atA.link.pin({ b: 'nothing' })).toThrowError(/is not PEM/);
  expect(() => atA.link.pin({ b: b.cert, c: b.cert })).toThrowError(/the same certificate/);
});

test('attack: a machine whose pin is removed while it is dialled gets no byte of a caller', async () => {
  const atB = await echo({ ...b, peers: { a: a.cert } });
  // This machine is silent until its pin is removed.
  const server = createTls({ ...a }, (socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      atB.link.pin({ c: c.cert });
      socket.write(greeting);
    });
  }).listen(at);
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  expect(await code(atB.link.dial({ name: 'a', address: `127.0.0.1:${port}` }))).toMatch(
    /^unavailable: the certificate/,
  );
});

test('400 streams that are opened at once are all opened', async () => {
  const atA = await echo({ ...a, peers: { b: b.cert } });
  const atB = await echo({ ...b, peers: { a: a.cert } });
  const dial = (): Promise<Duplex> => atB.link.dial({ name: 'a', address: atA.address });
  const streams = await Promise.all(Array.from({ length: 400 }, dial));
  expect(new Set(await Promise.all(streams.map((stream) => says(stream, 'hello'))))).toEqual(new Set(['hello']));
});

test('strangers who are slow hold few sockets for a few seconds, and keep no machine out', async () => {
  const atA = await echo({ ...a, peers: { b: b.cert } });
  const atB = await echo({ ...b, peers: { a: a.cert } });
  const sockets: Socket[] = [];
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  while (!sockets[0]?.closed && sockets.length < 1000) {
    const socket = dialTcp(atA.link.port, '127.0.0.1');
    sockets.push(socket.on('error', () => {}).resume());
    await once(socket, 'connect');
    // The beginning of a record.
    if (sockets.length % 2 === 0) socket.write(Buffer.from([22, 3, 1, 2, 0]));
    await new Promise((resolve) => setImmediate(resolve));
  }
  // The first one was closed for the others, and not for its time.
  expect(sockets.length).toBeLessThan(1000);
  const stream = await atB.link.dial({ name: 'a', address: atA.address });
  expect(await says(stream, 'hello')).toBe('hello');
  // One that has a right certificate and says nothing.
  const silent = stranger(atA.link.port, b, '');
  const closed = sockets.map((socket) => (socket.closed ? undefined : once(socket, 'close')));
  await Promise.all(closed);
  expect(await silent).toBe('');
  expect(await says(stream, 'still here')).toBe('still here');
});

test('a program that speaks HTTP to the link, such as a browser, is not taken', async () => {
  const plain = await echo({});
  const secure = await echo({ ...a, peers: { b: b.cert } });
  const http = 'GET /acme HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n';
  const bare = dialTcp(plain.link.port, '127.0.0.1');
  bare.on('error', () => {}).resume();
  bare.write(http);
  await once(bare, 'close');
  expect(bare.bytesRead).toBe(0);
  expect(await stranger(secure.link.port, b, http)).toBe('');
  expect([...plain.taken, ...secure.taken]).toEqual([]);
});

test('without a key the link is on loopback only, to both sides', async () => {
  const [one, other] = [await echo({}), await echo({})];
  const stream = await one.link.dial({ name: 'any', address: other.address });
  expect(await says(stream, 'hello')).toBe('hello');
  expect(other.taken.map(([, peer]) => peer)).toEqual([undefined]);
  for (const address of ['192.0.2.1:1', 'localhost:1', '[::2]:1', '128.0.0.1:1'])
    expect(await code(one.link.dial({ name: 'any', address }))).toMatch(/^unavailable: without a key/);
  const take = (): void => {};
  for (const host of ['0.0.0.0', '::', 'localhost', '192.0.2.1'])
    expect(await code(openLink({ at: { host, port: 0 }, take }))).toMatch(/^invalid: a link outside loopback/);
  // A machine with a key speaks to none without.
  const secure = await echo({ ...a, peers: { b: b.cert } });
  expect(await code(secure.link.dial({ name: 'b', address: one.address }))).toMatch(/^unavailable: /);
  expect(await code(one.link.dial({ name: 'a', address: secure.address }))).toMatch(/^unavailable: /);
  expect(secure.taken).toEqual([]);
});

test('options that are wrong are told, and say nothing of the key', async () => {
  const take = (): void => {};
  for (const options of [
    { key: a.key },
    { cert: a.cert },
    { key: 'SECRET', cert: 'SECRET' },
    { key: b.key, cert: a.cert },
    { ...a, peers: { b: 'SECRET' } },
    { ...a, peer: {} },
  ]) {
    // biome-ignore format: one line
    const said = await code(openLink({ at, take, ...options } as LinkOptions));
    expect(said).toMatch(/^invalid: /);
    expect(said).not.toMatch(/SECRET|BEGIN/);
  }
  const taken = createServer();
  await new Promise<void>((open) => void taken.listen(0, '127.0.0.1', open));
  onTestFinished(() => void taken.close());
  const { port } = taken.address() as { readonly port: number };
  expect(await code(openLink({ at: { host: '127.0.0.1', port }, take }))).toMatch(/^unavailable: /);
});

test('an error behind the link ends its stream, and not the process', async () => {
  const faults: unknown[] = [];
  const broken = new Error('a fault behind the link');
  const take = (): void => {
    throw broken;
  };
  const one = await echo({ take, fault: (error) => faults.push(error) });
  const other = await echo({});
  const stream = await other.link.dial({ name: 'any', address: one.address });
  await once(stream, 'close');
  expect(faults).toEqual([broken]);
});

test('a tenant that is here but not open yet is unavailable, and not unknown', async () => {
  const { link } = await echo({});
  const ways = routesOf({ where: (name) => (name === 'opening' ? 'here' : name === 'away' ? { name: 'a', address: undefined } : undefined) }, link); // biome-ignore format: one line
  expect(ways('nobody')).toBeUndefined();
  expect(await code(ways('opening')!.open())).toMatch(/^unavailable: /);
  expect(await code(ways('away')!.open())).toMatch(/^unavailable: /);
});
