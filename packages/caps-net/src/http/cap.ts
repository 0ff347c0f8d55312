/**
 * The http cap: a frozen object of async methods, and the same for calls under grants.
 *
 * Promise: a cap made by `subpath` or `readOnly` reaches no more than the one it was made from, and shares its
 * connections. Under a grant, an answer that is still being read ends with the grant; the revoker waits until its
 * connection is closed. The ledger gets the method, the status and the bytes of each exchange, and no content.
 */
import { type DriverCall, driverOf, systemClock } from '@hob/vat';
import { drivenBy, type Effects, withEffects } from '@hob/vat/forwarder';
import { takeBytes, takeRecord } from '../base/arguments.ts';
import { refusal } from '../base/errors.ts';
import { type Resolver, systemResolver } from '../drivers/resolve.ts';
import { openPool } from './drivers/pool.ts';
import { type Exchanged, exchange, type Scope, type Wanted, type World } from './exchange.ts';
import { SAFE, takeGrant } from './grant.ts';
import { takeHeaders } from './headers.ts';
import type { FetchOptions, HttpAnswer, HttpCap, HttpDescription, HttpOptions, HttpText } from './http-cap.ts';
import { prefixText, resolvePath } from './path.ts';
import { readText } from './text.ts';

/** The caller of one method. */
interface Caller {
  readonly holder: string;
  readonly signal: AbortSignal;
  /** Called once, when the exchange is over. */
  over(method: string, status: number, bytes: number): void;
}

const never = new AbortController().signal;
const program: Caller = Object.freeze({ holder: '', signal: never, over: () => {} });
const host = (): Caller => program;

/** The program itself, with the signal that it gave. Errors: `invalid`. */
function programOf(options: FetchOptions | undefined): Caller {
  const signal = options?.signal;
  if (signal === undefined) return program;
  if (!(signal instanceof AbortSignal)) throw refusal('invalid', 'signal is an AbortSignal');
  return { ...program, signal };
}

/**
 * An http cap for one origin. `await using` closes it, with all that was made from it.
 *
 * Errors: `invalid`, `E_HOST`, `E_PATH`, `E_METHOD`, `E_HEADER`: an option is not written the one way it is written.
 */
export function makeHttpCap(options: HttpOptions): HttpCap & AsyncDisposable {
  return openHttpCap(options, systemResolver);
}

/** For tests, which pass their own names. */
export function openHttpCap(options: HttpOptions, resolver: Resolver): HttpCap & AsyncDisposable {
  const grant = takeGrant(options, resolver.own);
  const world: Open = {
    ...{ grant, pool: openPool(grant, resolver), clock: systemClock() },
    ...{ closing: new AbortController(), open: new Map() },
  };
  const cap = capOf(world, { prefix: grant.prefix, methods: grant.methods });
  const close = async (): Promise<void> => {
    world.closing.abort(refusal('unavailable'));
    await world.pool.close();
  };
  return Object.freeze(
    withEffects(drivenBy({ ...cap.own, [Symbol.asyncDispose]: close }, cap.driven), () => effectsOf(grant)),
  );
}

/** Names the thing that a call made, and the one that it changes, by the path that the server gave. */
const resources = { makes: { resource: 'made' }, names: { resource: 0 } } as const;

/** A GET carries its path to the server. A cap of GET and HEAD sends nothing else by `fetch`, either. */
function effectsOf({ methods }: World['grant']): Effects {
  const read = { class: 'A', outbound: true } as const;
  const look = { class: 'A' } as const;
  const send = methods.every((one) => SAFE.includes(one))
    ? read
    : ({ class: 'C', undo: 'hard', outbound: true } as const);
  return {
    ...{ get: read, getText: read, fetch: { ...send, ...resources }, fetchText: { ...send, ...resources } },
    ...{ subpath: look, readOnly: look, describe: look, next: look, return: look },
  };
}

interface Open extends World {
  readonly closing: AbortController;
  /** The answers that each holder has open. */
  readonly open: Map<string, number>;
}

interface Made {
  readonly own: HttpCap;
  readonly driven: Readonly<Record<string, (args: readonly unknown[], call: DriverCall) => unknown>>;
}

