/**
 * The set-up of most tests here: vats with a test clock, an object to protect, and a reader of the ledger.
 */
import {
  type AnyDefinition,
  CapError,
  captp,
  type Definition,
  define,
  driver,
  E,
  exportLedger,
  type Far,
  memoryPair,
  openStore,
  openVats,
  type Store,
  spawn,
  type Vat,
  type Vats,
} from '@hob/vat';
import { type TestClock, testClock } from '@hob/vat/testing';
import type { Connected } from '@hob/vat/wire';
import { onTestFinished } from 'vitest';
import { definitions } from '../src/index.ts';

export interface Box {
  read(): string;
  write(text: string): void;
  fail(): never;
  open(name: string): Box;
  /** Returns objects inside data. */
  deep(): { readonly list: readonly { readonly inner: Box }[]; readonly self: Box };
  /** Returns its argument. */
  give(what: unknown): unknown;
  /** Calls a method of its argument. */
  call(what: object, method: string, ...args: readonly unknown[]): unknown;
  same(a: unknown, b: unknown): boolean;
  isSelf(what: unknown): boolean;
}
export const Box: Definition<Box, [text: string]> = define('Box', (bcom, text) => ({
  read: () => text,
  write: (next) => bcom(Box(next)),
  fail: (): never => {
    throw new CapError('NOT_FOUND', 'there is no such file');
  },
  open: (name) => spawn(Box(`${text}/${name}`)),
  deep: () => ({ list: [{ inner: spawn(Box('inner')) }], self: bcom.self }),
  give: (what) => what,
  call: (what, method, ...args) =>
    (E(what) as unknown as Record<string, (...args: readonly unknown[]) => unknown>)[method]?.(...args),
  same: (a, b) => a === b,
  isSelf: (what) => what === bcom.self,
}));

export interface World {
  readonly clock: TestClock;
  readonly store: Store;
  readonly vats: Vats;
  readonly vat: Vat;
  readonly box: Far<Box>;
}

/** Ends with the test. With `durable`, its vats are durable and have these definitions too. */
export async function world(durable?: readonly AnyDefinition[]): Promise<World> {
  const clock = testClock();
  const store = await openStore({ memory: true });
  const vats = await openVats({
    store,
    clock,
    ...(durable === undefined ? {} : { definitions: [...definitions, Box, ...durable] }),
  });
  onTestFinished(async () => {
    await vats.close();
    await store.close();
  });
  return { clock, store, vats, vat: vats.vat('grants'), box: await vats.vat('boxes').spawn(Box('box')) };
}

export interface Giving<T> {
  give(): Far<T>;
}
/** A peer that is given `granted`, over a wire that ends with the test. */
export function peerOf<T extends object>(
  granted: object,
): { readonly host: Connected<object>; readonly client: Connected<Giving<T>> } {
  const [a, b] = memoryPair();
  const host = captp(a, { bootstrap: driver<{ give(): object }>({ give: () => granted }) });
  const client = captp<Giving<T>>(b);
  onTestFinished(async () => {
    client.close();
    await Promise.all([client.closed, host.closed]);
  });
  return { host, client };
}

export const code = (promise: PromiseLike<unknown> | undefined): Promise<string> =>
  Promise.resolve(promise).then(
    () => 'ok',
    (error: { code?: string }) => error.code ?? String(error),
  );

/** Sends a message with any method name. */
export const say = (cap: unknown, method: string, ...args: readonly unknown[]): Promise<unknown> =>
  method === ''
    ? (E(cap as object) as unknown as (...args: readonly unknown[]) => Promise<unknown>)(...args)
    : ((E(cap as object) as unknown as Record<string, (...args: readonly unknown[]) => Promise<unknown>>)[method]?.(
        ...args,
      ) as Promise<unknown>);

/** Ledger lines without the fields that differ from run to run. */
export async function lines(store: Store, kind?: string): Promise<readonly Record<string, unknown>[]> {
  const all: Record<string, unknown>[] = [];
  for await (const line of exportLedger(store)) {
    const { v: _, seq: __, t: ___, vt: ____, prev: _____, crc: ______, ...rest } = JSON.parse(line);
    if (kind === undefined ? rest.k !== 'genesis' : rest.k === kind) all.push(rest);
  }
  return all;
}

export const jobs = async (count = 20): Promise<void> => {
  for (let i = 0; i < count; i += 1) await new Promise((resolve) => setImmediate(resolve));
};

interface SlowCall {
  readonly signal: AbortSignal;
  answer(value: unknown): void;
  readonly cause: readonly string[];
}
export interface Slow {
  slow(): unknown;
  read(): string;
}
/** A driver that returns when it is told to. */
export function slowDriver(): { readonly cap: Far<Slow>; readonly calls: SlowCall[] } {
  const calls: SlowCall[] = [];
  const cap = driver<Slow>({
    read: () => 'read',
    slow: (_args, { signal, cause }) =>
      new Promise<unknown>((answer) => {
        void signal.aborted; // made here: a driver that looks
        calls.push({ signal, answer, cause });
      }),
  });
  return { cap, calls };
}
