/**
 * Starts the sandbox program and follows what it says.
 *
 * Promise: what runs is the file that was built, held by a descriptor and compared with its checksum, never a name in PATH.
 * `started` and `ended` reject with the reason only if the payload never ran. Once it may have run, `ended` resolves, also when the
 * sandbox program itself is killed. When `ended` resolves, no process of the job is left. When `closed` does, nothing of it is left
 * here either. If this process ends, in whatever way, so does the job.
 */
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import { join } from 'node:path';
import type { Duplex, Readable, Writable } from 'node:stream';
import { CapError, type PipeChannel, pipeChannel } from '@hob/vat';
import { errorOf, unavailable } from '../errors.ts';
import { specOf, type World } from '../world.ts';
import { type Cgroup, openCgroup } from './cgroup.ts';

export interface Ended {
  /** `killed`: by us. `lost`: by somebody else, or the sandbox itself failed; nothing of the job is left then either. */
  readonly how: 'exit' | 'signal' | 'limit' | 'killed' | 'lost';
  readonly code?: number;
  readonly signal?: number;
  readonly limit?: 'memory' | 'cpu';
  readonly wallUs: number;
  readonly cpuUs: number;
  readonly peakBytes: number;
  /** Most processes at once. */
  readonly processes: number;
}

/** The lines of sandbox/PROTOCOL.md. */
type Said =
  | { readonly state: 'building'; readonly pid: number }
  | { readonly state: 'started'; readonly pid: number; readonly setupUs: number }
  | { readonly state: 'leader'; readonly status: number }
  | ({ readonly state: 'ended' } & Ended)
  | { readonly state: 'failed'; readonly stage: string; readonly errno: number; readonly mount?: number };

export interface Sandboxed {
  /** The payload runs, or may have run and is over. `pid` is pid 1 of the world, as this machine numbers it. */
  readonly started: Promise<{ readonly pid: number; readonly setupUs: number }>;
  /** The first process is over; told only to those who linger. */
  readonly leaderEnded: Promise<number>;
  readonly ended: Promise<Ended>;
  readonly closed: Promise<void>;
  readonly stdin: Writable | undefined;
  /** To be read from the same turn on: what nobody reads when the process exits, Node throws away. */
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** With `send`, `on('message')`, `on('disconnect')`, `disconnect`: for CapTP over IPC. */
  readonly channel: PipeChannel | undefined;
  /** To the group of the first process; if that is over, to all. 9 is the end of the world. */
  signal(number: number): void;
  /** Ends the job as the end of this process would. */
  letGo(): void;
}

/** Where set-up puts it, and tests their variants. */
export const BUILT: string = join(import.meta.dirname, '..', '..', 'build', 'hob-sandbox');

const known = new Map<string, string>();

/** A descriptor of the program. It is compared whenever the file is another than the last time. */
function openBuilt(file: string): number {
  let fd: number;
  try {
    fd = fs.openSync(file, 'r');
  } catch (error) {
    throw unavailable('helper', String((error as NodeJS.ErrnoException).code));
  }
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = fs.fstatSync(fd, { bigint: true });
    const stamp = `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`;
    if (known.get(file) !== stamp) {
      const { binary } = JSON.parse(fs.readFileSync(`${file}.json`, 'utf8')) as { binary?: unknown };
      if (hash('sha256', fs.readFileSync(fd), 'hex') !== binary) throw unavailable('helper', 'ESTALE');
      known.set(file, stamp);
    }
    return fd;
  } catch (error) {
    fs.closeSync(fd);
    throw error instanceof CapError ? error : unavailable('helper', 'ESTALE');
  }
}

export function startSandbox(world: World, built: string = BUILT): Sandboxed {
  if (process.platform !== 'linux') throw unavailable('platform', 'ENOSYS');
  const descriptors = world.mounts.map((_, i) => 6 + i);
  const channelAt = world.channel ? 6 + descriptors.length : undefined;
  const program = openBuilt(built);
  let cgroup: Cgroup | undefined;
  try {
    cgroup = openCgroup(world.limits);
  } catch (error) {
    fs.closeSync(program);
    throw error;
  }
  const stdio: StdioOptions = [
    world.input ? 'pipe' : 'ignore',
    ...(['pipe', 'pipe', 'pipe', 'pipe', 'pipe'] as const),
    ...world.mounts.map(({ fd }) => fd),
  ];
  // Not 'ipc': what the other side writes there can end the process that reads it.
  if (channelAt !== undefined) stdio.push('pipe');
  const cgroupAt = cgroup && stdio.push(cgroup.fd) - 1;
  let child: ChildProcess;
  let spec: Buffer;
  try {
    spec = specOf(world, descriptors, { channel: channelAt, cgroup: cgroupAt });
    // By our own number for it: the child's descriptors are rearranged before it execs.
    child = spawn(`/proc/${process.pid}/fd/${program}`, [], { argv0: 'hob-sandbox', cwd: '/', env: {}, stdio });
  } catch (error) {
    void cgroup?.remove();
    throw error;
  } finally {
    fs.closeSync(program);
    cgroup?.close();
  }
  const channel = channelAt === undefined ? undefined : pipeChannel(child.stdio[channelAt] as unknown as Duplex);
  return follow(child, spec, world, { channel, cgroup });
}

