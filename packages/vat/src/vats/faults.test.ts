/**
 * Injects an internal error at every call site of turns, output commit, promises, alarms and drivers in turn.
 * It is logged, ends what it was about, and nothing else: no call of another vat is lost, and the process
 * goes on.
 */
import { inspect, isDeepStrictEqual } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { deep } from '../../../../test/depth.ts';
import { waitFor } from '../../test/patience.ts';
import { Actor } from '../actor/actor.ts';
import { LiveWakes } from '../actor/wake.ts';
import { Causes } from '../core/causes.ts';
import { Message } from '../core/message.ts';
import { VatPromise } from '../core/promise.ts';
import { ObjectStore } from '../durable/object-store.ts';
import { Outbox } from '../durable/outbox.ts';
import { Batch, OutputCommit } from '../durable/output-commit.ts';
import {
  CapError,
  type Definition,
  define,
  driver,
  E,
  type Far,
  openStore,
  openVats,
  promise,
  type Store,
  type Vats,
  vatTime,
  wakeAt,
} from '../index.ts';
import { cut } from '../turn/cut.ts';
import { Turn, under } from '../turn/turn.ts';

interface Bell {
  ring(n: number): number;
  wait(): number;
}
interface Counter {
  add(n: number): number;
  count(): number;
  fail(): void;
  /** Adds one in the vat of `to`, by a message that nobody waits for. */
  send(to: Far<Counter>): void;
  ask(to: Far<Counter>): Promise<number>;
  ring(): Promise<number>;
  wait(cause: string): Promise<unknown>;
  end(cause: string): Promise<void>;
  later(): void;
}
const Counter: Definition<Counter, [bell: Far<Bell>, count: number]> = define('Counter', (bcom, bell, count) => ({
  add: (n) => bcom(Counter(bell, count + n), count + n),
  count: () => count,
  fail: () => {
    throw new CapError('denied', 'not for you: ask for it');
  },
  send: (to) => {
    E.sendOnly(to).add(1);
  },
  ask: (to) => E(to).count() as never,
  ring: () => E(bell).ring(count) as never,
  wait: (cause) => under(cause, () => E(bell).wait()) as never,
  end: (cause) => cut(cause, new CapError('revoked', 'it was revoked: ask again')),
  later: () => {
    wakeAt(vatTime(), bcom.self, 'add', 100);
  },
}));

const names = ['first', 'second', 'third'] as const;
interface Home {
  readonly store: Store;
  readonly vats: Vats;
  readonly counters: readonly (readonly [Far<Counter>, Far<Counter>])[];
  readonly faults: unknown[];
}

async function open(): Promise<Home> {
  const store = await openStore({ memory: true });
  const faults: unknown[] = [];
  const vats = await openVats({ store, definitions: [Counter], onFault: (error) => void faults.push(error) });
  const counters: (readonly [Far<Counter>, Far<Counter>])[] = [];
  for (const name of names) {
    const bell = driver<Bell>(
      {
        ring: async ([n]) => n,
        wait: (_args, { signal }) =>
          new Promise((_, no) => signal.addEventListener('abort', () => no(signal.reason as Error))),
      },
      { name: `bell-${name}` },
    );
    const [a, b] = [vats.vat(name), vats.vat(`${name}-b`)];
    counters.push([
      await a.root('counter', () => Counter(bell as never, 0)),
      await b.root('counter', () => Counter(bell as never, 0)),
    ]);
  }
  await vats.settled();
  return { store, vats, counters, faults };
}

/** The outcome of `asked`, or `hangs`. */
async function outcome(asked: () => unknown): Promise<unknown> {
  let over: { readonly is: unknown } | undefined;
  (async () => await asked())().then(
    (value) => {
      over = { is: value };
    },
    (error: { code?: string }) => {
      over = { is: `refused ${error.code ?? 'error'}` };
    },
  );
  return (await waitFor(() => over !== undefined)) ? (over as unknown as { readonly is: unknown }).is : 'hangs';
}

/** The outcomes of one worker's calls, one after the other. None of them touches another worker. */
async function work([one, two]: readonly [Far<Counter>, Far<Counter>], name: string): Promise<readonly unknown[]> {
  const said: unknown[] = [];
  const note = async (asked: () => unknown): Promise<void> => void said.push(await outcome(asked));
  await note(() => E(one).add(1));
  await note(() => E(one).fail());
  await note(() => E(one).ring());
  await note(() => E(one).ask(two));
  await note(() => E(one).send(two));
  const waits = outcome(() => E(one).wait(`grant-${name}`));
  await note(() => E(one).add(1));
  await note(() => E(one).end(`grant-${name}`));
  // A revocation that failed is asked for again.
  if (said.at(-1) !== undefined) await note(() => E(one).end(`grant-${name}`));
  said.push(await waits);
  const later = again(() => promise<number>());
  const led = outcome(() => later.promise);
  const five = E(two).add(5);
  await note(() => again(() => later.resolver.resolve(five)));
  said.push(await led);
  for (let n = 0; n < 3; n += 1) await note(() => E(one).add(1));
  await note(() => E(one).later());
  // Until the alarm has come, or it is clear that it does not. The message that nobody waits for came long
  // ago.
  for (let n = 0; n < 300 && !(((await outcome(() => E(one).count())) as number) >= 100); n += 1)
    await new Promise((resolve) => setTimeout(resolve, 1));
  for (const counter of [one, two]) await note(() => E(counter).count());
  return said;
}

