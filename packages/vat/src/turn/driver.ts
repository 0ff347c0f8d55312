/**
 * Drivers: the one boundary between turns and the outside (Goblins' `^io`). Disk, processes, network and
 * clock are outside.
 *
 * Promise: a driver is called only after the turn that sent the message is committed, never within a turn.
 * Its result comes back in a later turn. When a grant in the chain of causes ends, the call's signal fires,
 * its caller is told at once, and a later result is dropped.
 */
import { when } from '../core/barrier.ts';
import type { Outside } from '../core/causes.ts';
import { CapError } from '../core/errors.ts';
import { takenOver } from '../core/hand-over.ts';
import { type Answer, type Message, Target } from '../core/message.ts';
import { Account } from '../core/meter.ts';
import { isMethodName, isReference, procedureReference, referenceClass, sealed, targetOf } from '../core/reference.ts';
import type { Far, Meter } from '../core/types.ts';
import { soon } from '../drivers/loop.ts';
import { encodeArgs } from '../ledger/arguments.ts';
import { inTurn } from './turn.ts';
import { pass } from './values.ts';
import { type Watch, watchOver } from './watch.ts';

/** The facts about a call that a driver's method receives besides its arguments. */
export interface DriverCall {
  /** Fires when a grant that the call was made under ends. Stop then, and settle the promise. */
  readonly signal: AbortSignal;
  /** The session that pays for the call. */
  readonly meter: Meter;
  /** Ids of the grants that the call was made under, outermost first. */
  readonly cause: readonly string[];
  /**
   * For work that continues after the result, such as a job or a stream. Its signal fires when one of the
   * grants ends. The revoker waits until you call `done`.
   */
  watch(): Watch;
  /**
   * Writes the outcome of the call to the ledger of the vats that hold the grants. Without a grant it does
   * nothing.
   */
  tell(kind: string, fields: Readonly<Record<string, unknown>>, args?: readonly unknown[]): Promise<void>;
}

export interface DriverOptions<T> {
  /**
   * A named driver can be stored in durable portraits. After a restart its calls break with `unavailable`
   * until the program names it again.
   */
  readonly name?: string;
  /** Methods that change nothing. Their calls do not wait for the commit; their results do. */
  readonly reads?: readonly (keyof T & string)[];
}

type Methods = Readonly<
  Record<string, (args: readonly unknown[], call: DriverCall, chain: Message['chain']) => unknown>
>;

/** Converts the result of a method before it is passed on. */
type Given = (value: unknown, chain: Message['chain']) => unknown;

/**
 * A method for an object that `driverOf` wraps as the result of a call, and that keeps something open, such
 * as a file or a stream. It is called once, with a signal that fires when a grant of that call ends. The
 * object must close then. The returned promise resolves when it has closed, for any reason; a revoker waits
 * for it.
 */
export const lastsUnder: unique symbol = Symbol('lastsUnder');

/** Pays for messages that the host program sends to drivers. It has no limits. */
const house = new Account('host');

let drivers = 0;

class Driver extends Target {
  readonly label: string;
  readonly #methods: Methods;
  readonly #given: Given | undefined;
  readonly #reads: ReadonlySet<string>;

  constructor(methods: Methods, options: DriverOptions<object>, given?: Given) {
    super();
    drivers += 1;
    this.label = `driver:${options.name ?? drivers}`;
    this.#methods = methods;
    this.#given = given;
    this.#reads = new Set(options.reads);
  }

  get account(): Account {
    return house;
  }

