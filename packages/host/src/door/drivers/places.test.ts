/** A host on a Unix socket and behind TLS: who gets in, and what stays shut. */
import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, connect as dial, type Socket } from 'node:net';
import { join } from 'node:path';
import { type CapError, connect, E } from '@hob/vat';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { certificate } from '../../../../../test/certificate.ts';
import { requires } from '../../../../../test/needs.ts';
import { type TestHost, testHost } from '../../../test/test-host.ts';
import type { SessionFace } from '../../index.ts';

let home: TestHost;
let path: string;
beforeEach(async () => {
  home = await testHost();
  path = join(home.folder, 'socket');
});
afterEach(() => home.close());

const code = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'ok',
    (error: CapError) => `${error.code}: ${error.message}`,
  );
async function enters(url: string, options: { ca?: string } = {}): Promise<unknown> {
  const connection = await connect<SessionFace>(url, { secret: home.session.secret, ...options });
  try {
    return await E(connection.bootstrap).caps();
  } finally {
    connection.close();
    await connection.closed;
  }
}
/** The status of an upgrade with these headers, or the code of the error. */
const upgrade = (url: string, headers: Record<string, string>, ca?: string): Promise<unknown> =>
  new Promise((resolve) => {
    const authorization = `Bearer ${home.session.secret}`;
    const socket = new WebSocket(url, ['hob.1'], { headers: { authorization, ...headers }, ...(ca && { ca }) });
    socket.once('unexpected-response', (request, response) => {
      resolve(response.statusCode);
      request.destroy();
    });
    socket.once('open', () => {
      socket.terminate();
      resolve('open');
    });
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code));
  });

test('a session enters by a Unix socket that only its user may use, and the file goes with the door', async () => {
  const door = await home.host.serve({ path });
  expect(door.url).toBe(`ws+unix:${path}:/`);
  expect(lstatSync(path).mode & 0o777).toBe(0o600);
  expect(await enters(door.url)).toEqual(await enters(home.url));
  expect(await code(connect(door.url, { secret: 'hob1_wrong' }))).toMatch(/^denied: /);
  expect(await upgrade(door.url, { origin: 'http://localhost' })).toBe(403);
  expect(await upgrade(door.url, { host: 'evil.example' })).toBe(403);
  await door.close();
  expect(existsSync(path)).toBe(false);
});

requires('unprivileged', 'root')('another user of the machine cannot connect to the socket', async () => {
  await home.host.serve({ path });
  chmodSync(home.folder, 0o755);
  const tried = `require('node:net').connect(${JSON.stringify(path)}).on('error', (e) => console.log(e.code)).on('connect', () => process.exit(console.log('in')))`;
  const as = (uid: number): string =>
    spawnSync(process.execPath, ['-e', tried], { uid, gid: uid, encoding: 'utf8' }).stdout;
  expect([as(54_321), as(0)]).toEqual(['EACCES\n', 'in\n']);
});

test('a socket that a killed host left behind is replaced; one in use, and any other file, stays', async () => {
  const left = spawn(process.execPath, [
    '-e',
    `require('node:net').createServer().listen(${JSON.stringify(path)}, () => console.log('up'))`,
  ]);
  await new Promise((resolve) => left.stdout.once('data', resolve));
  expect(await code(home.host.serve({ path }))).toMatch(/^unavailable: a process listens on this socket/);
  left.kill('SIGKILL');
  await new Promise((resolve) => left.once('close', resolve));
  expect(lstatSync(path).isSocket()).toBe(true);
  const door = await home.host.serve({ path });
  expect(await code(enters(door.url))).toBe('ok');
  const file = join(home.folder, 'file');
  writeFileSync(file, 'mine');
  expect(await code(home.host.serve({ path: file }))).toMatch(/^unavailable: there is another file/);
  expect(readFileSync(file, 'utf8')).toBe('mine');
  expect(await code(home.host.serve({ path: join(home.folder, 'nosuch', 'socket') }))).toMatch(/^unavailable: /);
});

