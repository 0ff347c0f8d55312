/**
 * A worker thread that serves requests. A caller blocks until the result is there, or gets it later.
 *
 * Promise: the thread handles requests one after the other, in their order. If a method returns a promise, the
 * thread starts the next request before that promise settles. A waiting request keeps the process alive. The
 * thread alone does not. If the thread dies, all callers get an error. A caller that blocks gets it after
 * `longestMs`.
 */
import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import {
  MessageChannel,
  type MessagePort,
  parentPort,
  receiveMessageOnPort,
  Worker,
  workerData,
} from 'node:worker_threads';
import { CapError } from '../../core/errors.ts';
import { damaged, isDamage } from './sqlite.ts';

/** An error as data, because a class cannot cross. */
type ThreadReply = readonly [error: readonly [code: string, message: string] | undefined, value: unknown];
/** Flat, because each further list costs as much as some of its items. The id is 0 if the caller blocks. */
type Request = readonly [id: number, method: string, ...args: unknown[]];
type Methods = Readonly<Record<string, (...args: never[]) => unknown>>;

interface Data {
  readonly given: unknown;
  readonly answers: MessagePort;
  readonly signal: Int32Array;
}

/** The worker thread, as the thread that started it sees it. */
export interface Thread {
  /** Blocks until the result is there. Throws what the method threw. */
  ask(method: string, ...args: readonly unknown[]): unknown;
  /** Calls `then` once, with an error if there is one. */
  later(method: string, args: readonly unknown[], then: (error: CapError | undefined, value: unknown) => void): void;
  /** Adds a listener for the notices of the thread. They come without a request. */
  onNotice(listener: () => void): void;
  /** Closes the thread after all requests. */
  close(): Promise<void>;
}

/** A message with this number in place of the id of a request is a notice. */
const NOTICE = 0;

/** How long a caller blocks for one result, in ms. No working disk takes so long. */
const longestMs = 60_000;

const died = (): CapError =>
  new CapError(
    'unavailable',
    'the thread of the store has ended: start the host again, and look at its disk and memory',
  );

const errorFrom = (error: ThreadReply[0]): CapError | undefined => error && new CapError(error[0], error[1]);

/** The module of the store's thread. */
export const STORE_THREAD: URL = new URL('./store-thread.ts', import.meta.url);

/**
 * The hooks of a test runner must not run there, so no options are passed on. The thread prints nothing. By default
 * Node would join its output to that of the program, and make the program's pipes non-blocking for that.
 */
const workerOf = (module: URL, data: Data): Worker =>
  new Worker(module, {
    ...{ workerData: data, transferList: [data.answers], execArgv: [], stdout: true, stderr: true },
    ...(process.env['NODE_COMPILE_CACHE'] === undefined && cached()),
  });

/**
 * Returns an environment that names the cache of compiled modules, because a thread learns of it in no other way.
 * Without the cache, the thread strips the types of its modules and compiles them at each start. In a checkout this
 * takes 130 ms of processor time.
 */
function cached(): { readonly env?: NodeJS.ProcessEnv } {
  const folder = getCompileCacheDir();
  // Node adds a folder for its version and options to the folder that is named, so this names the parent.
  return folder === undefined ? {} : { env: { ...process.env, NODE_COMPILE_CACHE: dirname(folder) } };
}

/**
 * Starts a thread with `module`, which calls `serveThread`. Rejects with the error of its `open`.
 */
