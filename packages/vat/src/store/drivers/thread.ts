/**
 * A thread of ours that answers: at once, with the asker standing still until it does, or later.
 *
 * Promise: it does one thing after the other, in the order of asking, whichever way it was asked, save what it answers with a
 * promise: that goes on beside. What is waited for keeps the process alive; the thread alone does not. If it dies, all who wait are told.
 */
import {
  MessageChannel,
  type MessagePort,
  parentPort,
  receiveMessageOnPort,
  Worker,
  workerData,
} from 'node:worker_threads';
import { CapError } from '../../core/errors.ts';

/** A refusal as data, since a class does not cross. */
type Answer = readonly [error: readonly [code: string, message: string] | undefined, value: unknown];
/** Flat: each list more costs as much as some of its items. 0 for one that is waited for. */
type Request = readonly [id: number, method: string, ...args: unknown[]];
type Methods = Readonly<Record<string, (...args: never[]) => unknown>>;

interface Data {
  readonly given: unknown;
  readonly answers: MessagePort;
  readonly signal: Int32Array;
}

export interface Thread {
  /** Stands still until it has answered; throws what it threw. */
  ask(method: string, ...args: readonly unknown[]): unknown;
  /** Calls back once, with an error where there is one. */
  later(method: string, args: readonly unknown[], then: (error: CapError | undefined, value: unknown) => void): void;
  /** After all that was asked. */
  close(): Promise<void>;
}

/** Longer than any disk takes that still works. */
const longestMs = 60_000;

const died = (): CapError =>
  new CapError('unavailable', 'the thread of the store is gone: start the host again, and look at its disk and memory');

const errorFrom = (error: Answer[0]): CapError | undefined => error && new CapError(error[0], error[1]);

/** As this module is called: source, or packed. */
const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js';

/** Starts the module `name` beside this one, which calls `serveThread`; breaks with what its `open` throws. */
export async function startThread(name: string, given: unknown): Promise<Thread> {
  const { port1: answers, port2 } = new MessageChannel();
  const signal = new Int32Array(new SharedArrayBuffer(4));
  const data: Data = { given, answers: port2, signal };
  // No options of ours: a test runner's hooks have nothing to do in there. It prints nothing; left to itself, Node would join its
  // output to the program's, and for that make the program's pipes non-blocking.
  const worker = new Worker(new URL(`./${name}.${ending}`, import.meta.url), {
    workerData: data,
    transferList: [port2],
    execArgv: [],
    stdout: true,
    stderr: true,
  });
  const waiting = new Map<number, (error: CapError | undefined, value: unknown) => void>();
  let asked = 0;
  let dead = false;

  const later: Thread['later'] = (method, args, then) => {
    if (dead) return then(died(), undefined);
    asked += 1;
    waiting.set(asked, then);
    worker.ref();
    if (method !== 'open') worker.postMessage([asked, method, ...args] satisfies Request);
  };
  worker.on('message', ([id, error, value]: readonly [number, ...Answer]) => {
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
    // The first answer comes unasked.
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
      // Not once: the bell of the answer before may ring late, when this one is waited for already.
      while (Atomics.load(signal, 0) === before) {
        if (Atomics.wait(signal, 0, before, longestMs) === 'timed-out') {
          dead = true;
          void worker.terminate(); // what it still does cannot be told apart from what comes next
          throw died();
        }
      }
      const [error, value] = (receiveMessageOnPort(answers) as { readonly message: Answer }).message;
      if (error !== undefined) throw errorFrom(error);
      return value;
    },
    later,
    async close() {
      if (!dead) {
        await new Promise<void>((resolve) => later('close', [], () => resolve()));
        await worker.terminate();
      }
      await over;
    },
  });
}

/** In the thread: makes what it serves from what was given, then answers. `close` is one of the methods. */
export function serveThread(open: (given: never) => Methods): void {
  const { given, answers, signal } = workerData as Data;
  const port = parentPort as MessagePort;
  let methods: Methods | undefined;
  const answer = (act: () => unknown): Answer => {
    try {
      return [undefined, act()];
    } catch (error) {
      return failed(error);
    }
  };
  const opened = answer(() => {
    methods = open(given as never);
  });
  port.on('message', ([id, method, ...args]: Request) => {
    const [error, value] = answer(() => Reflect.apply(methods?.[method] as never, undefined, args as never));
    if (value instanceof Promise) {
      // Others have their go meanwhile.
      value.then(
        (later: unknown) => port.postMessage([id, undefined, later]),
        (why: unknown) => port.postMessage([id, ...failed(why)]),
      );
      return;
    }
    if (id !== 0) return port.postMessage([id, error, value]);
    answers.postMessage([error, value] satisfies Answer);
    Atomics.add(signal, 0, 1);
    Atomics.notify(signal, 0);
  });
  port.postMessage([1, ...opened]);
}

/** What is no refusal of ours is the disk's, or a bug. */
const trouble =
  'the store failed: check that its folder may be written and its disk has room, and start the host again';

const failed = (error: unknown): Answer => [
  error instanceof CapError ? [error.code, error.message] : ['unavailable', trouble],
  undefined,
];
