/** A standby of a server: it copies the server's files, and follows its log. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Cluster } from '../../../test/postgres-cluster.ts';
import { postgresPrograms } from '../../../test/probes.ts';

/** Nobody: a server of PostgreSQL refuses to run as root. */
const asUser = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};

export interface Mirror {
  /** Stops it and removes its files. */
  remove(): Promise<void>;
}

/** Starts a standby, which tells the server that it is called `name`. */
export async function mirrorOf({ socket }: Pick<Cluster, 'socket'>, name: string): Promise<Mirror> {
  // Where the server's own programs are: a link to one of them may stand elsewhere.
  const programs = dirname(realpathSync(join(postgresPrograms() as string, 'initdb')));
  const folder = mkdtempSync(join(tmpdir(), 'hob-pg-mirror-'));
  const [data, own] = [join(folder, 'data'), join(folder, 's')];
  for (const each of [data, own]) mkdirSync(each, { mode: 0o700 });
  chmodSync(folder, 0o755);
  for (const each of [folder, data, own]) if (asUser.uid !== undefined) chownSync(each, asUser.uid, asUser.gid);
  const env = { PATH: process.env['PATH'] ?? '', LC_ALL: 'C' };
  const copied = spawnSync(
    join(programs, 'pg_basebackup'),
    ['-D', data, '-h', socket, '-U', 'hob', '-R', '-X', 'stream', '-c', 'fast', '--no-sync'],
    { ...asUser, encoding: 'utf8', env, cwd: folder },
  );
  if (copied.status !== 0) throw new Error(`pg_basebackup: ${copied.error ?? copied.stderr}`);
  const settings = [`unix_socket_directories=${own}`, 'listen_addresses=', `cluster_name=${name}`];
  const child: ChildProcess = spawn(
    join(programs, 'postgres'),
    ['-D', data, ...settings.flatMap((each) => ['-c', each])],
    { ...asUser, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'], env },
  );
  const over = new Promise((then) => child.once('exit', then));
  await new Promise<void>((ready, reject) => {
    let said = '';
    child.stderr?.on('data', (text) => {
      said += text;
      if (/ready to accept read-only connections/.test(said)) ready();
    });
    child.once('exit', () => reject(new Error(`postgres: ${said}`)));
  });
  return {
    async remove() {
      child.kill('SIGQUIT');
      await over;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