interface With {
  readonly channel: PipeChannel | undefined;
  readonly cgroup: Cgroup | undefined;
}

function follow(child: ChildProcess, spec: Buffer, world: World, { channel, cgroup }: With): Sandboxed {
  const [, , , specPipe, status, orders] = child.stdio as unknown as [
    unknown,
    unknown,
    unknown,
    Writable,
    Readable,
    Writable,
  ];
  const started = Promise.withResolvers<{ pid: number; setupUs: number }>();
  const leader = Promise.withResolvers<number>();
  const ended = Promise.withResolvers<Ended>();
  const closed = Promise.withResolvers<void>();
  for (const { promise } of [started, leader, ended]) promise.catch(() => {}); // whoever asks is told
  const fail = (error: CapError): void => {
    for (const each of [started, leader, ended]) each.reject(error);
  };

  /** Pid 1 of the world, from when the payload may run. */
  let world1: number | undefined;
  const since = process.hrtime.bigint();
  const end = (how: Ended): void => {
    started.resolve({ pid: world1 ?? 0, setupUs: 0 });
    ended.resolve(how);
  };

  const hear = (line: string): void => {
    const said = JSON.parse(line) as Said;
    if (said.state === 'building') {
      world1 = said.pid;
      return;
    }
    if (said.state === 'started') return started.resolve({ pid: said.pid, setupUs: said.setupUs });
    if (said.state === 'leader') return leader.resolve(said.status);
    if (said.state === 'ended') return end(endOf(said));
    const mount = said.mount === undefined ? undefined : world.mounts[said.mount]?.at;
    fail(errorOf({ stage: said.stage, errno: errnoName(said.errno), mount }));
  };
  let rest = '';
  status.setEncoding('utf8');
  status.on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    try {
      for (const line of lines) hear(line);
    } catch {
      if (world1 === undefined) fail(unavailable('helper', 'EPROTO'));
      orders.destroy();
    }
  });
  // A program that is gone is told of by `close`; a write to it that fails is no news.
  for (const stream of [child.stdin, child.stdout, child.stderr, specPipe, status, orders])
    stream?.on('error', () => {});
  child.on('error', (error: NodeJS.ErrnoException) => {
    fail(unavailable('helper', error.code ?? 'EIO'));
    void Promise.resolve(cgroup?.remove()).then(closed.resolve);
  });
  // Not the event `close`: it does not come for a channel that was disconnected from here.
  const over = (event: string, of: { once(event: string, then: () => void): unknown }): Promise<void> =>
    new Promise((done) => of.once(event, done));
  const exit = over('exit', child).then(() => {
    // Its other end went with the process.
    orders.destroy();
  });
  const outputs = [child.stdout, child.stderr, status].map((stream) => over('close', stream as Readable));
  void Promise.all([exit, ...outputs]).then(async () => {
    // The sandbox program was killed, if it has not said the end. Pid 1 dies with it, and with pid 1 the world.
    if (world1 !== undefined) {
      await gone(world1);
      end({
        how: 'lost',
        wallUs: Number((process.hrtime.bigint() - since) / 1000n),
        cpuUs: 0,
        peakBytes: 0,
        processes: 0,
      });
    }
    fail(unavailable('helper', 'ECHILD')); // if nothing else was said
    await cgroup?.remove();
    closed.resolve();
  });
  specPipe.end(spec);
  return {
    started: started.promise,
    leaderEnded: leader.promise,
    ended: ended.promise,
    closed: closed.promise,
    stdin: child.stdin ?? undefined,
    stdout: child.stdout as Readable,
    stderr: child.stderr as Readable,
    channel,
    signal: (number) => {
      if (!orders.destroyed) orders.write(Uint8Array.of(number));
    },
    letGo: () => {
      orders.destroy();
    },
  };
}

/** The first process of a pid namespace is a zombie, or no more there, when all others in it are gone. */
async function gone(pid: number): Promise<void> {
  const lives = (): boolean => {
    try {
      const status = fs.readFileSync(`/proc/${pid}/status`, 'latin1');
      // The number may have been given out again: then it is not the first process of a namespace.
      return /^NSpid:.*\t1$/m.test(status) && !/^State:\t[ZX]/m.test(status);
    } catch {
      return false;
    }
  };
  while (lives()) await new Promise((resolve) => setTimeout(resolve, 2));
}

function endOf({ state: _, ...end }: Said & { state: 'ended' }): Ended {
  return end;
}

const names: ReadonlyMap<number, string> = new Map(Object.entries(os.constants.errno).map(([name, n]) => [n, name]));

function errnoName(errno: number): string {
  return names.get(errno) ?? `errno ${errno}`;
}
