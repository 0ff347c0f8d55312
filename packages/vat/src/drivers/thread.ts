/**
 * A thread of ours that answers: at once, with the asker standing still until it does, or later.
 *
 * Promise: it does one thing after the other, in the order of asking, whichever way it was asked. What is waited for keeps the
 * process alive; the thread alone does not. If it dies, all who wait are told.
 */
import {
  MessageChannel,
  type MessagePort,
  parentPort,
  receiveMessageOnPort,
  Worker,
  workerData,
} from 'node:worker_threads';
import { CapError } from '../errors.ts';
import { mutant } from './mutant.ts';

/** A refusal as data, since a class does not cross. */
type Answer = readonly [error: readonly [code: string, message: string] | undefined, value: unknown];
/** Flat: each list more costs as much as some of its items. */
type Request = readonly [now: boolean, method: string, ...args: unknown[]];
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

/** Not a refusal of ours, so the disk's, or a bug. */
const failed = 'the store failed: check that its folder may be written and its disk has room, and start the host again';

const errorFrom = (error: Answer[0]): CapError | undefined => error && new CapError(error[0], error[1]);

/** As this module is called: source, or packed. */
const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js';

/** Starts the module `name` beside this one, which calls `serveThread`; breaks with what its `open` throws. */
export async function startThread(name: string, given: unknown): Promise<Thread> {
  const { port1: answers, port2 } = new MessageChannel();
  const signal = new Int32Array(new SharedArrayBuffer(4));
  const data: Data = { given, answers: port2, signal };
  // No options of ours: a test runner's hooks have nothing to do in there.
  const worker = new Worker(new URL(`./${name}.${ending}`, import.meta.url), {
    workerData: data,
    transferList: [port2],
    execArgv: [],
  });
  const waiting: ((error: CapError | undefined, value: unknown) => void)[] = [];
  let dead = false;

  const later: Thread['later'] = (method, args, then) => {
    if (dead) return then(died(), undefined);
    waiting.push(then);
    worker.ref();
    if (method !== 'open') worker.postMessage([false, method, ...args] satisfies Request);
  };
  worker.on('message', ([error, value]: Answer) => {
    const then = waiting.shift();
    if (waiting.length === 0) worker.unref();
    then?.(errorFrom(error), value);
  });
  const over = new Promise<void>((resolve) => {
    worker.once('exit', () => {
      dead = true;
      answers.close();
      for (const then of waiting.splice(0)) then(died(), undefined);
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
      worker.postMessage([true, method, ...args] satisfies Request);
      // The notice of the answer before this one may come as late as here: only the count says that ours is there.
      while (Atomics.load(signal, 0) === before) {
        if (Atomics.wait(signal, 0, before, longestMs) === 'timed-out') {
          dead = true;
          void worker.terminate(); // what it still does cannot be told apart from what comes next
          throw died();
        }
        if (mutant('thread-notice')) break;
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
      return [error instanceof CapError ? [error.code, error.message] : ['unavailable', failed], undefined];
    }
  };
  const opened = answer(() => {
    methods = open(given as never);
  });
  port.on('message', ([now, method, ...args]: Request) => {
    const said = answer(() => Reflect.apply(methods?.[method] as never, undefined, args as never));
    if (!now) return port.postMessage(said);
    answers.postMessage(said);
    Atomics.add(signal, 0, 1);
    Atomics.notify(signal, 0);
  });
  port.postMessage(opened);
}