test('with TLS a session enters that trusts the certificate, and by a name of the host only', async () => {
  const tls = certificate();
  const door = await home.host.serve({ host: '127.0.0.1', tls, names: ['localhost'] });
  const { port } = new URL(door.url);
  expect(door.url).toBe(`wss://localhost:${port}`);
  expect(await enters(door.url, { ca: tls.cert })).toEqual(await enters(home.url));
  expect(await enters(`wss://127.0.0.1:${port}`, { ca: tls.cert })).toEqual(await enters(home.url));
  expect(await code(enters(door.url))).toMatch(/^disconnected: /);
  expect(await code(enters(door.url, { ca: certificate().cert }))).toMatch(/^disconnected: /);
  expect(await code(enters(`ws://127.0.0.1:${port}`))).toMatch(/^disconnected: /);
  for (const headers of [
    { host: 'evil.example' },
    { origin: `http://localhost:${port}` },
    { origin: 'https://evil.example' },
  ])
    expect([headers, await upgrade(door.url, headers as Record<string, string>, tls.cert)]).toEqual([headers, 403]);
  expect(await upgrade(door.url, { origin: `https://localhost:${port}` }, tls.cert)).toBe('open');
});

test('a certificate and key that are none, or not of each other, are refused without a word of them', async () => {
  const [one, other] = [certificate(), certificate()];
  for (const tls of [
    { cert: 'SECRET', key: 'SECRET' },
    { cert: one.cert, key: other.key },
    { cert: one.key, key: one.cert },
  ]) {
    const said = await code(home.host.serve({ host: '127.0.0.1', tls }));
    expect(said).toMatch(/^invalid: the certificate or the key/);
    expect(said).not.toMatch(/SECRET|BEGIN|\//);
  }
});

test('an address that this machine does not have, or a port that is taken, is told', async () => {
  const tls = certificate();
  expect(await code(home.host.serve({ host: '192.0.2.1', tls }))).toMatch(
    /^unavailable: .*check that this machine has it/,
  );
  const taken = createServer();
  onTestFinished(() => void taken.close());
  const port = await new Promise<number>((resolve) =>
    taken.listen(0, '127.0.0.1', () => resolve((taken.address() as { port: number }).port)),
  );
  expect(await code(home.host.serve({ host: '127.0.0.1', port, tls }))).toMatch(/^unavailable: port \d+ is taken/);
});

test('strangers who never finish the TLS handshake hold few sockets, and keep nobody out', async () => {
  const tls = certificate();
  const door = await home.host.serve({ host: '127.0.0.1', tls, names: ['localhost'] });
  const port = Number(new URL(door.url).port);
  const strangers: Socket[] = [];
  onTestFinished(() => {
    for (const stranger of strangers) stranger.destroy();
  });
  const knocks = (): Promise<void> =>
    new Promise((resolve) => {
      const stranger = dial(port, '127.0.0.1');
      strangers.push(stranger);
      // Every second one sends the beginning of a record. One that was closed at once has been there too.
      const half = strangers.length % 2 === 0;
      stranger.once('connect', () => half && stranger.write(Buffer.from([22, 3, 1, 2, 0])));
      stranger.once('connect', () => resolve());
      stranger.on('error', () => resolve());
    });
  while (!strangers[0]?.destroyed && strangers.length < 2000) {
    for (let n = 0; n < 16; n += 1) await knocks();
    for (let n = 0; n < 4; n += 1) await new Promise((resolve) => setImmediate(resolve));
  }
  // The first is closed for a newer one, long before the time limit of its handshake.
  expect(strangers.length).toBeLessThanOrEqual(256 + 128);
  expect(await enters(door.url, { ca: tls.cert })).toEqual(await enters(home.url));
});

test('a stranger in the TLS handshake does not delay the end of a door', async () => {
  const closed: string[] = [];
  const stranger = async (name: string): Promise<() => Promise<void>> => {
    const door = await home.host.serve({ host: '127.0.0.1', tls: certificate() });
    const socket = dial(Number(new URL(door.url).port), '127.0.0.1').on('error', () => {});
    onTestFinished(() => void socket.destroy());
    socket.on('close', () => closed.push(name));
    // The beginning of a record.
    await new Promise<void>((resolve) => socket.write(Buffer.from([22, 3, 1, 2, 0]), () => resolve()));
    return () => door.close();
  };
  // The time limit of the earlier one ends first. On a slow machine that may be before the door is told to close.
  for (let tries = 0; closed[0] !== 'later' && tries < 3; tries += 1) {
    closed.length = 0;
    await stranger('earlier');
    const close = await stranger('later');
    await enters(home.url);
    await close();
    await expect.poll(() => closed, { timeout: 30_000 }).toContain('later');
  }
  expect(closed[0]).toBe('later');
});

test.for([
  ['everybody may write', 0o777, 0o755],
  ['a group may write', 0o770, 0o755],
  ['everybody may write the one above', 0o755, 0o777],
] as const)(
  'no socket is made where others could replace it, for clients send secrets there: %s',
  async ([, mode, above]) => {
    const outer = join(home.folder, 'outer');
    const inner = join(outer, 'inner');
    mkdirSync(inner, { recursive: true });
    // As the group of other users. Who is not root can give a file to its own groups only.
    if (process.getuid?.() === 0) chownSync(inner, 0, 54_321);
    chmodSync(outer, above);
    chmodSync(inner, mode);
    const where = above === 0o777 ? 'the folder one level above the folder of the socket' : 'the folder of the socket';
    const because = (which: string): string =>
      `unavailable: other users may replace the socket, because ${which} is writable for them: chmod go-w it, or choose another folder`;
    const refused = because(where);
    const expected = mode === 0o770 && process.getuid?.() !== 0 ? 'ok' : refused;
    const served = code(home.host.serve({ path: join(inner, 'socket') }));
    expect(await served).toBe(expected);
    // By a link, too.
    const link = join(home.folder, 'link');
    symlinkSync(inner, link);
    expect(await code(home.host.serve({ path: join(link, 'other') }))).toBe(expected);
    // In a sticky folder nobody replaces the socket of a host that runs. When the host has ended, everybody could make
    // one of that name.
    chmodSync(outer, 0o1777);
    chmodSync(inner, 0o1777);
    expect(await code(home.host.serve({ path: join(inner, 'third') }))).toBe(because('the folder of the socket'));
    chmodSync(inner, 0o755);
    expect(await code(home.host.serve({ path: join(inner, 'third') }))).toBe('ok');
  },
);

requires('root', 'unprivileged')('no socket is made in a folder of another user', async () => {
  const theirs = join(home.folder, 'theirs');
  mkdirSync(theirs, { mode: 0o755 });
  chownSync(theirs, 54_321, 54_321);
  expect(await code(home.host.serve({ path: join(theirs, 'socket') }))).toMatch(
    /^unavailable: other users may replace the socket, because the folder of the socket belongs to another user: chown it/,
  );
});

test('a link at the path of the socket is not followed, and an error names no path', async () => {
  const target = join(home.folder, 'target');
  symlinkSync(target, path);
  expect(await code(home.host.serve({ path }))).toMatch(/^unavailable: there is another file/);
  expect(existsSync(target)).toBe(false);
  const file = join(home.folder, 'file');
  writeFileSync(file, '');
  for (const wrong of [join(file, 'socket'), join(home.folder, 'x'.repeat(10), 'socket')]) {
    const said = await code(home.host.serve({ path: wrong }));
    expect(said).toMatch(/^unavailable: the socket cannot be made/);
    expect(said).not.toContain(home.folder);
  }
});

test('two hosts that start at once on the socket of a killed host do not take it from each other', async () => {
  const served: string[] = [];
  for (let turns = 0; turns < 10; turns += 1) {
    const left = createServer();
    await new Promise<void>((resolve) => left.listen(join(home.folder, 'before'), () => resolve()));
    linkSync(join(home.folder, 'before'), path);
    await new Promise((resolve) => left.close(resolve));
    const doors = await Promise.allSettled(Array.from({ length: 3 }, () => home.host.serve({ path })));
    served.push(
      doors
        .map(({ status }) => status === 'fulfilled')
        .sort()
        .join(),
    );
    expect(await code(enters(`ws+unix:${path}:/`))).toBe('ok');
    for (const door of doors) if (door.status === 'fulfilled') await door.value.close();
    expect(existsSync(path)).toBe(false);
  }
  expect(served).toEqual(served.map(() => 'false,false,true'));
});

test('a host that closes does not remove the socket that another host has put at its path', async () => {
  const first = await home.host.serve({ path });
  rmSync(path);
  const second = await home.host.serve({ path });
  await first.close();
  expect(await code(enters(second.url))).toBe('ok');
  await second.close();
  expect(readdirSync(home.folder).filter((name) => name.startsWith('socket'))).toEqual([]);
});
