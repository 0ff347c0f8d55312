/**
 * Keeps a sandbox program that waits for a job. The part of a start that all jobs have in common is over before a job
 * is asked for.
 *
 * Promise: a waiting program holds nothing of any job: no spec, no mount, no descriptor, no cgroup. It serves one job.
 * None is started before the first job of this process, and after a minute without a job all end. They end with this
 * process. One that was killed while it waited is not used, and one that was stopped goes on.
 *
 * This process starts one program for several jobs (`sandbox/ahead.c`), because a copy of this large process costs
 * more than a whole world. Each set of six pipes is one job's.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs';
import type { Socket } from 'node:net';
import { type Clock, systemClock } from '@hob/vat';
import { openProgram } from './program.ts';

/** The ends of the six pipes of one job, in the order of sandbox/PROTOCOL.md. */
type JobPipes = readonly [stdin: Socket, stdout: Socket, stderr: Socket, spec: Socket, status: Socket, signals: Socket]; // biome-ignore format: one line

interface Place {
  readonly pipes: JobPipes;
  /** Its two processes, once both are ready. */
  pids: readonly number[];
}

interface Group {
  readonly child: ChildProcess;
  readonly built: string;
  readonly rights: string;
  /** Those that no job has. */
  readonly places: Place[];
}

/** As in sandbox/ahead.c. */
const PLACES = 8;
const PIPES = 6;
const IDLE_MS = 60_000;

let time: Clock | undefined;
let group: Group | undefined;
/** No program is started before this time, because one could not get ready. */
let restUntil = 0;
let stopIdle = (): void => {};

/** For tests: the processes that are there before their job, the one that starts the others first. */
export function waitingPids(): readonly number[] {
  const places = group?.places.filter(({ pipes }) => !pipes[4].destroyed) ?? [];
  return group === undefined ? [] : [group.child.pid ?? 0, ...places.flatMap(({ pids }) => pids)];
}

/** Returns the pipes of a program that waits for its spec, or undefined. They are the caller's from now on. */
export function takeWaiting(built: string): JobPipes | undefined {
  if (group === undefined) return undefined;
  if (group.built !== built || group.rights !== rightsNow()) {
    endWaiting();
    return undefined;
  }
  for (let place = group.places.shift(); place !== undefined; place = group.places.shift()) {
    const { pipes, pids } = place;
    // Somebody may have stopped it, or the first program of the group, which starts one that is not ready yet.
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

/** Called when a job has begun: sees to it that the next one finds a program. Never throws. */
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
  const made: Group = { child, built, rights: rightsNow(), places: [] };
  const over = (): void => {
    if (group === made) endWaiting();
  };
  child.once('exit', over);
  // It does not keep this process alive.
  child.unref();
  // Without descriptors left there is none, and the error comes later.
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

/** Called when one could not take what a job mounts: this machine allows it to no process. */
export function refuseWaiting(): void {
  rest();
  endWaiting();
}

/** Jobs run without them, and take longer to start. */
function rest(): void {
  restUntil = (time as Clock).tick() + IDLE_MS;
}

/** Those that wait end, because their pipes are closed. The jobs of the group go on. */
export function endWaiting(): void {
  stopIdle();
  for (const place of group?.places.splice(0) ?? []) release(place);
  group = undefined;
}

function release({ pipes }: Place): void {
  for (const pipe of pipes) pipe.destroy();
}

/** The rights that a program inherits. A host may give some of them up. */
const rightsNow = (): string =>
  [process.geteuid?.(), process.getegid?.(), process.getuid?.(), process.getgid?.(), process.getgroups?.()].join();

/** Whether the process is there. */
function signal(pid: number | undefined, name: NodeJS.Signals): boolean {
  try {
    return pid !== undefined && process.kill(pid, name);
  } catch {
    return false;
  }
}