/** The host program is told at once, and tries again. */
function again<T>(body: () => T): T {
  try {
    return body();
  } catch {
    return body();
  }
}

type Method = (this: unknown, ...args: unknown[]) => unknown;
interface Site {
  readonly name: string;
  readonly on: Record<string, Method>;
  readonly method: string;
}
const classes = { Actor, Batch, Causes, LiveWakes, Message, ObjectStore, Outbox, OutputCommit, Turn, VatPromise };
/**
 * They call only fenced functions and the clock. An error at their own first line would be an error of the
 * fence.
 */
const isFence: ReadonlySet<string> = new Set(['Batch.done', 'OutputCommit.afterTurn']);
/** An error in them is the error of a behaviour: it goes to whoever waits for the turn, if anybody does. */
const isBehaviour: ReadonlySet<string> = new Set(['Actor.run', 'Actor.near', 'Actor.become']);
const sites: readonly Site[] = Object.entries(classes).flatMap(([name, made]) =>
  Object.entries(Object.getOwnPropertyDescriptors(made.prototype))
    .filter(([method, { value }]) => method !== 'constructor' && typeof value === 'function')
    .filter(([method]) => !isFence.has(`${name}.${method}`))
    .map(([method]) => ({
      name: `${name}.${method}`,
      on: made.prototype as unknown as Record<string, Method>,
      method,
    })),
);

/** Throws from the `nth` call on the site, once; 0: never, only counts. */
function inject({ on, method, name }: Site, nth: number) {
  const real = on[method] as Method;
  const injected = new Error(`a fault in ${name}, call ${nth}`);
  let calls = 0;
  on[method] = function (...args) {
    calls += 1;
    if (calls === nth) throw injected;
    return Reflect.apply(real, this, args);
  };
  return { injected, calls: () => calls, restore: () => void (on[method] = real) };
}

const uncaught: unknown[] = [];
const watch = (error: unknown): void => void uncaught.push(error);

/** Does all the work in a new store, with a fault or without, and looks at what is left. */
async function run(site?: Site, nth = 0) {
  const home = await open();
  const fault = site === undefined ? undefined : inject(site, nth);
  const outcomes = await Promise.all(home.counters.map((pair, n) => work(pair, names[n] as string)));
  fault?.restore();
  const goesOn = await Promise.all(home.counters.flat().map((counter) => outcome(() => E(counter).add(0))));
  const settled = await outcome(() => home.vats.settled());
  const closed = await outcome(() => home.vats.close());
  const again = await openVats({ store: home.store, definitions: [Counter] });
  const kept = await Promise.all(
    names.map(async (name) => await E(await again.vat(name).root<Counter>('counter', gone)).count()),
  );
  await again.close();
  await home.store.close();
  return { outcomes, goesOn, settled, closed, kept, faults: home.faults, fault };
}

function gone(): never {
  throw new Error('the store has lost it');
}

let reference: Promise<Awaited<ReturnType<typeof run>>> | undefined;

test.for(Object.keys(classes) as (keyof typeof classes)[])(
  'an internal error at any call of %s ends one turn or one call',
  async (name) => {
    process.on('uncaughtExceptionMonitor', watch);
    onTestFinished(() => void process.off('uncaughtExceptionMonitor', watch));
    reference ??= run();
    const without = await reference;
    expect(without).toMatchObject({ faults: [], settled: undefined, closed: undefined });
    const wrong: string[] = [];
    const check = (ok: boolean, what: string, found: unknown): void => {
      if (!ok) wrong.push(`${what}: ${inspect(found)}`);
    };
    for (const site of sites.filter(({ on }) => on === (classes[name] as { prototype: unknown }).prototype)) {
      const calls = (await run(site)).fault?.calls() ?? 0;
      const every = Array.from({ length: calls }, (_, n) => n + 1);
      for (const nth of every.filter((n) => deep || [1, Math.ceil(calls / 2), calls].includes(n))) {
        const seen = await run(site, nth);
        const { injected } = seen.fault as NonNullable<typeof seen.fault>;
        const at = `${site.name}, call ${nth} of ${calls}`;
        const hit = seen.outcomes.filter((said, n) => !isDeepStrictEqual(said, without.outcomes[n]));
        check(hit.length <= 1, `${at}: vats that lost a call`, hit);
        check(!hit.flat().includes('hangs'), `${at}: a call is never answered`, hit);
        check(seen.settled === undefined, `${at}: the store does not settle`, seen.settled);
        check(seen.closed === undefined, `${at}: the vats do not close`, seen.closed);
        check(!seen.goesOn.includes('hangs'), `${at}: a vat does not go on`, seen.goesOn);
        check(uncaught.splice(0).length === 0, `${at}: uncaught`, '');
        check(hit.length === 0 || isBehaviour.has(site.name) || seen.faults.includes(injected) || inspect(hit).includes('refused error'), `${at}: nobody was told`, seen.faults); // biome-ignore format: one line
      }
    }
    expect(wrong).toEqual([]);
  },
);
