/**
 * Measures what running guests use, every 20 ms.
 *
 * Promise: waiting costs a guest no processor time. Memory is the resident memory that the kernel reports,
 * whatever it is used for. (V8's heap limit does not count typed arrays, and a limit on address space stops
 * Node from starting.)
 */
import fs from 'node:fs';
import { performance } from 'node:perf_hooks';

const everyMs = 20;

export interface Used {
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly peakBytes: number;
}

interface Watched {
  /** Measures for the first time. What the guest used before does not count. */
  begin(): void;
  /** Measures now. */
  used(): Used;
  stop(): void;
}

/**
 * Looks for new child processes every so many measurements. A guest starts none, and the sandbox has its own
 * limits.
 */
const treeEvery = 25;

/** The processes of a guest. */
export class Processes {
  readonly #pid: number;
  #all: readonly number[] | undefined;

  constructor(pid: number) {
    this.#pid = pid;
  }

  /** Finds the processes. Called while the process is idle, so that the start of a program need not wait for it. */
  find(): void {
    this.#all = treeOf(this.#pid);
  }

  get all(): readonly number[] {
    if (this.#all === undefined) this.find();
    return this.#all as readonly number[];
  }
}

interface Guest {
  readonly processes: Processes;
  looks: number;
  readonly began: number;
  cpuBefore: number;
  cpuMs: number;
  peakBytes: number;
  readonly look: (used: Used) => void;
}

const guests = new Set<Guest>();
let timer: ReturnType<typeof setInterval> | undefined;

/** Calls `look` every 20 ms from `begin` until it is stopped. */
export function watchOver(processes: Processes, look: (used: Used) => void): Watched {
  const guest: Guest = { processes, looks: 0, began: performance.now(), cpuBefore: 0, cpuMs: 0, peakBytes: 0, look };
  let isOver = false;
  return {
    begin: () => {
      if (isOver) return;
      guest.cpuBefore = cpuOf(processes.all);
      guests.add(guest);
      timer ??= setInterval(lookAll, everyMs);
    },
    used: () => measure(guest),
    stop: () => {
      isOver = true;
      guests.delete(guest);
      if (guests.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    },
  };
}

function lookAll(): void {
  for (const guest of [...guests]) guest.look(measure(guest));
}

/** Keeps the highest values seen, because a process that has ended reports nothing any more. */
function measure(guest: Guest): Used {
  if (guests.has(guest)) {
    guest.looks += 1;
    if (guest.looks % treeEvery === 0) guest.processes.find();
    const { all } = guest.processes;
    guest.cpuMs = Math.max(guest.cpuMs, cpuOf(all) - guest.cpuBefore);
    guest.peakBytes = Math.max(guest.peakBytes, memoryOf(all));
  }
  return {
    wallMs: Math.round(performance.now() - guest.began),
    cpuMs: Math.round(guest.cpuMs),
    peakBytes: guest.peakBytes,
  };
}

const readProc = (path: string): string => {
  try {
    return fs.readFileSync(`/proc/${path}`, 'latin1');
  } catch {
    return '';
  }
};

/** A process and its descendants. A guest starts none, but the sandbox puts a process of its own above it. */
function treeOf(pid: number): number[] {
  if (pid === 0) return [];
  const all = [pid];
  for (let i = 0; i < all.length && i < 64; i += 1)
    for (const child of readProc(`${all[i]}/task/${all[i]}/children`).split(' '))
      if (child !== '') all.push(Number(child));
  return all;
}

/** Processor time in ms. The kernel counts it in steps of 10 ms. */
function cpuOf(processes: readonly number[]): number {
  let ms = 0;
  for (const pid of processes) {
    const stat = readProc(`${pid}/stat`);
    const [, user, system] = /^.*\) \S(?: \S+){10} (\d+) (\d+)/.exec(stat) ?? [];
    ms += (Number(user ?? 0) + Number(system ?? 0)) * 10;
  }
  return ms;
}

const page = 4096;

function memoryOf(processes: readonly number[]): number {
  let pages = 0;
  for (const pid of processes) pages += Number(readProc(`${pid}/statm`).split(' ')[1] ?? 0);
  return pages * page;
}
