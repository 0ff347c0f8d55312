/** A confined node: it talks by messages, and that is all it has. */
import { createServer } from 'node:net';
import { expect, onTestFinished } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { builds } from '../test/builds.ts';
import { replaceImageFile } from '../test/replaced-image.ts';
import { code } from '../test/shell.ts';
import { spawnConfined } from './drivers/confined.ts';

const test = requires('linux', 'cc', 'userns');
test.beforeAll(() => {
  builds();
});

interface Channel {
  send(message: unknown): void;
  on(event: 'message', then: (message: unknown) => void): void;
  once(event: 'message' | 'disconnect', then: (message: unknown) => void): void;
  disconnect(): void;
}
const heard = (channel: Channel): Promise<unknown> => new Promise((done) => channel.once('message', done));

test('messages go both ways, and the end of either side ends both', async () => {
  const child = await spawnConfined(['node', '-e', 'process.on("message", (m) => process.send({ echo: m }))']);
  const channel = child.channel as Channel;
  const answer = heard(channel);
  channel.send({ hello: 'world' });
  expect(await answer).toEqual({ echo: { hello: 'world' } });
  // Without its channel nothing keeps it alive.
  channel.disconnect();
  expect(await child.ended).toMatchObject({ ended: 'exit', status: 0 });
});

test('a file of the system image that is replaced meanwhile delays a confined program and does not fail it', async () => {
  const ends = async (): Promise<unknown> => (await spawnConfined(['node', '-e', 'process.exit(4)'])).ended;
  replaceImageFile(2);
  expect(await ends()).toMatchObject({ ended: 'exit', status: 4 });
  replaceImageFile(3);
  expect(await code(ends())).toBe('E_SETUP');
});

test('the end of a program is reported on the channel and by `ended`', async () => {
  const child = await spawnConfined(['node', '-e', 'console.error("last words"); process.exit(3)']);
  await new Promise((done) => (child.channel as Channel).once('disconnect', done));
  expect(await child.ended).toMatchObject({ ended: 'exit', status: 3, stderr: 'last words\n' });
});

test('the program finds nothing of the machine: no home, network, process, environment or descriptor', async () => {
  process.env['HOB_TEST_SECRET'] = 'canary';
  onTestFinished(() => {
    delete process.env['HOB_TEST_SECRET'];
  });
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => new Promise((done) => server.close(() => done())));
  const { port } = server.address() as { port: number };
  const code = `
    const fs = require('node:fs'), net = require('node:net');
    const connected = new Promise((done) => net.connect(${port}, '127.0.0.1', () => done(true)).on('error', (e) => done(e.code)));
    connected.then((network) => process.send({
      root: fs.readdirSync('/').sort(),
      pids: fs.readdirSync('/proc').filter((name) => /^[0-9]/.test(name)).map(Number),
      env: Object.keys(process.env).sort(),
      fds: fs.readdirSync('/proc/self/fd').map((fd) => { try { return fs.readlinkSync('/proc/self/fd/' + fd); } catch { return ''; } }).filter((to) => to.startsWith('/')),
      network,
      written: (() => { try { fs.writeFileSync('/usr/x', ''); return true; } catch (e) { return e.code; } })(),
    }, () => process.disconnect()))`;
  const child = await spawnConfined(['node', '-e', code]);
  const seen = (await heard(child.channel as Channel)) as Record<string, unknown>;
  const { pids, ...rest } = seen as Record<string, unknown> & { pids: number[] };
  expect(pids.length).toBeLessThanOrEqual(2);
  expect(rest).toMatchObject({ network: 'ECONNREFUSED', written: 'EROFS' });
  expect(new Set(rest['fds'] as string[])).toEqual(new Set(['/dev/null']));
  expect(rest['env']).toEqual(['HOME', 'LANG', 'PATH', 'TMPDIR']);
  for (const name of ['home', 'root', 'var', 'run', 'sys', 'srv', 'boot']) expect(rest['root']).not.toContain(name);
  await child.ended;
});

test('kill returns when nothing of it is left, and time is limited', async () => {
  const child = await spawnConfined(['node', '-e', 'setInterval(() => {}, 1000)']);
  await child.kill();
  expect(await child.ended).toMatchObject({ ended: 'revoked', status: 137 });
  const slow = await spawnConfined(['node', '-e', 'for (;;);'], { limits: { wallMs: 300 } });
  expect(await slow.ended).toMatchObject({ ended: 'timeout' });
});

test('a heap that grows without end ends the program and not the host', async () => {
  const eat = 'const all = []; process.send("up", () => { for (;;) all.push(Buffer.alloc(1 << 20, 1)); })';
  const child = await spawnConfined(['node', '-e', eat], { limits: { memoryBytes: 256 << 20 } });
  expect(await heard(child.channel as Channel)).toBe('up');
  expect(await child.ended).toMatchObject({ ended: 'limit', status: 137 });
});

test('a program that does not exist is reported as such', async () => {
  await expect(spawnConfined(['/bin/none'])).rejects.toMatchObject({ code: 'E_EXEC_NOT_FOUND' });
});
