/**
 * Set-up file of every test: nothing is left over.
 *
 * Promise: after each test, and after all its own hooks, no socket, server, child process, worker, watcher, timer or
 * descriptor is there that was not there before; also one that keeps nothing alive (`unref`) counts. What is left fails
 * the test by its kind and by the line that made it. What is about to close gets five seconds: a busy machine takes them.
 *
 * How: `async_hooks` tells of every such object as it is made and destroyed (without promises, so it costs nothing per
 * `await`); descriptors opened behind its back, as SQLite does, show in /proc/self/fd. A clean test pays well under
 * 1 ms. Tests that run at the same time in one file (`test.concurrent`) cannot be told apart.
 *
 * After each test this kills the sandbox program that waits for the next job (`caps-shell`). Nothing of it may be left.
 *
 * `trackTables('connection A', () => tables.size)` adds a count of our own that has to come back to where it was.
 */
import { createHook } from 'node:async_hooks';
import { readdirSync, readlinkSync } from 'node:fs';
import { type CallSiteObject, getCallSites } from 'node:util';
import { beforeEach } from 'vitest';

const SETTLE_MS = Number(process.env['HOB_LEAKS_SETTLE_MS'] ?? 5_000);

// Taken before a test can put a false clock in their place.
const { setTimeout } = globalThis;
const now = performance.now.bind(performance);

// Node opens a pipe for signals when the first listener (or child) comes, and keeps it: let that be before the first test.
const ignore = (): void => undefined;
process.once('SIGCHLD', ignore).off('SIGCHLD', ignore);

/**
 * The types of `async_hooks` that are leaks. Requests are not here: they end by themselves. Nor is TLSWRAP: it lies over a
 * TCPWRAP, and its end is told only when it is collected, which the table below prevents.
 */
const KINDS: Readonly<Record<string, string>> = {
  TCPWRAP: 'socket',
  UDPWRAP: 'socket',
  PIPEWRAP: 'pipe',
  TCPSERVERWRAP: 'server',
  PIPESERVERWRAP: 'server',
  HTTP2SESSION: 'connection',
  PROCESSWRAP: 'child process',
  WORKER: 'worker',
  MESSAGEPORT: 'message port',
  FSEVENTWRAP: 'watcher',
  STATWATCHER: 'watcher',
  SIGNALWRAP: 'signal listener',
  Timeout: 'timer',
  Immediate: 'timer',
};

interface Made {
  kind: string;
  resource: object;
  // Not the stack of an error: under lockdown that is not to be had.
  where: readonly CallSiteObject[];
}

/** One for a process: test files that share a process load this file once for each of them. */
interface Watch {
  readonly made: Map<number, Made>;
  readonly tables: Map<string, () => number>;
  /** Set while this file makes timers of its own. */
  ours: boolean;
  /** Set while leftovers are waited for. */
  settling: boolean;
}

const shared = globalThis as { hobLeaks?: Watch };
shared.hobLeaks ??= watchProcess();
const watch = shared.hobLeaks;
const { made, tables } = watch;

function watchProcess(): Watch {
  const begun: Watch = { made: new Map(), tables: new Map(), ours: false, settling: false };
  createHook({
    init(id, type, _trigger, resource) {
      const kind = KINDS[type];
      if (kind === undefined || begun.ours) return;
      // A turn makes immediates by the thousand, and a call site costs a tenth of a turn. One that is left has run within
      // a round of the loop, or is made anew in each: then its line is known from the time of settling.
      const where = type === 'Immediate' && !begun.settling ? [] : getCallSites(12);
      begun.made.set(id, { kind, resource, where });
    },
    destroy(id) {
      begun.made.delete(id);
    },
    // Types of Node 24 do not know it yet. Without it each promise would be told of, too.
    ...{ trackPromises: false },
  }).enable();
  return begun;
}

/** Registers a count that has to be, after each test, what it was before (0 if registered within). Answers its end. */
export function trackTables(name: string, count: () => number): () => void {
  tables.set(name, count);
  return () => {
    if (tables.get(name) === count) tables.delete(name);
  };
}