function capOf(world: Open, scope: Scope): Made {
  const made = (next: Scope): HttpCap => {
    const { own, driven } = capOf(world, next);
    return Object.freeze(drivenBy({ ...own }, driven));
  };
  // A call that is refused before anything is sent watches nothing: its caller is asked for last.
  const send = async (
    path: unknown,
    options: unknown,
    caller: () => Caller,
    known: readonly string[],
  ): Promise<Exchanged> => sent(world, wantedOf(world, scope, path, options, known), scope, caller());
  const read = async (exchanged: Promise<Exchanged>): Promise<HttpText> =>
    readText((await exchanged).answer, world.grant.injected?.secret.table);
  const answer = async (exchanged: Promise<Exchanged>): Promise<HttpAnswer> => (await exchanged).answer;
  const all = ['method', 'headers', 'body'];
  const some = ['headers'];
  const ownCall = async (path: unknown, options: FetchOptions | undefined): Promise<Exchanged> =>
    send(path, options, () => programOf(options), [...all, 'signal']);
  const attenuated = {
    subpath: async (path: string) => made({ ...scope, prefix: longer(scope, path) }),
    readOnly: async () => made({ ...scope, methods: Object.freeze(scope.methods.filter((one) => SAFE.includes(one))) }),
    describe: async () => describe(world, scope),
  };
  const own: HttpCap = Object.freeze({
    fetch: (path, options) => answer(ownCall(path, options)),
    fetchText: (path, options) => read(ownCall(path, options)),
    get: (path, options) => answer(send(path, options, host, some)),
    getText: (path, options) => read(send(path, options, host, some)),
    ...attenuated,
  } satisfies HttpCap);
  // A reference goes inside a record; an object with methods does not.
  const referred = async (exchanged: Promise<Exchanged>): Promise<unknown> => {
    const { body, ...head } = (await exchanged).answer;
    return Object.freeze({ ...head, body: driverOf(body) });
  };
  const driven: Made['driven'] = {
    fetch: ([path, options], call) => referred(send(path, options, () => callerOf(call), all)),
    fetchText: ([path, options], call) => read(send(path, options, () => callerOf(call), all)),
    get: ([path, options], call) => referred(send(path, options, () => callerOf(call), some)),
    getText: ([path, options], call) => read(send(path, options, () => callerOf(call), some)),
    subpath: ([path]) => attenuated.subpath(path as string),
    readOnly: () => attenuated.readOnly(),
    describe: () => attenuated.describe(),
  };
  return { own, driven };
}

function callerOf(call: DriverCall): Caller {
  const watch = call.watch();
  return {
    holder: call.cause.join(' '),
    signal: watch.signal,
    over: (method, status, bytes) => {
      const [grant] = call.cause;
      // If the ledger cannot be written, the next call is stopped: nobody waits for this one.
      void call.tell('result', { grant, method, code: String(status), bytes }).catch(() => {});
      watch.done();
    },
  };
}

function wantedOf({ grant }: World, scope: Scope, path: unknown, options: unknown, known: readonly string[]): Wanted {
  const { method = 'GET', headers, body } = takeRecord(options, 'a request', known, 'option');
  if (typeof method !== 'string' || !scope.methods.includes(method))
    throw refusal('E_METHOD', `there ${scope.methods.length === 1 ? 'is' : 'are'} ${scope.methods.join(', ')}`);
  if (body !== undefined && SAFE.includes(method)) throw refusal('invalid', `${method} has no body`);
  return {
    method,
    target: resolvePath(scope.prefix, path),
    headers: takeHeaders(headers, grant.allowed),
    body: body === undefined ? undefined : takeBytes(body, 'body', grant.limits.bodyBytes),
  };
}

async function sent(world: Open, wanted: Wanted, scope: Scope, caller: Caller): Promise<Exchanged> {
  const { open, grant, closing } = world;
  const before = open.get(caller.holder) ?? 0;
  const leave = (status: number, bytes: number): void => {
    const now = open.get(caller.holder) ?? 1;
    if (now <= 1) open.delete(caller.holder);
    else open.set(caller.holder, now - 1);
    caller.over(wanted.method, status, bytes);
  };
  open.set(caller.holder, before + 1);
  try {
    if (before >= grant.limits.concurrent)
      throw refusal('limit', `${grant.limits.concurrent} answers are open: read them to their ends`);
    const ends = caller.signal === never ? closing.signal : AbortSignal.any([closing.signal, caller.signal]);
    const exchanged = await exchange(world, scope, wanted, ends);
    void exchanged.body.over.then(() => leave(exchanged.answer.status, exchanged.body.bytes));
    return exchanged;
  } catch (error) {
    leave(0, 0);
    throw error;
  }
}

function longer({ prefix }: Scope, path: unknown): readonly string[] {
  const { segments, text } = resolvePath(prefix, path);
  if (text.includes('?')) throw refusal('E_PATH', 'a prefix has no query');
  return Object.freeze(segments.at(-1) === '' ? segments.slice(0, -1) : segments);
}

function describe({ grant }: World, { prefix, methods }: Scope): HttpDescription {
  const headers = Object.freeze([...grant.allowed]);
  return Object.freeze({ origin: grant.origin.text, prefix: prefixText(prefix), methods, headers });
}
