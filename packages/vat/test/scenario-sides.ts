/**
 * Two ends of a wire that scenarios can be played on: ours, and the published `@endo/captp`.
 *
 * The host's end offers the fixture: a few objects that do as they are told. Whoever writes a peer in
 * another language writes a fixture, and a way to send, and can play all of them.
 */
import { makeCapTP } from '@endo/captp';
import { type Connection, captp, type DialectName } from '../src/captp/captp.ts';
import type { Duplex } from '../src/captp/session/duplex.ts';
import { CapError, type Definition, define, driver, E, type Far, promise, release, type Vat } from '../src/index.ts';
import { ask } from './wire.ts';

export interface Decided {
  readonly promise: Promise<unknown>;
  resolve(value: unknown): void;
  break(code: string): void;
}

/** One who has entered. */
export interface Side {
  /** The object that the host offers. */
  readonly fixture: unknown;
  send(to: unknown, method: string, ...args: readonly unknown[]): Promise<unknown>;
  sendOnly(to: unknown, method: string, ...args: readonly unknown[]): void;
  far(methods: Readonly<Record<string, (...args: never[]) => unknown>>): object;
  promise(): Decided;
  /** Says that a reference is no longer needed, where such a peer can. */
  release(reference: unknown): void;
  /** Where it is ours. */
  readonly connection: Connection | undefined;
}

/** The behaviour of the fixture, in terms of its side. */
export type Methods = Readonly<Record<string, (...args: never[]) => unknown>>;

/**
 * `self()`: itself. `echo(x)`: x. `list(…xs)`: all of them. `fail(code)`: breaks. `never()`: is not answered.
 * `log()`: an object with `add(line)` and `lines()`. `tell(target, method, args)`: calls it and returns what
 * that answers. `tellOnly`: the same without an answer. `keep(name, [x])`, `kept(name)`: `[x]`, for whoever
 * asks. `promise(name)`: `[promise]`, `resolve(name, x)`, `break(name, code)`. `outcome([promise])`: waits
 * for it and says what it became. `same(x, y)`. `impassable()`: an object that cannot be passed.
 */
export function fixture(
  side: Pick<Side, 'send' | 'sendOnly' | 'promise'>,
  far: (methods: Methods) => object,
  log: () => unknown,
  fails: (code: string) => Error,
  list: (...values: unknown[]) => readonly unknown[] = (...values) => values,
): object {
  const kept = new Map<string, unknown>();
  const promises = new Map<string, Decided>();
  const made: object = far({
    self: () => made,
    echo: (x: unknown) => x,
    list: (...xs: unknown[]) => list(...xs),
    fail: (code: string) => {
      throw fails(code);
    },
    never: () => new Promise<never>(() => {}),
    log,
    tell: (target: unknown, method: string, args: unknown[]) => side.send(target, method, ...args),
    tellOnly: (target: unknown, method: string, args: unknown[]) => side.sendOnly(target, method, ...args),
    keep: (name: string, [x]: [unknown]) => void kept.set(name, x),
    kept: (name: string) => list(kept.get(name)),
    promise: (name: string) => {
      const decided = side.promise();
      promises.set(name, decided);
      return list(decided.promise);
    },
    resolve: (name: string, x: unknown) => promises.get(name)?.resolve(x),
    resolveWith: (name: string, [x]: [unknown]) => promises.get(name)?.resolve(x),
    break: (name: string, code: string) => promises.get(name)?.break(code),
    outcome: ([x]: [unknown]) =>
      Promise.resolve(x).then(
        (value) => list('ok', value),
        (error: Error & { code?: string }) => list('broken', error.code ?? error.message.split(':')[0]),
      ),
    same: (x: unknown, y: unknown) => x === y,
    impassable: () =>
      new (class Vault {
        reveal(): string {
          return 'secret';
        }
      })(),
  });
  return made;
}

interface Log {
  add(line: unknown): number;
  lines(): readonly unknown[];
}
const Log: Definition<Log, [lines: readonly unknown[]]> = define('Log', (bcom, lines) => ({
  add: (line) => bcom(Log([...lines, line]), lines.length + 1),
  lines: () => lines,
}));