  get methods(): readonly string[] {
    return Object.keys(this.#methods);
  }

  near(method: string): never {
    throw new CapError(
      'not-callable',
      `"${method.slice(0, 64)}" was called on a driver, which is never near: use E(reference)`,
    );
  }

  /** Whether calls of this method change nothing, so that they need not wait for a commit. */
  reads(method: string): boolean {
    return this.#reads.has(method);
  }

  post(message: Message): void {
    // Runs in a later job, so that the host's `E(driver).m()` never runs the driver before it returns.
    const run = (): void => soon(() => this.#run(message));
    // A read may run before the sender is durable. Its result may not leave before that.
    if (this.#reads.has(message.method)) run();
    else when(message.after, run, (why) => message.fail(why));
  }

  #run(message: Message): void {
    message.taken();
    const { method, args, answer, account, chain } = message;
    const ended = chain.ended();
    if (ended !== undefined) return void answer?.break(ended);
    const act = isMethodName(method) && Object.hasOwn(this.#methods, method) ? this.#methods[method] : undefined;
    if (act === undefined)
      return void answer?.break(new CapError('no-such-method', `it has no method "${method.slice(0, 64)}"`));
    const call = new Call(message);
    chain.causes?.started(chain.ids, call);
    let result: unknown;
    try {
      result = act(args, new Face(call), chain);
    } catch (error) {
      return call.broken(error);
    }
    Promise.resolve(result).then(
      (value) => {
        let bytes: Uint8Array | undefined;
        let passed: unknown;
        try {
          const given = this.#given === undefined ? value : this.#given(value, chain);
          bytes = takenOver(given);
          if (bytes === undefined) passed = pass(given, account);
        } catch (error) {
          return call.broken(error);
        }
        if (bytes !== undefined) call.gave(bytes);
        else call.fulfilled(passed);
      },
      (error: unknown) => call.broken(error),
    );
  }
}

/**
 * The driver's view of a call. Its parts are made on first use: this is made for every call, and most drivers
 * do not use it.
 */
class Face implements DriverCall {
  readonly #call: Call;

  constructor(call: Call) {
    this.#call = call;
    Object.freeze(this);
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }

  get meter(): Meter {
    return this.#call.message.account;
  }

  get cause(): readonly string[] {
    return this.#call.message.chain.named;
  }

  // These return functions and not methods, so that a driver can destructure them.
  get watch(): DriverCall['watch'] {
    const { chain } = this.#call.message;
    return () => watchOver(chain);
  }

  get tell(): DriverCall['tell'] {
    const { chain } = this.#call.message;
    return async (kind, fields, args) => {
      const encoded = args === undefined ? undefined : encodeArgs(args);
      if (chain.ids.length > 0) await chain.causes?.ledger?.({ kind, fields, args: encoded });
    };
  }
}
sealed(Face.prototype);

/** One call that is under way. The first of result and cut settles the answer. */
class Call implements Outside {
  readonly message: Message;
  #controller: AbortController | undefined;
  #aborted: CapError | undefined;
  #finished = false;
  readonly #whenFinished: (() => void)[] = [];

  constructor(message: Message) {
    this.message = message;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#aborted !== undefined) this.#controller.abort(this.#aborted);
    }
    return this.#controller.signal;
  }

  abort(why: CapError): Promise<void> {
    if (this.#finished) return Promise.resolve();
    if (this.#aborted === undefined) {
      this.#aborted = why;
      this.message.answer?.break(why);
      this.#controller?.abort(why);
    }
    return new Promise((resolve) => this.#whenFinished.push(resolve));
  }

  fulfilled(value: unknown): void {
    this.#finish();
    this.#answer((answer) => answer.fulfil(value));
  }

  /** Settles the answer with bytes that only the caller holds from now on. */
  gave(bytes: Uint8Array): void {
    this.#finish();
    this.#answer((answer) => (answer.own === undefined ? answer.fulfil(bytes) : answer.own(bytes)));
  }

  broken(error: unknown): void {
    this.#finish();
    this.#answer((answer) => answer.break(error));
  }

  /** Settles the answer once the sending turn is durable, since the call may have run before that. */
  #answer(how: (answer: Answer) => void): void {
    const { answer, after } = this.message;
    if (answer === undefined) return;
    when(
      after,
      () => how(answer),
      (why) => answer.break(why),
    );
  }

  #finish(): void {
    this.#finished = true;
    const { chain } = this.message;
    chain.causes?.done(chain.ids, this);
    for (const then of this.#whenFinished) then();
  }
}

/**
 * Makes a reference from an object of methods `(args, {signal, meter, cause}) => result or promise`. Works in
 * a turn and outside.
 *
 * Arguments and results are data, references and promises. Anything else breaks the answer with `invalid`.
 * Bytes are copied, unless the method hands them over (`handOver`). An error that is not a `CapError` reaches
 * callers in this process unchanged and is redacted on a wire.
 */
export function driver<T extends object>(
  methods: {
    readonly [K in keyof T]: T[K] extends (...a: infer A) => infer R
      ? (args: A, call: DriverCall) => Promise<Awaited<R>> | Awaited<R>
      : never;
  },
  options: DriverOptions<T> = {},
): Far<T> {
  const own: Record<string, Methods[string]> = {};
  for (const [name, act] of Object.entries(methods)) {
    if (typeof act !== 'function' || !isMethodName(name))
      throw new CapError('invalid', `a driver has methods only: "${name.slice(0, 64)}" cannot be one`);
    own[name] = act as Methods[string];
  }
  return makeReference(own, options as DriverOptions<object>) as Far<T>;
}

/**
 * A named driver, as durable portraits hold it. It forwards to the driver that the host program made last
 * under this name. Until there is one, also after a restart, its calls break with `unavailable`.
 */
class NamedDriver extends Target {
  readonly name: string;
  readonly reference: object;
  #actual: Target | undefined;

  constructor(name: string) {
    super();
    this.name = name;
    this.reference = procedureReference(this);
  }

  get label(): string {
    return `driver:${this.name}`;
  }

  get account(): Account {
    return house;
  }

  is(actual: Target): void {
    this.#actual = actual;
  }

  get actual(): Target | undefined {
    return this.#actual;
  }

  near(method: string): never {
    throw new CapError(
      'not-callable',
      `"${method.slice(0, 64)}" was called on a driver, which is never near: use E(reference)`,
    );
  }

  post(message: Message): void {
    if (this.#actual !== undefined) return this.#actual.post(message);
    message.fail(
      new CapError(
        'unavailable',
        'this driver has not been named again since the restart: the program that runs the host makes it with driver(…, {name})',
      ),
    );
  }
}

const byName = new Map<string, NamedDriver>();

function namedDriver(name: string): NamedDriver {
  let found = byName.get(name);
  if (found === undefined) {
    found = new NamedDriver(name);
    byName.set(name, found);
  }
  return found;
}

/**
 * Gives a reference that ends with the process a name, so that durable portraits can hold it: an unnamed
 * driver, or an object of a peer or of vats in memory. Like `driver(…, {name})`. For the host program,
 * outside turns.
 */
export function named(name: string, reference: object): object {
  if (inTurn())
    throw new CapError('not-callable', 'a driver cannot be named in a turn: the program that runs the host does that');
  const target = targetOf(reference);
  if (target === undefined || target instanceof NamedDriver)
    throw new CapError('invalid', 'named takes a reference that has no name yet');
  const slot = namedDriver(name);
  slot.is(target);
  return slot.reference;
}

/** The reference for the driver of that name, whether or not it exists yet. */
export const driverNamed = (name: string): object => namedDriver(name).reference;
/** The name of a driver; undefined if it has none. */
export const nameOfDriver = (target: Target | undefined): string | undefined =>
  target instanceof NamedDriver ? target.name : undefined;

function makeReference(methods: Methods, options: DriverOptions<object>, given?: Given): object {
  // Naming changes the driver for every holder, and no rollback could undo it. So only the host program may
  // do it.
  if (options.name !== undefined && inTurn())
    throw new CapError('not-callable', 'a driver cannot be named in a turn: the program that runs the host does that');
  const made = new Driver(Object.freeze(methods), options, given);
  if (options.name !== undefined) {
    const slot = namedDriver(options.name);
    slot.is(made);
    return slot.reference;
  }
  return new (referenceClass(Object.keys(methods), made.label))(made);
}

/** Ties the result of a call to the grants of that call: it closes when the first of them ends. */
function keepUnder(value: object, { causes, ids }: Message['chain']): void {
  if (causes === undefined || ids.length === 0) return;
  const ender = (value as { [lastsUnder]?: unknown })[lastsUnder];
  if (typeof ender !== 'function') return;
  const controller = new AbortController();
  const over = Promise.resolve(Reflect.apply(ender, value, [controller.signal]) as Promise<void>);
  const kept: Outside = {
    abort: (why) => {
      controller.abort(why);
      return over;
    },
  };
  causes.started(ids, kept);
  void over.finally(() => causes.done(ids, kept));
  // The grant may have ended during the call. Its result is then dropped, so nobody else would close it.
  const ended = causes.ended(ids);
  if (ended !== undefined) controller.abort(ended);
}

// The same object gives the same reference, so that a caller can recognise a result it has seen before.
const wrapped = new WeakMap<object, object>();
// The inverse, for `objectOf`.
const objects = new WeakMap<Target, object>();

// Methods that an object brings for calls by reference, instead of its own.
const acts = new WeakMap<object, Methods>();

/**
 * For an object that needs to know the grants that it is called under. `driverOf`, and everything built on it
 * (`host.offer`, results of other drivers), then uses these methods, as `driver` would, instead of the
 * object's own. Returns the object.
 */
export function drivenBy<T extends object>(object: T, methods: Methods): T {
  acts.set(object, Object.freeze({ ...methods }));
  return object;
}

/**
 * Like `driver`, for an object with plain methods, its own or of its class. A result that is an object with
 * methods is wrapped in the same way.
 */
export function driverOf<T extends object>(object: T, options: DriverOptions<T> = {}): Far<T> {
  const known = wrapped.get(object);
  // Under another name it is another driver: two hosts in one process may offer the same object.
  if (known !== undefined && (options.name === undefined || nameOfDriver(targetOf(known)) === options.name))
    return known as Far<T>;
  const own = acts.get(object);
  const methods: Record<string, Methods[string]> = { ...own };
  if (own === undefined)
    for (const name of methodNames(object))
      methods[name] = (args) => Reflect.apply((object as Record<string, never>)[name] as never, object, args);
  if (Object.keys(methods).length === 0)
    throw new CapError('invalid', 'it has no methods: a driver is an object with async methods');
  const reference = makeReference(methods, options as DriverOptions<object>, asObject);
  objects.set(actualOf(reference) as Target, object);
  if (known === undefined) wrapped.set(object, reference);
  return reference as Far<T>;
}

/**
 * The object behind a reference made by `driverOf`; undefined for any other. It is not a message, so no peer
 * can ask. For the host program, outside turns.
 */
export function objectOf(reference: object): object | undefined {
  if (inTurn())
    throw new CapError(
      'not-callable',
      'objectOf is for the program that runs the host, outside turns: use E(reference)',
    );
  const target = actualOf(reference);
  return target && objects.get(target);
}

/**
 * The methods of a reference, as far as this process knows; undefined for an object of a peer, a procedure
 * such as a forwarder, and a function. For the host program, outside turns: to describe what somebody holds.
 */
export function shownMethods(reference: object): readonly string[] | undefined {
  if (inTurn()) throw new CapError('not-callable', 'shownMethods is for the program that runs the host, outside turns');
  const target = actualOf(reference);
  if (target instanceof Driver) return target.methods;
  const names: string[] = [];
  if (targetOf(reference) === undefined || typeof reference === 'function') return undefined;
  for (let at: object | null = Object.getPrototypeOf(reference); at !== null; at = Object.getPrototypeOf(at))
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(at)))
      if (at !== Object.prototype && typeof value === 'function' && isMethodName(name)) names.push(name);
  return names.length === 0 ? undefined : names;
}

function actualOf(reference: object): Target | undefined {
  const target = targetOf(reference);
  return target instanceof NamedDriver ? target.actual : target;
}

/**
 * The method names of an object and its class. Runs no getter. A generator: for plain data only the first
 * name is read.
 */
function* methodNames(object: object): Generator<string> {
  for (
    let at: object | null = object;
    at !== null && at !== Object.prototype;
    at = Object.getPrototypeOf(at) as object | null
  )
    for (const name of Object.getOwnPropertyNames(at))
      if (typeof Object.getOwnPropertyDescriptor(at, name)?.value === 'function' && isMethodName(name)) yield name;
}

/** Converts a result of a `driverOf` object: an object with methods becomes a driver itself. */
function asObject(value: unknown, chain: Message['chain']): unknown {
  if (typeof value === 'object' && value !== null && lastsUnder in value) keepUnder(value, chain);
  return wrap(value);
}

function wrap(value: unknown): unknown {
  if (
    typeof value !== 'object' ||
    value === null ||
    isReference(value) ||
    Array.isArray(value) ||
    ArrayBuffer.isView(value) ||
    value instanceof Error
  )
    return value;
  return acts.has(value) || methodNames(value).next().done !== true ? driverOf(value) : value;
}
