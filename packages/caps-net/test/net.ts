/** Shells with net caps, and servers that tell what reached them. */
import { createServer as createTcp, type Socket } from 'node:net';
import { createServer as createTls } from 'node:tls';
import { makeShellCap, type ShellCap, type World } from '@hob/caps-shell';
import { onTestFinished } from 'vitest';
import { certificate } from '../../../test/certificate.ts';
import type { Resolver } from '../src/drivers/resolve.ts';
import { openNetCap } from '../src/net/cap.ts';
import type { NetCap, NetOptions } from '../src/net/net-cap.ts';
import { leadingTo } from './web.ts';

export const NAME = 'registry.example';

export interface Reached {
  readonly port: number;
  /** All that came, of each connection. Of a TLS server what it decrypted. */
  readonly said: string[];
  readonly open: Set<Socket>;
  /** The certificate of a TLS server. */
  readonly cert: string;
}

/** A server on loopback that answers `answer` to the first bytes, and says nothing if it is empty. */
export async function reachable({
  tls = false,
  answer = 'welcome\n',
  at = '127.0.0.1',
}: {
  tls?: boolean;
  answer?: string;
  at?: string | { readonly path: string };
} = {}): Promise<Reached> {
  const said: string[] = [];
  const open = new Set<Socket>();
  const { cert, key } = certificate(NAME);
  const serve = (socket: Socket): void => {
    const mine = said.push('') - 1;
    socket
      .on('error', () => {})
      .on('data', (bytes: Buffer) => {
        said[mine] += bytes.toString('latin1');
        if (answer !== '') socket.end(answer);
      });
  };
  const server = tls ? createTls({ cert, key }, serve).on('tlsClientError', () => {}) : createTcp(serve);
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.on('error', () => {}).once('close', () => open.delete(socket));
  });
  await new Promise<void>((resolve) =>
    typeof at === 'string' ? server.listen(0, at, resolve) : server.listen(at, resolve),
  );
  onTestFinished(async () => {
    for (const socket of open) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return { port: typeof at === 'string' ? (server.address() as { port: number }).port : 0, said, open, cert };
}

/** A net cap for `registry.example`, which leads to loopback. */
export function netCap(
  options: Partial<NetOptions> & { port: number },
  resolver: Resolver = leadingTo('127.0.0.1'),
): NetCap & AsyncDisposable {
  const cap = openNetCap({ host: NAME, addresses: ['127.0.0.1'], ...options }, resolver);
  onTestFinished(() => cap[Symbol.asyncDispose]());
  return cap;
}

export async function shellWith(world: Partial<World>): Promise<ShellCap> {
  const shell = await makeShellCap({ mounts: {}, limits: { wallMs: 60_000 }, ...world });
  onTestFinished(() => shell.close());
  return shell;
}

/**
 * Functions for programs in a job. `connect` asks the door for a tunnel, sends text through it, and returns all that came
 * until its end; `hold` keeps one open.
 */
export const CLIENT = `
const net = require('node:net');
const ask = (first, then) => new Promise((done) => {
  const socket = net.connect(1080, '127.0.0.1', () => socket.write(first));
  let said = Buffer.alloc(0);
  socket.on('error', (error) => done(error.code)).on('close', () => done(said.toString('latin1')));
  socket.on('data', (bytes) => {
    said = Buffer.concat([said, bytes]);
    if (then !== undefined) { socket.write(then); then = undefined; }
  });
});
const hold = (target) => new Promise((done) => {
  const socket = net.connect(1080, '127.0.0.1', () => socket.write('CONNECT ' + target + ' HTTP/1.1\\r\\n\\r\\n'));
  socket.once('data', () => done(socket));
});
const connect = (target, then) => ask('CONNECT ' + target + ' HTTP/1.1\\r\\n\\r\\n', then);
const shown = async (told) => {
  const said = await told;
  const at = said.indexOf('\\r\\n\\r\\n') + 4;
  return ((said.startsWith('HTTP/1.1 200 ') ? 'opened ' : 'refused ') + Buffer.from(said.slice(at), 'latin1').toString('hex')).trim();
};
const status = (text) => text.split('\\r\\n')[0].replace('HTTP/1.1 ', '');
`;
