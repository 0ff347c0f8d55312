/**
 * The scene of an attack: a granted folder, another folder, a process, listeners, and a check of all of them
 * afterwards.
 *
 * Every canary belongs to the scene, so an attack that succeeds harms nothing else. Success is judged from
 * outside, by the state of the canaries, and not by the output of the attack; only if it reached something
 * invisible, it prints WON.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import dgram from 'node:dgram';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import { join } from 'node:path';
import type { Starter } from '../test/as.ts';
import type { Outcome } from '../test/world.ts';
import type { Attack } from './rows.ts';

const SECRET = 'HOB-CANARY-7f3a';
const LIMIT_MS = 15_000;

export interface Scene {
  /** Whether it got through, and how that was seen. */
  play(attack: Attack, where: 'outside' | 'inside'): Promise<string | undefined>;
  /** Exit status. */
  work(text: string, where: 'outside' | 'inside'): Promise<{ code: number; said: string }>;
  close(): Promise<void>;
}

export async function openScene(who: Starter, uid: number, tool: string): Promise<Scene> {
  const base = fs.mkdtempSync(join(os.tmpdir(), 'hob-attack-'));
  fs.chmodSync(base, 0o755);
  const [host, ws, ro, tmp] = ['host', 'ws', 'ro', 'tmp'].map((name) => join(base, name)) as [
    string,
    string,
    string,
    string,
  ];
  const mark = `hob-attack-${process.pid}-${uid}`;
  const [key, key2] = [4_000_000 + process.pid, 5_000_000 + process.pid];
  const own = (path: string): void => {
    if (process.getuid?.() === 0) fs.lchownSync(path, uid, uid);
  };
  const put = (path: string, text?: string): void => {
    if (text === undefined) fs.mkdirSync(path, { recursive: true });
    else fs.writeFileSync(path, text);
    own(path);
  };

  // The host holds both ends, so opening it never blocks.
  const fifo = join(base, 'fifo');
  spawnSync('mkfifo', ['-m', '666', fifo]);
  own(fifo);
  const fifoFd = fs.openSync(fifo, fs.constants.O_RDWR | fs.constants.O_NONBLOCK);
  const arrived = (): boolean => {
    try {
      return fs.readSync(fifoFd, Buffer.alloc(64)) > 0;
    } catch {
      return false;
    }
  };

  const asUser = process.getuid?.() === 0 ? { uid, gid: uid } : {};
  let reached = 0;
  const open = new Set<net.Socket>();
  const listener = (): net.Server =>
    net.createServer((socket) => {
      reached += 1;
      open.add(socket);
      socket.on('error', () => {}).on('close', () => open.delete(socket));
      socket.resume().end(`${SECRET}\n`);
    });
  const [tcp, unix, abstract] = [listener(), listener(), listener()] as const;
  const hangUp = (): void => {
    for (const socket of open) socket.destroy();
  };
  const udp = dgram.createSocket('udp4').on('message', () => {
    reached += 1;
  });
  await new Promise<void>((done) => tcp.listen(0, '127.0.0.1', done));
  await new Promise<void>((done) => udp.bind(0, '127.0.0.1', done));
  await new Promise<void>((done) => abstract.listen(`\0${mark}`, done));
  const port = (tcp.address() as net.AddressInfo).port;
  const udpPort = udp.address().port;

  let victim: ChildProcess | undefined;
  // The kernel knows it at once, Node only later.
  const dead = (): boolean => {
    try {
      return / [ZX] /.test(fs.readFileSync(`/proc/${victim?.pid}/stat`, 'latin1'));
    } catch {
      return true;
    }
  };

  /**
   * Its folder and files are new each time, so it is, too. Descriptor 8 is a file that only it may write, 9
   * the secret.
   */
  const replaceVictim = async (): Promise<void> => {
    if (victim !== undefined && victim.exitCode === null && victim.signalCode === null) {
      const gone = once(victim, 'exit');
      victim.kill('SIGKILL');
      await gone;
    }
    const held = [fs.openSync(join(tmp, 'written'), 'w'), fs.openSync(join(host, 'secret'), 'r')];
    victim = spawn('/bin/sleep', ['1000'], {
      ...asUser,
      argv0: `${mark}-victim`,
      cwd: host,
      env: { CANARY: SECRET },
      stdio: [...Array<'ignore'>(8).fill('ignore'), ...held],
    });
    victim.on('error', () => {});
    for (const fd of held) fs.closeSync(fd);
    await once(victim, 'spawn');
  };

  const reset = async (): Promise<void> => {
    for (const folder of [host, ws, ro, tmp]) fs.rmSync(folder, { recursive: true, force: true });
    for (const folder of [host, ws, ro, tmp]) put(folder);
    for (const folder of ['dir', 'empty', 'home', 'home/.ssh', 'home/.git', 'home/.git/hooks', 'bin'])
      put(join(host, folder));
    put(join(host, 'secret'), `${SECRET}\n`);
    put(join(host, 'sourced'), `CANARY=${SECRET}\n`);
    for (const file of [
      'victim',
      'dir/file',
      'home/.bashrc',
      'home/.profile',
      'home/.ssh/authorized_keys',
      'home/.gitconfig',
    ])
      put(join(host, file), '\n');
    put(join(tmp, 'written'), '');
    put(join(ro, 'victim'), 'victim\n');
    fs.linkSync(fifo, join(ro, 'fifo'));
    arrived();
    put(join(ws, 'mine'), 'mine\n');
    fs.symlinkSync(host, join(ws, 'outside'));
    fs.symlinkSync(join(host, 'secret'), join(ws, 'linked'));
    for (const link of ['outside', 'linked']) own(join(ws, link));
    hangUp();
    if (unix.listening) await new Promise((done) => unix.close(done));
    await new Promise<void>((done) => unix.listen(join(host, 'socket'), done));
    fs.chmodSync(join(host, 'socket'), 0o777);
    fs.writeFileSync(`/dev/shm/${mark}`, `${SECRET}\n`);
    spawnSync(tool, ['shm-put', String(key)], asUser);
    await replaceVictim();
    reached = 0;
  };

  const look = (): string => {
    const lines: string[] = [];
    const walk = (path: string): void => {
      const s = fs.lstatSync(path);
      lines.push(`${path} ${s.mode} ${s.uid} ${s.isFile() ? `${s.size} ${s.mtimeMs} ${s.nlink}` : ''}`);
      if (s.isFile()) lines.push(fs.readFileSync(path, 'latin1'));
      if (s.isDirectory()) for (const name of fs.readdirSync(path).sort()) walk(join(path, name));
    };
    for (const folder of [host, ro]) walk(folder);
    return lines.join('\n');
  };
  const setIds = (folder: string): boolean =>
    fs.readdirSync(folder, { withFileTypes: true }).some((entry) => {
      if (entry.isSymbolicLink()) return false;
      const s = fs.lstatSync(join(folder, entry.name));
      return s.isBlockDevice() || s.isCharacterDevice() || (s.isFile() && (s.mode & 0o6000) !== 0);
    });

  const env = (where: 'outside' | 'inside'): Record<string, string> => ({
    HOST: host,
    WS: where === 'outside' ? ws : '/ws',
    RO: where === 'outside' ? ro : '/ro',
    LINK: 'linked',
    VICTIM: String(victim?.pid),
    PORT: String(port),
    UDP: String(udpPort),
    KEY: String(key),
    KEY2: String(key2),
    MARK: mark,
    T: where === 'outside' ? tool : '/opt/tool',
    PY: '/usr/bin/python3',
    NODE: where === 'outside' ? process.execPath : '/opt/hob/bin/node',
    OUTERTMP: tmp,
    HOSTNAME_OUTSIDE: os.hostname(),
    UID_OUTSIDE: String(uid),
    USER_OUTSIDE: os.userInfo().username,
    NET_OUTSIDE: fs.readlinkSync('/proc/self/ns/net'),
    ...(where === 'outside'
      ? { OUTSIDE: '1', HOB_ATTACK_SECRET: '1', TMPDIR: tmp, HOME: tmp, PATH: process.env['PATH'] ?? '' }
      : {}),
  });
  const run = (text: string, where: 'outside' | 'inside'): Promise<Outcome> =>
    who.run(text, {
      plain: where === 'outside' ? ws : undefined,
      timeoutMs: LIMIT_MS,
      mark,
      cwd: '/ws',
      env: env(where),
      trees: { '/opt/tool': tool },
      grants: { '/ws': { path: ws }, '/ro': { path: ro, writable: false } },
      limits: {
        memoryBytes: 200 << 20,
        cpuMs: 1_000,
        processes: 100,
        fileBytes: 50 << 20,
        tmpBytes: 64 << 20,
        shmBytes: 16 << 20,
        openFiles: 512,
      },
    });

  const mountOver = (): (() => void) => {
    put(join(ws, 'over'));
    put(join(ws, 'over', 'secret'), `${SECRET}\n`);
    spawnSync('mount', ['-t', 'tmpfs', 'none', join(ws, 'over')]);
    return () => spawnSync('umount', ['-l', join(ws, 'over')]);
  };
  const refused = { stdout: '', stderr: '', left: false };

  return {
    play: async (attack, where) => {
      await reset();
      const unmount = attack.mounted ? mountOver() : undefined;
      const before = look();
      const { stdout, stderr, left } = await run(attack.text, where)
        .catch((error: { code?: unknown }) => {
          // The sandbox does not run anything there.
          if (attack.mounted && error.code === 'E_NOT_MOUNTABLE') return refused;
          throw error;
        })
        .finally(() => unmount?.());
      const leftovers = [...fs.readdirSync('/dev/shm'), ...fs.readdirSync(tmp)].filter((name) =>
        name.startsWith(`${mark}-left`),
      );
      for (const name of leftovers) fs.rmSync(`/dev/shm/${name}`, { force: true });
      const leftMemory = spawnSync(tool, ['shm-remove', String(key2)], asUser).status === 0;
      if (`${stdout}${stderr}`.includes(SECRET)) return 'read the canary';
      if (/^WON$/m.test(stdout)) return 'says so';
      if (dead()) return 'ended the process';
      if (look() !== before) return 'changed what is outside';
      if (fs.statSync(join(tmp, 'written'), { throwIfNoEntry: false })?.size)
        return 'wrote through a foreign descriptor';
      if (reached > 0) return 'reached a listener';
      if (arrived()) return 'wrote into a FIFO of the host';
      if (setIds(ws)) return 'left a set-id file or a device';
      if (leftovers.length > 0) return 'left a file';
      if (leftMemory) return 'left shared memory';
      if (left) return 'left a process';
      return undefined;
    },
    work: async (text, where) => {
      await reset();
      put(join(ws, 'src'));
      put(join(ws, 'src', 'main.c'), '#include <stdio.h>\nint main(void){puts("hi");return 0;}\n');
      put(join(ws, 'src', 'Makefile'), 'all: prog\nprog: main.c\n\tgcc -o prog main.c\nclean:\n\trm -f prog\n');
      put(join(ws, 'run.sh'), '#!/bin/sh\necho ran\n');
      const { code, stderr } = await run(text, where);
      return { code: code ?? -1, said: stderr.trim().slice(0, 200) };
    },
    close: async () => {
      victim?.kill('SIGKILL');
      fs.closeSync(fifoFd);
      udp.close();
      hangUp();
      for (const server of [tcp, unix, abstract]) await new Promise((done) => server.close(done));
      spawnSync(tool, ['shm-remove', String(key)]);
      fs.rmSync(`/dev/shm/${mark}`, { force: true });
      fs.rmSync(base, { recursive: true, force: true });
    },
  };
}
