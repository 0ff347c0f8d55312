/**
 * A cage: a throw-away world of `@hob/caps-shell` in which the twin of a machine is all that can be harmed.
 *
 * Promise: whatever is run for real, by plain bash or by Hermes, is run in one. Before the first command a cage proves that it holds
 * (`prove`): a canary beside the twin cannot be read, nor a listener of this machine reached, nor a process of it ended; otherwise there is no cage.
 */
import fs from 'node:fs';
import net from 'node:net';
import { join } from 'node:path';
import { type FsCap, openFsCap } from '@hob/caps-fs';
import { type Job, makeShellCap, type ShellCap } from '@hob/caps-shell';
import { DATES, type Machine, type Place } from './machine.ts';
import { Ends, scratch } from './scratch.ts';

const HARNESS = '/opt/bisim/harness';
const HOURS = 2;
const MiB = 2 ** 20;

export interface CageSettings {
  readonly machine: Machine;
  /** The files at the machine's base. */
  readonly twin: Place;
  /** The listener's port inside, and the name that its processes are known by. */
  readonly port: number;
  readonly mark: string;
  /** More of this machine, read-only: where it appears, and where it is. */
  readonly trees?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  /** For whom the lines are, and the interpreter of machine.py. */
  readonly python: string;
  readonly program?: readonly string[];
  /** The line with which machine.py or the program says that it takes lines. It is waited for. */
  readonly limitMs?: number;
}

export type Line = Readonly<Record<string, unknown>>;

/** Its lines answered, one at a time; it is ended and made anew when a command has taken it down. */
export interface Cage {
  /** Undefined: the cage went down before it answered, which a command can do. */
  ask(line: Line): Promise<Line | undefined>;
  /** Connections to the listener inside since the last time this was asked. */
  reached(): number;
  /** Ends all that runs in it, and begins anew. */
  renew(): Promise<void>;
  close(): Promise<void>;
}

export async function openCage(settings: CageSettings): Promise<Cage> {
  const { machine, twin, port, mark, trees = {}, env = {}, python, program, limitMs = 60_000 } = settings;
  const ends = new Ends();
  const open = async (path: string): Promise<FsCap> => {
    const cap = await openFsCap(path);
    ends.add(() => cap.close());
    return cap;
  };
  const mounts: Record<string, FsCap> = { [machine.base]: await open(twin.root) };
  for (const [at, path] of Object.entries({ ...trees, [HARNESS]: import.meta.dirname })) {
    const cap = await (await open(path)).readOnly();
    ends.add(() => cap.close());
    mounts[at] = cap;
  }
  const shell = await makeShellCap({
    mounts,
    cwd: machine.work,
    env: { HOME: machine.home, ...DATES, ...env },
    limits: { wallMs: HOURS * 3_600_000, cpuMs: HOURS * 3_600_000, outputBytes: 1024 * MiB, memoryBytes: 4096 * MiB },
  });
  ends.add(() => shell.close());
  ends.add(() => running?.end());
  const close = (): Promise<void> => ends.close();
  let running: Running | undefined;
  try {
    await prove(shell, machine);
  } catch (error) {
    await close();
    throw error;
  }
  let count = 0;
  const started = async (): Promise<Running> => {
    const words = [
      python,
      `${HARNESS}/machine.py`,
      String(port),
      mark,
      ...(program ? ['exec', ...program] : ['plain']),
    ];
    const text = `exec ${words.map(quoted).join(' ')}`;
    const made = new Running(await shell.spawn(text), limitMs, () => {
      count += 1;
    });
    await made.ready;
    return made;
  };
  running = await started();
  return {
    ask: async (line) => {
      if (running === undefined || running.over) running = await started();
      return await running.ask(line);
    },
    reached: () => {
      const reached = count;
      count = 0;
      return reached;
    },
    renew: async () => {
      await running?.end();
      running = await started();
    },
    close,
  };
}

export const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