beforeEach(({ onTestFinished }) => {
  const before = { made: new Set(made.keys()), descriptors: descriptors(), tables: counts() };

  // The first that is registered is the last to run: after the test's own hooks and its own `onTestFinished`.
  onTestFinished(async () => {
    killWaiting();
    let left = leftovers(before);
    watch.settling = true;
    for (const deadline = now() + SETTLE_MS; left.length > 0 && now() < deadline; ) {
      await settle();
      left = leftovers(before);
    }
    watch.settling = false;
    for (const name of [...tables.keys()]) if (!before.tables.has(name)) tables.delete(name);
    if (left.length > 0) throw new Error(`left over after the test:\n${left.map((line) => `  ${line}`).join('\n')}`);
  });
});

/** Kills the sandbox program that waits: it would stay for a minute. All that belongs to it must then go. */
function killWaiting(): void {
  for (const one of made.values()) {
    const { pid } = one.resource as { pid?: number };
    if (one.kind !== 'child process' || pid === undefined || isOver(one)) continue;
    if (one.where.some(({ scriptName }) => scriptName.endsWith('/caps-shell/src/drivers/ahead.ts'))) kill(pid);
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It is gone.
  }
}

type Before = {
  made: ReadonlySet<number>;
  descriptors: ReadonlyMap<string, string>;
  tables: ReadonlyMap<string, number>;
};

function leftovers(before: Before): string[] {
  const left: string[] = [];
  for (const [id, one] of made) {
    if (before.made.has(id) || isOver(one)) continue;
    const place = placeOf(one.where);
    // vitest's own timers (the time limit of a test, its console) come and go around the test.
    if (
      one.kind === 'timer' &&
      place !== undefined &&
      /node_modules\/(?:\.pnpm\/)?(?:vitest|@vitest|vite)[@/+]/.test(place)
    )
      continue;
    left.push(`${one.kind}${nameOf(one)}${place === undefined ? '' : `, made at ${place}`}`);
  }
  for (const [descriptor, target] of descriptors()) {
    if (before.descriptors.get(descriptor) !== target) left.push(`descriptor ${descriptor} -> ${target}`);
  }
  for (const [name, count] of counts()) {
    const was = before.tables.get(name) ?? 0;
    if (count !== was) left.push(`table ${name}: ${count} entries, ${was} before`);
  }
  return left;
}

/** `destroy` comes late for a timer that is cleared and for one that has fired. */
function isOver({ resource }: Made): boolean {
  return (resource as { _destroyed?: boolean })._destroyed === true;
}

function nameOf({ kind, resource }: Made): string {
  const { pid } = resource as { pid?: number };
  const { _idleTimeout: ms, _repeat: repeat } = resource as { _idleTimeout?: number; _repeat?: unknown };
  if (kind === 'child process' && pid !== undefined) return ` ${pid}`;
  if (kind === 'timer' && ms !== undefined) return repeat ? ` every ${ms} ms` : ` of ${ms} ms`;
  return '';
}

/** The innermost line that is neither Node's own nor ours. */
function placeOf(where: readonly CallSiteObject[]): string | undefined {
  const site = where.find(({ scriptName }) => scriptName !== '' && !/^node:|test\/leaks\.ts$/.test(scriptName));
  return site && `${site.scriptName}:${site.lineNumber}`;
}

/** Empty where there is no /proc: there the hook alone has to do. */
function descriptors(): Map<string, string> {
  const open = new Map<string, string>();
  if (process.platform !== 'linux') return open;
  // The C part of `caps-fs` opens this directory when it is loaded, and keeps it open. A second descriptor is a leak.
  const ofPart = `/proc/${process.pid}/fd`;
  let isSeen = false;
  for (const descriptor of readdirSync('/proc/self/fd')) {
    try {
      const target = readlinkSync(`/proc/self/fd/${descriptor}`);
      const isOfPart: boolean = target === ofPart && !isSeen;
      isSeen ||= isOfPart;
      // The event loop opens `anon_inode:` at first use, and keeps it.
      if (!target.startsWith('anon_inode:') && !isOfPart) open.set(descriptor, target);
    } catch {
      // The one that listed the directory is closed again.
    }
  }
  return open;
}

function counts(): Map<string, number> {
  return new Map([...tables].map(([name, count]) => [name, count()]));
}

async function settle(): Promise<void> {
  watch.ours = true;
  const pause = new Promise((done) => setTimeout(done, 5));
  watch.ours = false;
  await pause;
}