const wide = (methods: Methods): object =>
  driver(
    Object.fromEntries(
      Object.entries(methods).map(([name, method]) => [
        name,
        (args: readonly unknown[]) => method(...(args as never[])),
      ]),
    ) as never,
  );
const ours: Pick<Side, 'send' | 'sendOnly' | 'promise' | 'far' | 'release'> = {
  send: (to, method, ...args) =>
    (
      E(to as Far<Record<string, (...args: readonly unknown[]) => unknown>>) as never as Record<
        string,
        (...args: readonly unknown[]) => Promise<unknown>
      >
    )[method]?.(...args) as Promise<unknown>,
  sendOnly: (to, method, ...args) =>
    void (E.sendOnly(to as Far<object>) as never as Record<string, (...args: readonly unknown[]) => void>)[method]?.(
      ...args,
    ),
  far: wide,
  promise: () => {
    const made = promise<unknown>();
    return {
      promise: made.promise,
      resolve: (value) => made.resolver.resolve(value),
      break: (code) => made.resolver.break(new CapError(code, 'as asked')),
    };
  },
  release: (reference) => release(reference as Far<unknown>),
};

/** Our host. Its logs are actors of `vat`. */
export const ourFixture = (vat: Vat): object =>
  fixture(
    ours,
    wide,
    () => vat.spawn(Log([])),
    (code) => new CapError(code, 'as asked'),
  );
export const serveOurs = (duplex: Duplex, dialect: DialectName, bootstrap: object): Connection =>
  captp(duplex, { dialect, bootstrap });
export function enterOurs(duplex: Duplex, dialect: DialectName): Side {
  const connection = captp<object>(duplex, { dialect });
  return { ...ours, fixture: connection.bootstrap, connection };
}

/** The published package's way: `Far` objects, native promises, hardened data. */
async function endo(): Promise<Omit<Side, 'fixture' | 'connection'>> {
  const { Far } = await import('@endo/pass-style');
  const { harden = Object.freeze } = globalThis as { harden?: <T>(x: T) => T };
  return {
    send: (to, method, ...args) => ask(to, method, ...args.map((each) => harden(each))),
    sendOnly: (to, method, ...args) => void ask(to, method, ...args.map((each) => harden(each))).catch(() => {}),
    far: (methods) => Far('peer', { ...methods } as never) as object,
    promise: () => {
      const { promise: made, resolve, reject } = Promise.withResolvers<unknown>();
      made.catch(() => {});
      return {
        promise: made,
        resolve: (value) => resolve(harden(value)),
        break: (code) => reject(new Error(`${code}: as asked`)),
      };
    },
    release: () => {},
  };
}
export async function endoFixture(): Promise<object> {
  const side = await endo();
  const { harden = Object.freeze } = globalThis as { harden?: <T>(x: T) => T };
  const log = (): object => {
    const lines: unknown[] = [];
    return side.far({ add: (line: unknown) => lines.push(line), lines: () => harden([...lines]) });
  };
  return fixture(
    side,
    side.far,
    log,
    (code) => new Error(`${code}: as asked`),
    (...values) => harden(values),
  );
}
/** With garbage collection, which it has to be asked for. */
function endoEnd(duplex: Duplex, bootstrap?: object): Promise<unknown> {
  const { dispatch, getBootstrap, abort } = makeCapTP(
    'peer',
    (message) => duplex.send(JSON.stringify(message)),
    bootstrap,
    { onReject: () => {}, gcImports: true },
  );
  duplex.onFrame((frame) => void dispatch(JSON.parse(frame as string)));
  duplex.onClose(() => abort(new Error('disconnected: the wire is gone')));
  const offered = getBootstrap();
  offered.catch(() => {});
  return offered;
}
export const serveEndo = (duplex: Duplex, bootstrap: object): void => void endoEnd(duplex, bootstrap);
export const enterEndo = async (duplex: Duplex): Promise<Side> => ({
  ...(await endo()),
  fixture: endoEnd(duplex),
  connection: undefined,
});
