/**
 * Injects an internal error at every call site of a session in turn. The connection in which it happens
 * closes, and the error is recorded here. Other connections lose no call, and no error is uncaught.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { inspect, isDeepStrictEqual } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { deep } from '../../../../test/depth.ts';
import {
  type ByteSource,
  CapError,
  type Definition,
  define,
  driver,
  E,
  type Far,
  openStore,
  openVats,
  promise,
  release,
  type Vats,
} from '../index.ts';
import { type Connected, captp, type DialectName, dialects } from './captp.ts';
import { defaultLimits } from './session/limits.ts';
import { memoryPair } from './transport/memory-pair.ts';

// ---- what the sessions do ---------------------------------------------------------------------------------

interface Hears {
  hear(value: unknown): unknown;
}
interface Desk {
  echo(value: unknown): unknown;
  fail(): unknown;
  ask(whom: unknown): unknown;
  tell(whom: unknown): void;
  source(): ByteSource;
  keep(value: unknown): void;
  kept(): unknown;
}
const Desk: Definition<Desk, [source: object, kept: unknown]> = define('Desk', (bcom, source, kept) => ({
  echo: (value) => value,
  fail: () => {
    throw new CapError('denied', 'not for you: ask for it');
  },
  ask: (whom) => E(whom as Far<Hears>).hear('asked'),
  tell: (whom) => {
    E.sendOnly(whom as Far<Hears>).hear('told');
  },
  source: () => source as ByteSource,
  keep: (value) => bcom(Desk(source, value)),
  kept: () => kept,
}));

/** One connection: both ends are ours, and a fault may be at either. */
interface Pair {
  readonly client: Connected<Desk>;
  readonly host: Connected<object>;
  readonly faults: unknown[];
}

interface House {
  readonly vats: Vats;
  readonly pairs: readonly Pair[];
  close(): Promise<void>;
}

const names = ['first', 'second', 'third'] as const;

async function open(dialect: DialectName): Promise<House> {
  const store = await openStore({ memory: true });
  const vats = await openVats({ store, definitions: [Desk] });
  const pairs: Pair[] = [];
  for (const name of names) {
    let left = 3;
    const source = driver<ByteSource>(
      {
        next: () => {
          left -= 1;
          return Promise.resolve(left < 0 ? undefined : new Uint8Array(8).fill(left));
        },
        return: () => Promise.resolve(),
      },
      { name: `source-${name}` },
    );
    const desk = await vats.vat(name).root('desk', () => Desk(source, undefined));
    const faults: unknown[] = [];
    const observe = ({ error }: { readonly error: unknown }): void => void faults.push(error);
    const [a, b] = memoryPair();
    const host = captp<object>(a, { dialect, bootstrap: desk, observe });
    const client = captp<Desk>(b, { dialect, observe, limits: { frameBytes: 100_000 } });
    pairs.push({ client, host, faults });
  }
  return {
    vats,
    pairs,
    close: async () => {
      for (const { client } of pairs) client.close();
      await quiet();
      await vats.close();
      await store.close();
    },
  };
}
const quiet = async (): Promise<void> => {
  for (let i = 0; i < 12; i += 1) await new Promise((resolve) => setImmediate(resolve));
};

/**
 * Nothing outside is involved: a result that is missing after so many rounds of the event loop never comes.
 */