export async function startThread(module: URL, given: unknown): Promise<Thread> {
  const { port1: answers, port2 } = new MessageChannel();
  const signal = new Int32Array(new SharedArrayBuffer(4));
  const worker = workerOf(module, { given, answers: port2, signal });
  const waiting = new Map<number, (error: CapError | undefined, value: unknown) => void>();
  const listeners = new Set<() => void>();
  let asked = 0;
  let dead = false;

  const later: Thread['later'] = (method, args, then) => {
    if (dead) return then(died(), undefined);
    asked += 1;
    waiting.set(asked, then);
    worker.ref();
    if (method !== 'open') worker.postMessage([asked, method, ...args] satisfies Request);
  };
  worker.on('message', ([id, error, value]: readonly [number, ...ThreadReply]) => {
    if (id === NOTICE) {
      for (const listener of listeners) listener();
      return;
    }
    const then = waiting.get(id);
    waiting.delete(id);
    if (waiting.size === 0) worker.unref();
    then?.(errorFrom(error), value);
  });
  const over = new Promise<void>((resolve) => {
    worker.once('exit', () => {
      dead = true;
      answers.close();
      const told = [...waiting.values()];
      waiting.clear();
      for (const then of told) then(died(), undefined);
      resolve();
    });
  });
  worker.on('error', () => {}); // an exit follows

  try {
    // The first result comes without a request.
    await new Promise<void>((resolve, reject) => later('open', [], (error) => (error ? reject(error) : resolve())));
  } catch (error) {
    await worker.terminate();
    await over;
    throw error;
  }
  return Object.freeze({
    ask(method: string, ...args: readonly unknown[]) {
      if (dead) throw died();
      const before = Atomics.load(signal, 0);
      worker.postMessage([0, method, ...args] satisfies Request);
      // In a loop: the notification of the previous result may come late, while this one is already awaited.
      while (Atomics.load(signal, 0) === before) {
        if (Atomics.wait(signal, 0, before, longestMs) === 'timed-out') {
          dead = true;
          void worker.terminate(); // its later results could not be told from those of the next request
          throw died();
        }
      }
      const [error, value] = (receiveMessageOnPort(answers) as { readonly message: ThreadReply }).message;
      if (error !== undefined) throw errorFrom(error);
      return value;
    },
    later,
    onNotice: (listener: () => void) => void listeners.add(listener),
    async close() {
      if (!dead) {
        await new Promise<void>((resolve) => later('close', [], () => resolve()));
        await worker.terminate();
      }
      await over;
    },
  });
}

/**
 * Runs in the thread: calls `open`, which may return a promise, then serves its methods. `close` is one of them.
 * `notify` calls the listeners of `onNotice`.
 */
export function serveThread(open: (given: never, notify: () => void) => Methods | Promise<Methods>): void {
  const { given, answers, signal } = workerData as Data;
  const port = parentPort as MessagePort;
  let methods: Methods | undefined;
  const reply = (id: number, said: ThreadReply): void => {
    if (id !== 0) return port.postMessage([id, ...said]);
    answers.postMessage(said);
    Atomics.add(signal, 0, 1);
    Atomics.notify(signal, 0);
  };
  const answer = (id: number, act: () => unknown): void => {
    let value: unknown;
    try {
      value = act();
    } catch (error) {
      return reply(id, failed(error));
    }
    if (!(value instanceof Promise)) return reply(id, [undefined, value]);
    // Other requests run meanwhile.
    value.then(
      (later: unknown) => reply(id, [undefined, later]),
      (why: unknown) => reply(id, failed(why)),
    );
  };
  port.on('message', ([id, method, ...args]: Request) =>
    answer(id, () => Reflect.apply(methods?.[method] as never, undefined, args as never)),
  );
  const keep = (opened: Methods): void => {
    methods = opened;
  };
  answer(1, () => {
    const opened = open(given as never, () => port.postMessage([NOTICE]));
    return opened instanceof Promise ? opened.then(keep) : keep(opened);
  });
}

/** An error that is not one of ours comes from the disk, or is a bug. */
const trouble =
  'the store failed: check that its folder may be written and its disk has room, and start the host again';

function failed(error: unknown): ThreadReply {
  const known = isDamage(error) ? damaged() : error;
  return [known instanceof CapError ? [known.code, known.message] : ['unavailable', trouble], undefined];
}
