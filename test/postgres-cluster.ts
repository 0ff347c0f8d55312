/**
 * A PostgreSQL server for a test: its own files in a temporary folder, reached by a Unix socket, run by an ordinary user.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import postgres from 'postgres';
import { postgresPrograms } from './probes.ts';
import { ROOT } from './sources.ts';

export interface Cluster {
  /** The folder of its socket. */
  readonly socket: string;
  readonly url: string;
  readonly port: number;
  readonly sql: postgres.Sql;
  start(): Promise<void>;
  /** `immediate`: as if the machine lost its power, but for its disk. */
  stop(how?: 'fast' | 'immediate'): Promise<void>;
  /** Kills all its processes at once, as a power cut does. What the kernel has is kept. `start` recovers it. */
  kill(): Promise<void>;
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
  /** Its tables lie on a disk of this size, which can be filled. It needs `unshare`, and is not started again. */
  readonly diskMiB?: number;
}

const INITDB = [
  '-U',
  'hob',
  '--auth-local=trust',
  '--auth-host=scram-sha-256',
  '-E',
  'UTF8',
  '--locale=C',
  '--no-sync',
];

/** The folder that keeps the files of a new server for these programs and this user. A copy takes a third of the time. */
const made = (programs: string): string =>
  join(
    ROOT,
    '.toolchain',
    `postgres-${digest([programs, String(statSync(join(programs, 'initdb')).mtimeMs), String(asUser.uid), ...INITDB])}`,
  );

const digest = (words: readonly string[]): string =>
  createHash('sha256').update(words.join('\0')).digest('hex').slice(0, 12);

/** Copies the files of a new server to `data`. Returns whether they were kept. */
function copied(programs: string, data: string): boolean {
  const from = made(programs);
  if (!existsSync(from)) return false;
  if (spawnSync('cp', ['-a', `${from}/.`, data]).status === 0) return true;
  for (const name of readdirSync(data)) rmSync(join(data, name), { recursive: true });
  return false;
}

/** Keeps a copy of `data`. If that fails, the next test makes the files again. Another process may do the same now. */
function keep(programs: string, data: string): void {
  const draft = `${made(programs)}-${process.pid}`;
  try {
    if (spawnSync('cp', ['-a', data, draft]).status === 0) renameSync(draft, made(programs));
  } catch {
    // Another process has kept them.
  }
  rmSync(draft, { recursive: true, force: true });
}

/**
 * A shell command after which `data` is on a small disk of its own, which ends with the process. The server sees itself as an
 * ordinary user there. Its write-ahead log is not on that disk: without room for it a server stops.
 */
const onSmallDisk = (mebibytes: number, data: string, command: string): readonly string[] => [
  ...['unshare', '--user', '--map-root-user', '--mount', 'sh', '-c'],
  `mount -t tmpfs -o size=${mebibytes}m,mode=700 none ${data} && exec unshare --user --map-user=1000 --map-group=1000 sh -c '${command}'`,
];

export async function openCluster({ tcp, diskMiB }: ClusterOptions = {}): Promise<Cluster> {
  const programs = postgresPrograms() as string;
  const folder = mkdtempSync(join(tmpdir(), 'hob-pg-'));
  const [data, socket, wal] = [join(folder, 'data'), join(folder, 's'), join(folder, 'wal')];
  mkdirSync(socket);
  mkdirSync(data);
  chmodSync(folder, 0o755);
  for (const each of [folder, socket, data]) if (asUser.uid !== undefined) chownSync(each, asUser.uid, asUser.gid);
  const initdb = [join(programs, 'initdb'), '-D', data, ...INITDB];
  const env = { PATH: process.env['PATH'] ?? '', LC_ALL: 'C' };
  if (diskMiB === undefined && !copied(programs, data)) {
    const made = spawnSync(initdb[0] as string, initdb.slice(1), { ...asUser, encoding: 'utf8', env, cwd: folder });
    if (made.status !== 0) {
      rmSync(folder, { recursive: true, force: true });
      throw new Error(`initdb: ${made.stderr}`);
    }
    keep(programs, data);
  }
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
  const startOnce = async (): Promise<void> => {
    const server = [join(programs, 'postgres'), '-D', data, ...settings.flatMap((each) => ['-c', each])];
    const all = `${initdb.join(' ')} --waldir=${wal} >/dev/null && exec ${server.join(' ')}`;
    const [program = '', ...args] = diskMiB === undefined ? server : onSmallDisk(diskMiB, data, all);
    child = spawn(program, args, { ...asUser, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'], env });
    await new Promise<void>((ready, reject) => {
      let said = '';
      child?.stderr?.on('data', (text) => {
        said += text;
        if (/ready to accept (?:read-only )?connections/.test(said)) ready();
      });
      child?.once('exit', () => reject(new Error(`postgres: ${said}`)));
    });
  };
  /** A server that was killed leaves its lock, and its memory for as long as one of its processes lives. */
  const start = async (): Promise<void> => {
    for (let tries = 1; ; tries += 1) {
      try {
        return await startOnce();
      } catch (error) {
        if (tries === 100 || !/still in use|lock file/.test((error as Error).message)) throw error;
        await wait(50);
      }
    }
  };
  const kill = async (): Promise<void> => {
    const { pid } = child ?? {};
    if (pid === undefined || child?.exitCode !== null || child.signalCode !== null) return;
    const over = new Promise((then) => child?.once('exit', then));
    // The first one would end the others in good order.
    for (const each of [pid, ...childrenOf(pid)]) end(each);
    await over;
  };
  const stop = async (how: 'fast' | 'immediate' = 'fast'): Promise<void> => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const over = new Promise((then) => child?.once('exit', then));
    child.kill(how === 'fast' ? 'SIGINT' : 'SIGQUIT');
    await over;
  };
  await start();
  await sql`SELECT 1`; // connects now, and not within a test
  return {
    ...{ socket, url: urlOf(socket), port, sql, start, stop, kill },
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

/** One server for all tests of a file. Its hooks run where the tests do. */
export function serverOfFile(test: {
  beforeAll(begin: () => Promise<void>): void;
  afterAll(end: () => Promise<void>): void;
}): { readonly cluster: Cluster; nextSchema(): string } {
  let cluster: Cluster | undefined;
  let schemas = 0;
  test.beforeAll(async () => {
    cluster = await openCluster();
  });
  test.afterAll(async () => cluster?.remove());
  return {
    get cluster() {
      return cluster as Cluster;
    },
    nextSchema: () => `s${(schemas += 1)}`,
  };
}

/** The processes that this one started; none where the kernel does not tell. */
function childrenOf(pid: number): number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
    return text.split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // it has ended
  }
}

/** A port that nobody has. Between this and its use somebody might take it: tests here ask for few. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((then) => server.listen(0, '127.0.0.1', then));
  const { port } = server.address() as AddressInfo;
  await new Promise((then) => server.close(then));
  return port;
}