/** One life of what answers the lines. */
class Running {
  over = false;
  readonly ready: Promise<void>;
  readonly #job: Job;
  readonly #limitMs: number;
  readonly #ended: Promise<undefined>;
  #waiting: ((line: Line | undefined) => void) | undefined;

  constructor(job: Job, limitMs: number, reached: () => void) {
    this.#job = job;
    this.#limitMs = limitMs;
    const ready = Promise.withResolvers<void>();
    this.ready = ready.promise;
    this.#ended = this.#read(reached, ready.resolve).then(() => {
      ready.resolve();
      this.over = true;
      this.#waiting?.(undefined);
      return undefined;
    });
    // Its own complaints are no answer; unread they would hold it up.
    void job.stderr.return?.();
  }

  async #read(reached: () => void, ready: () => void): Promise<void> {
    const decoder = new TextDecoder();
    let rest = '';
    try {
      for (let part = await this.#job.stdout.next(); part !== undefined; part = await this.#job.stdout.next()) {
        const lines = (rest + decoder.decode(part, { stream: true })).split('\n');
        rest = lines.pop() ?? '';
        for (const text of lines) {
          const line = parsed(text);
          if (line === undefined) continue;
          if (line['ready']) ready();
          else if (line['reached'] !== undefined) reached();
          else this.#waiting?.(line);
        }
      }
    } catch {
      // The job is over; who waits is told.
    }
  }

  async ask(line: Line): Promise<Line | undefined> {
    const answer = new Promise<Line | undefined>((done) => {
      this.#waiting = done;
    });
    const timer = setTimeout(() => void this.end(), this.#limitMs);
    try {
      await this.#job.write(`${JSON.stringify(line)}\n`).catch(() => {});
      return await Promise.race([answer, this.#ended]);
    } finally {
      clearTimeout(timer);
      this.#waiting = undefined;
    }
  }

  async end(): Promise<void> {
    await this.#job.signal('KILL').catch(() => {});
    await this.#job.wait().catch(() => {});
    await this.#ended;
  }
}

function parsed(text: string): Line | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Line) : undefined;
  } catch {
    return undefined;
  }
}

/** Tries, harmlessly, what the commands will try in earnest. */
export async function prove(shell: ShellCap, machine: Machine): Promise<void> {
  const { path: beside, remove } = scratch('canary', { visible: true });
  const canary = join(beside, 'canary');
  fs.writeFileSync(canary, 'HOB-CANARY\n');
  fs.chmodSync(beside, 0o755);
  let reached = 0;
  const server = net.createServer((socket) => {
    reached += 1;
    socket.destroy();
  });
  try {
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const { port } = server.address() as net.AddressInfo;
    const tries = [
      `cat ${canary}`,
      `cat ${machine.base}.template/etc/app.conf && echo SEEN`,
      `echo x >> ${canary}`,
      `rm -rf ${beside}`,
      `(exec 3<>/dev/tcp/127.0.0.1/${port}) 2>/dev/null`,
      `kill -0 ${process.pid} && echo SEEN`,
      `cat /proc/${process.pid}/root${canary}`,
      `cat /etc/shadow && echo SEEN`,
      'touch /usr/hob-canary && echo SEEN',
      `[ "$(readlink /proc/self/ns/pid)" = '${fs.readlinkSync('/proc/self/ns/pid')}' ] && echo SEEN`,
      'echo PROVED',
    ];
    const { stdout, ended } = await shell.run(`{ ${tries.join('\n')}\n} 2>/dev/null; true`, { timeoutMs: 30_000 });
    const held =
      ended === 'exit' &&
      stdout.trim() === 'PROVED' &&
      reached === 0 &&
      fs.readFileSync(canary, 'utf8') === 'HOB-CANARY\n';
    if (!held) throw new Error(`the cage does not hold: ${JSON.stringify({ ended, stdout, reached })}`);
  } finally {
    await new Promise((done) => server.close(done));
    remove();
  }
}

/** A port that is free on this machine's loopback. */
export async function freePort(): Promise<number> {
  const server = net.createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as net.AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}
