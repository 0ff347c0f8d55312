/**
 * A PostgreSQL server for a test: its own files in a temporary folder, reached by a Unix socket, run by an ordinary user.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { postgresPrograms } from './probes.ts';

export interface Cluster {
  /** The folder of its socket. */
  readonly socket: string;
  readonly url: string;
  readonly port: number;
  readonly sql: postgres.Sql;
  start(): Promise<void>;
  /** `immediate`: as if the machine lost its power, but for its disk. */
  stop(how?: 'fast' | 'immediate'): Promise<void>;
  /** Makes it a standby, which follows nobody. It is stopped meanwhile. */
  becomeStandby(): Promise<void>;
  /** Stops it and removes its files. */
  remove(): Promise<void>;
}

/** Nobody: a server of PostgreSQL refuses to run as root. */
const asUser = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};

export const urlOf = (socket: string, database = 'postgres'): string =>
  `postgres:///${database}?user=hob&host=${encodeURIComponent(socket)}`;

interface ClusterOptions {
  /** It listens on 127.0.0.1 too, with this certificate, or without TLS. There its user has a password. */
  readonly tcp?: { readonly certificate?: { readonly cert: string; readonly key: string } };
}

export async function openCluster({ tcp }: ClusterOptions = {}): Promise<Cluster> {
  const programs = postgresPrograms() as string;
  const folder = mkdtempSync(join(tmpdir(), 'hob-pg-'));
  const [data, socket] = [join(folder, 'data'), join(folder, 's')];
  mkdirSync(socket);
  chmodSync(folder, 0o755);
  for (const each of [folder, socket]) if (asUser.uid !== undefined) chownSync(each, asUser.uid, asUser.gid);
  const made = spawnSync(
    join(programs, 'initdb'),
    [
      '-D',
      data,
      '-U',
      'hob',
      '--auth-local=trust',
      '--auth-host=scram-sha-256',
      '-E',
      'UTF8',
      '--locale=C',
      '--no-sync',
    ],
    { ...asUser, encoding: 'utf8', env: { PATH: process.env['PATH'] ?? '', LC_ALL: 'C' }, cwd: folder },
  );
  if (made.status !== 0) throw new Error(`initdb: ${made.stderr}`);
  const settings = [`unix_socket_directories=${socket}`, 'max_connections=100', 'shared_buffers=32MB'];
  const port = tcp === undefined ? 5432 : await freePort();
  settings.push(`port=${port}`, tcp === undefined ? 'listen_addresses=' : 'listen_addresses=127.0.0.1');
  if (tcp?.certificate !== undefined) {
    settings.push('ssl=on');
    for (const [name, text] of [
      ['server.crt', tcp.certificate.cert],
      ['server.key', tcp.certificate.key],
    ] as const) {
      writeFileSync(join(data, name), text, { mode: 0o600 });
      if (asUser.uid !== undefined) chownSync(join(data, name), asUser.uid, asUser.gid);
    }
  }
  const sql = postgres({
    host: socket,
    port,
    user: 'hob',
    database: 'postgres',
    max: 1,
    onnotice: () => {},
    fetch_types: false,
    max_lifetime: null,
  });
  let child: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    const options = settings.flatMap((each) => ['-c', each]);
    child = spawn(join(programs, 'postgres'), ['-D', data, ...options], {
      ...{
        ...asUser,
        cwd: folder,
        stdio: ['ignore', 'ignore', 'pipe'],
        env: { PATH: process.env['PATH'] ?? '', LC_ALL: 'C' },
      },
    });
    await new Promise<void>((ready, reject) => {
      let said = '';
      child?.stderr?.on('data', (text) => {
        said += text;
        if (/ready to accept (?:read-only )?connections/.test(said)) ready();
      });
      child?.once('exit', () => reject(new Error(`postgres: ${said}`)));
    });
  };
  const stop = async (how: 'fast' | 'immediate' = 'fast'): Promise<void> => {
    if (child === undefined || child.exitCode !== null) return;
    const over = new Promise((then) => child?.once('exit', then));
    child.kill(how === 'fast' ? 'SIGINT' : 'SIGQUIT');
    await over;
  };
  await start();
  await sql`SELECT 1`; // connects now, and not within a test
  return {
    ...{ socket, url: urlOf(socket), port, sql, start, stop },
    async becomeStandby() {
      await stop();
      writeFileSync(join(data, 'standby.signal'), '');
      await start();
    },
    async remove() {
      await sql.end({ timeout: 0 });
      await stop('immediate');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A port that nobody has. Between this and its use somebody might take it: tests here ask for few. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((then) => server.listen(0, '127.0.0.1', then));
  const { port } = server.address() as AddressInfo;
  await new Promise((then) => server.close(then));
  return port;
}
