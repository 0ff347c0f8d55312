/**
 * Keeps a sandbox program that waits for the next job. It has taken the steps of a start that are the same for all
 * jobs.
 *
 * Promise: a waiting program holds nothing of any job: no spec, no mount, no descriptor, no cgroup. It serves one job.
 * No program waits before the first job of this process. After a minute without a job the waiting programs end. They
 * also end with this process. A program that was killed while it waited is not used. One that was stopped is continued.
 * A job gets the rights and limits that this process has when the job starts, not those of an earlier moment.
 *
 * A start copies this large process. So this process starts one program for eight jobs, and that program forks the
 * waiting ones (`sandbox/ahead.c`). Each job has a set of six pipes.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs';
import type { Socket } from 'node:net';
import os from 'node:os';
import { type Clock, systemClock } from '@hob/vat';
import { openProgram } from './program.ts';

/** The ends of the six pipes of one job, in the order of sandbox/PROTOCOL.md. */
type JobPipes = readonly [stdin: Socket, stdout: Socket, stderr: Socket, spec: Socket, status: Socket, signals: Socket]; // biome-ignore format: one line

interface Place {
  readonly pipes: JobPipes;
  /** The outer process and pid 1 of the world. Empty until both are ready. */
  pids: readonly number[];
}

interface Group {
  readonly child: ChildProcess;
  readonly built: string;
  readonly inherited: string;
  /** The places that no job has taken. */
  readonly places: Place[];
}

/** As in sandbox/ahead.c. */
const PLACES = 8;
const PIPES = 6;
const IDLE_MS = 60_000;

let time: Clock | undefined;
let group: Group | undefined;
/** No program is started ahead before this time. It is set when one could not get ready. */
let restUntil = 0;
let stopIdle = (): void => {};

/** For tests: the processes that were started ahead. The first is the one that forks the others. */
export function waitingPids(): readonly number[] {
  const places = group?.places.filter(({ pipes }) => !pipes[4].destroyed) ?? [];
  return group === undefined ? [] : [group.child.pid ?? 0, ...places.flatMap(({ pids }) => pids)];
}

/** Returns the pipes of a program that waits for its spec, or undefined. The caller owns them from now on. */
export function takeWaiting(built: string): JobPipes | undefined {
  if (group === undefined) return undefined;
  if (group.built !== built || !isAsThen(group.inherited)) {
    endWaiting();
    return undefined;
  }
  for (let place = group.places.shift(); place !== undefined; place = group.places.shift()) {
    const { pipes, pids } = place;
    // Somebody may have stopped this program. If it is not ready yet, the one that forks it may have been stopped.
    if (pipes[4].destroyed || !signal(pids[0] ?? group.child.pid, 'SIGCONT')) {
      release(place);
      continue;
    }
    for (const pipe of pipes) pipe.ref();
    pipes[4].removeAllListeners('data');
    return pipes;
  }
  return undefined;
}

/** Called when a job has begun. If no program waits for the next job, starts one. Never throws. */
export function startWaiting(built: string): void {
  time ??= systemClock();
  stopIdle();
  if (group === undefined || group.places.length === 0) {
    group = undefined;
    if (time.tick() < restUntil) return;
    try {
      group = start(built);
    } catch {
      rest();
      return;
    }
  }
  stopIdle = time.after(IDLE_MS, endWaiting);
}

function start(built: string): Group {
  // Read before the start: if something changes meanwhile, the program is not used.
  const inherited = inheritedNow();
  const program = openProgram(built);
  let child: ChildProcess;
  try {
    const stdio = [...Array(3).fill('ignore'), ...Array(PLACES * PIPES).fill('pipe')];
    child = spawn(`/proc/${process.pid}/fd/${program}`, [], { argv0: 'hob-waiting', cwd: '/', env: {}, stdio });
  } finally {
    fs.closeSync(program);
  }
  child.once('error', () => {
    rest();
    over();
  });
  const made: Group = { child, built, inherited, places: [] };
  const over = (): void => {
    if (group === made) endWaiting();
  };
  child.once('exit', over);
  // It does not keep this process alive.
  child.unref();
  // Undefined if this process has no descriptors left. The event `error` follows.
  if (child.stdio === undefined) return made;
  const all = child.stdio.slice(3) as unknown as readonly Socket[];
  for (let n = 0; n < PLACES; n += 1) made.places.push(placeOf(all.slice(n * PIPES, (n + 1) * PIPES)));
  return made;
}

function placeOf(sockets: readonly Socket[]): Place {
  const pipes = sockets as unknown as JobPipes;
  const place: Place = { pipes, pids: [] };
  for (const pipe of pipes) {
    pipe.on('error', () => {});
    pipe.unref();
  }
  pipes[4].setEncoding('utf8').on('data', (line: string) => {
    const found = /^\{"state":"waiting","outer":(\d+),"pid":(\d+)\}\n$/.exec(line);
    if (found === null) rest();
    else place.pids = [Number(found[1]), Number(found[2])];
  });
  return place;
}

/** Called when a waiting program could not open the mounts of a job: this machine allows it to none. */
export function refuseWaiting(): void {
  rest();
  endWaiting();
}

/** Starts no program ahead for a minute. Each job then starts its own, which takes longer. */
function rest(): void {
  restUntil = (time as Clock).tick() + IDLE_MS;
}

/** Ends the programs that wait, by closing their pipes. Jobs that run go on. */
export function endWaiting(): void {
  stopIdle();
  for (const place of group?.places.splice(0) ?? []) release(place);
  group = undefined;
}

function release({ pipes }: Place): void {
  for (const pipe of pipes) pipe.destroy();
}

/** The lines of `/proc/self/status` that a program inherits. */
const INHERITED = /^(?:Uid|Gid|Groups|Cap|NoNewPrivs|Seccomp|Cpus_allowed:|Mems_allowed:).*/gm;

/**
 * Returns the rights and limits that a program inherits when it starts. A host may give up rights. Its operator may
 * change its priority, limits, processors or cgroup. Such a change must hold for the next job.
 */
function inheritedNow(): string {
  const read = (name: string): string => fs.readFileSync(`/proc/self/${name}`, 'latin1');
  const lines = read('status').match(INHERITED) ?? [];
  return [...lines, read('limits'), read('cgroup'), os.getPriority()].join('\n');
}

/** Whether a program would inherit the same now. False if this process has no descriptor left to find out. */
function isAsThen(inherited: string): boolean {
  try {
    return inherited === inheritedNow();
  } catch {
    return false;
  }
}

/** Sends a signal. Returns whether the process is there. */
function signal(pid: number | undefined, name: NodeJS.Signals): boolean {
  try {
    return pid !== undefined && process.kill(pid, name);
  } catch {
    return false;
  }
}