async function hangs(): Promise<undefined> {
  for (let i = 0; i < 300; i += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Returns the outcome of each call, in the order of the calls. Every call comes to an end. */
async function work({ client }: Pair): Promise<readonly string[]> {
  const desk = client.bootstrap;
  const said: Promise<string>[] = [];
  const note = (asked: unknown): void =>
    void said.push(
      Promise.resolve(asked).then(
        (value) =>
          typeof value === 'object' ? Object.prototype.toString.call(value).replace(/\d+/, '') : String(value),
        (error: { code?: string }) => `refused ${error.code}`,
      ),
    );
  const local = driver<Hears>({ hear: ([value]) => Promise.resolve(value) });
  note(E(desk).echo('data'));
  note(E(desk).fail());
  note(E(E(desk).fail() as unknown as Far<ByteSource>).return());
  note(E(desk).echo([1, new Uint8Array(5), new CapError('expired', 'as a value'), 3n]));
  note(E(desk).ask(local));
  E.sendOnly(desk).tell(local);
  // Comes home, behind what was sent along the answer.
  const home = E(desk).echo(local) as unknown as Far<Hears>;
  note(E(home).hear('along'));
  note(home);
  const [later, never] = [promise<unknown>(), promise<unknown>()];
  note(E(desk).echo(later.promise));
  note(E(desk).ask(later.promise));
  note(E(desk).echo(never.promise));
  note(E(desk).echo('x'.repeat(200_000)));
  note(E(desk).ask(E(desk).echo(local)));
  const led = promise<unknown>();
  note(E(desk).echo(led.promise));
  led.resolver.resolve(E(desk).echo('led'));
  await quiet();
  later.resolver.resolve(local);
  never.resolver.break(new CapError('expired', 'as asked'));
  const source = E(desk).source() as unknown as Far<ByteSource>;
  note(E(source).next());
  note(E(source).return());
  note(E(desk).keep(local));
  note(E(E(desk).kept() as unknown as Far<Hears>).hear('kept'));
  const outcome = await Promise.all(said);
  const found = (await E(desk)
    .source()
    .then(
      (value) => value,
      () => undefined,
    )) as Far<ByteSource> | undefined;
  if (found !== undefined) release(found as Far<unknown>);
  // Left open: what the end has to break, and to give back.
  const open_ = promise<unknown>();
  const waits = Promise.resolve(E(desk).echo(open_.promise)).then(
    () => 'answered',
    (error: { code?: string }) => `refused ${error.code}`,
  );
  const other = E(desk).source() as unknown as Far<ByteSource>;
  await E(other)
    .next()
    .then(
      () => {},
      () => {},
    );
  await quiet();
  client.close();
  open_.resolver.resolve('too late');
  return [...outcome, await waits];
}

// ---- where it goes wrong ----------------------------------------------------------------------------------

type Method = (this: unknown, ...args: unknown[]) => unknown;
interface Site {
  readonly name: string;
  readonly on: Record<string, Method>;
  readonly method: string;
}

/** Every method of every class of the wire that has no fence of its own. */
async function sites(dialect: DialectName): Promise<readonly Site[]> {
  const prototypes = new Map<object, string>();
  const none = (): never => {
    throw new Error('not used');
  };
  const slots = { give: none, take: none };
  const listener = Object.fromEntries(
    ['deliver', 'bootstrap', 'answer', 'refuse', 'resolve', 'break', 'drop', 'done', 'abort'].map((name) => [
      name,
      none,
    ]),
  );
  const dialectSession = dialects[dialect].open(slots, listener as never, defaultLimits, none);
  prototypes.set(Object.getPrototypeOf(dialectSession) as object, 'DialectSession');
  for (const folder of ['session', 'dialects'])
    for (const file of readdirSync(new URL(folder, import.meta.url))) {
      if (!file.endsWith('.ts') || file.endsWith('.test.ts')) continue;
      const module = (await import(`./${folder}/${file.slice(0, -3)}.ts`)) as Record<string, unknown>;
      for (const [name, value] of Object.entries(module))
        if (typeof value === 'function' && typeof value.prototype === 'object' && value.prototype !== null)
          prototypes.set(value.prototype as object, name);
    }
  const found: Site[] = [];
  for (const [on, name] of prototypes) {
    if (name === 'Fence' || on instanceof Error) continue;
    for (const [method, { value }] of Object.entries(Object.getOwnPropertyDescriptors(on)))
      if (method !== 'constructor' && typeof value === 'function' && !value.name.startsWith('fenced '))
        found.push({ name: `${name}.${method}`, on: on as Record<string, Method>, method });
  }
  return found;
}

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
  return {
    injected,
    calls: () => calls,
    restore: () => {
      on[method] = real;
    },
  };
}

const uncaught: unknown[] = [];
const watch = (error: unknown): void => void uncaught.push(error);

for (const dialect of ['hob.1', 'captp'] as const)
  test(`${dialect}: a fault at any call site ends its own connection only, and is noted with its stack`, async () => {
    process.on('uncaughtExceptionMonitor', watch);
    onTestFinished(() => void process.off('uncaughtExceptionMonitor', watch));
    const run = async (prepare: () => void = () => {}) => {
      const house = await open(dialect);
      prepare();
      const outcomes = await Promise.all(house.pairs.map((pair) => Promise.race([work(pair), hangs()])));
      const closed = await Promise.all(house.pairs.map(({ host }) => Promise.race([host.closed, hangs()])));
      await house.close();
      const left = house.pairs.flatMap(({ host, client }) => [...Object.values(host.stats()), ...Object.values(client.stats())]); // biome-ignore format: one line
      return { outcomes, closed, faults: house.pairs.map(({ faults }) => faults), left: left.filter((n) => n !== 0) };
    };
    const reference = await run();
    expect(reference.faults.flat()).toEqual([]);
    let tried = 0;
    const wrong: string[] = [];
    // Counted from when the connections are open: who opens one gets the error himself.
    const all = await sites(dialect);
    const counts = new Map<Site, number>();
    let counting: readonly ReturnType<typeof inject>[] = [];
    await run(() => {
      counting = all.map((site) => inject(site, 0));
    });
    for (const [i, { calls, restore }] of counting.entries()) {
      counts.set(all[i] as Site, calls());
      restore();
    }
    for (const site of all) {
      const calls = counts.get(site) as number;
      for (const nth of deep ? new Set([1, Math.ceil(calls / 2)]) : [1]) {
        if (nth < 1 || nth > calls) continue;
        tried += 1;
        let fault: ReturnType<typeof inject> | undefined;
        const seen = await run(() => {
          fault = inject(site, nth);
        });
        fault?.restore();
        if (fault === undefined || fault.calls() < nth) continue;
        const { injected } = fault;
        const where = `${site.name}, call ${nth} of ${calls}`;
        const hit = seen.faults.filter((faults) => faults.includes(injected));
        const check = (ok: boolean, what: string, found: unknown): void => {
          if (!ok) wrong.push(`${where}: ${what}: ${inspect(found)}`);
        };
        check(hit.length === 1, 'connections that noted it', hit.length);
        for (const [i, faults] of seen.faults.entries()) {
          if (faults.includes(injected)) continue;
          check(isDeepStrictEqual(seen.outcomes[i], reference.outcomes[i]), 'another lost a call', seen.outcomes[i]);
          check(faults.length === 0, 'faults of another', faults);
        }
        // The code that empties the tables runs last. Nothing after it could empty them instead.
        const empties = site.method === 'clear';
        for (const outcome of seen.outcomes)
          check(outcome !== undefined || site.name === 'Questions.clear', 'a call is never answered', outcome);
        for (const why of seen.closed)
          check(why !== undefined && !why.reason.includes('a fault in'), 'said to the peer', why);
        check(seen.left.length === 0 || empties, 'left in the tables', seen.left);
        const unseen = uncaught.splice(0);
        check(unseen.length === 0, 'uncaught', unseen);
      }
    }
    expect(wrong).toEqual([]);
    expect(tried).toBeGreaterThan(deep ? 100 : 50);
  }, 600_000);

// ---- no way around it -------------------------------------------------------------------------------------

test('nothing of the wire hands out a callback, an answer or a target but through the fence', () => {
  const around: readonly RegExp[] = [
    /from '.*drivers\/loop\.ts'/,
    /\bwhen\b[^;]*\} from '.*barrier\.ts'/,
    /\b(?:setTimeout|setInterval|setImmediate|queueMicrotask)\(/,
    /\.(?:then|catch|finally)\(/,
    /(?<!fence)\.watch(?:Outside|Shortening|Decider)?\(/,
    /\.(?:on|once|addEventListener)\(/,
    /\bFinalizationRegistry\b/,
    /\b(?:extends Target|implements (?:ResultSink|Asked))\b/,
  ];
  /** Each is one of the few that may, for the reason that stands there. */
  const excused: Readonly<Record<string, readonly string[]>> = {
    // The fence.
    'fence.ts': ['drivers/loop.ts', 'barrier.ts', 'promise.watch'],
    // Calls `Session.collected`, which is an entry.
    'collected.ts': ['FinalizationRegistry'],
    // Their classes are fenced at the end of the file.
    'answer.ts': ['implements ResultSink'],
    'imports.ts': ['extends Target'],
  };
  const found: string[] = [];
  for (const folder of ['.', 'session', 'dialects'])
    for (const file of readdirSync(new URL(folder, import.meta.url))) {
      if (!file.endsWith('.ts') || file.endsWith('.test.ts')) continue;
      const text = readFileSync(new URL(`${folder}/${file}`, import.meta.url), 'utf8');
      for (const [at, line] of text.split('\n').entries()) {
        if (/^\s*(?:\*|\/\/|\/\*)/.test(line)) continue;
        if (!around.some((way) => way.test(line)) || excused[file]?.some((text) => line.includes(text)) === true)
          continue;
        found.push(`${folder}/${file}:${at + 1}: ${line.trim()}`);
      }
    }
  expect(found).toEqual([]);
  for (const file of ['answer.ts', 'imports.ts', 'session.ts'])
    expect(readFileSync(new URL(`session/${file}`, import.meta.url), 'utf8'), file).toContain('\nfenced(');
});
