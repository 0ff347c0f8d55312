/**
 * Drivers: the one boundary between turns and the world (Goblins' `^io`). Disk, process, network and clock live outside.
 *
 * Promise: a driver is called only after the turn that sent the message is committed, never within a turn; its result comes
 * back as a later turn; when a grant in the chain of causes ends, its signal fires, its caller is told at once, and what it
 * still answers is dropped.
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

/** What a driver's method is told about a call, besides its arguments. */
export interface DriverCall {
  /** Fires when a grant that the call was made under ends: stop, and settle the promise. */
  readonly signal: AbortSignal;
  /** The session that pays. */
  readonly meter: Meter;
  /** Ids of the grants that the call was made under, outermost first. */
  readonly cause: readonly string[];
  /** For what goes on after the answer (a job, a stream): the end of these grants. Whoever ends one waits for its `done`. */
  watch(): Watch;
  /** Tells the ledger, of the vats that the grants live in, what came of the call. Where it came under none there is nobody to tell. */
  tell(kind: string, fields: Readonly<Record<string, unknown>>, args?: readonly unknown[]): Promise<void>;
}

export interface DriverOptions<T> {
  /** A named driver can stand in durable portraits; after a restart it answers `unavailable` until the program names it again. */
  readonly name?: string;
  /** Methods that change nothing: their calls do not wait for the commit, their answers do. */
  readonly reads?: readonly (keyof T & string)[];
}

type Methods = Readonly<
  Record<string, (args: readonly unknown[], call: DriverCall, chain: Message['chain']) => unknown>
>;

/** What comes of the value that a method answered, before it is passed on. */
type Given = (value: unknown, chain: Message['chain']) => unknown;

/**
 * On an object that `driverOf` wraps as the answer of a call, and that keeps something of the machine open (a file, a stream): called once
 * with a signal that fires when a grant ends that the call was made under. It closes then, and its promise says when it has; also
 * when it was closed in another way. Whoever revokes waits for that.
 */
export const lastsUnder: unique symbol = Symbol('lastsUnder');

/** Messages that the host program sends to a driver are on the house. */
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

  /** Whether a call changes nothing, so that it need not wait for a commit. */
  reads(method: string): boolean {
    return this.#reads.has(method);
  }

  post(message: Message): void {
    // In a job of its own, so that a host's `E(driver).m()` never runs the driver before it returns.
    const run = (): void => soon(() => this.#run(message));
    // What changes nothing may go ahead of the disk; its answer may not.
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

/** What the driver sees of a call. Its parts are made when they are asked for: most drivers never look, and it is made for every call. */
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
    return this.#call.message.chain.ids;
  }

  // As values, for whoever takes them out of the call.
  get watch(): DriverCall['watch'] {
    const { chain } = this.#call.message;
    return () => watchOver(chain);
  }

  get tell(): DriverCall['tell'] {
    const { chain } = this.#call.message;
    return async (kind, fields, args) => {
      const said = args === undefined ? undefined : encodeArgs(args);
      if (chain.ids.length > 0) await chain.causes?.ledger?.({ kind, fields, args: said });
    };
  }
}
sealed(Face.prototype);

/** One call on its way. Whoever is first, the driver or the cut, answers. */
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

  /** Bytes that only the caller has from now on. */
  gave(bytes: Uint8Array): void {
    this.#finish();
    this.#answer((answer) => (answer.own === undefined ? answer.fulfil(bytes) : answer.own(bytes)));
  }

  broken(error: unknown): void {
    this.#finish();
    this.#answer((answer) => answer.break(error));
  }

  /** A call that went ahead of the disk answers after it. */
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
 * Makes a reference from an object of methods `(args, {signal, meter, cause}) => result or promise`. In a turn or outside.
 *
 * A call's arguments and results are data, references and promises; anything else breaks the answer with `invalid`. Bytes are
 * copied, unless the method gives them away (`handOver`). An
 * error that is no `CapError` reaches the caller in this process as it is; on the wire it is redacted.
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
 * A driver by its name: what a durable portrait holds. Whoever makes a driver of that name stands behind it from then on; until
 * then, and so after a restart, it answers `unavailable`.
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
 * Puts what ends with the process (a driver without a name, an object of a peer or of vats in memory) behind a name that a durable portrait
 * may hold, as `driver(…, {name})` does. For the program that runs the host, outside turns.
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

/** The reference that stands for whatever driver has that name. */
export const driverNamed = (name: string): object => namedDriver(name).reference;
/** The name of a driver that has one. */
export const nameOfDriver = (target: Target | undefined): string | undefined =>
  target instanceof NamedDriver ? target.name : undefined;

function makeReference(methods: Methods, options: DriverOptions<object>, given?: Given): object {
  // Who names one stands behind it for every holder: that is for the host program, and no turn could undo it.
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

/** What came out of a call under grants ends with the first of them. */
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
  // The grant may have ended while the call was outside: its answer is dropped, so nobody else would close it.
  const ended = causes.ended(ids);
  if (ended !== undefined) controller.abort(ended);
}

// The same object gives the same reference, so that what a method answers twice is recognised.
const wrapped = new WeakMap<object, object>();
// And back, for `objectOf`.
const objects = new WeakMap<Target, object>();

// Objects that say themselves what a call by reference does.
const acts = new WeakMap<object, Methods>();

/**
 * For a plain object that has to know under which grants it is called: `driverOf` and whatever uses that (`host.offer`, an answer of another
 * driver) takes these methods, as `driver` would, in place of the object's own. Answers the object.
 */
export function drivenBy<T extends object>(object: T, methods: Methods): T {
  acts.set(object, Object.freeze({ ...methods }));
  return object;
}

/**
 * The same for an object with plain methods, its own or its class's. An answer that is itself an object with methods is
 * wrapped likewise.
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
 * The object that a reference made by `driverOf` stands for; undefined for any other. Not a message, so nobody on a wire can ask: it is for
 * the program that runs the host (a package that looks for its own objects), outside turns.
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
 * The methods that a reference has, as far as this process can tell: none are known of an object of a peer, of a procedure (a forwarder, say)
 * and of a function. Like `objectOf` it is for the program that runs the host, outside turns: to describe what somebody holds.
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

/** What can be called on it, its own and its class's; runs no getter. One by one: of an answer that is data only the first is asked for. */
function* methodNames(object: object): Generator<string> {
  for (
    let at: object | null = object;
    at !== null && at !== Object.prototype;
    at = Object.getPrototypeOf(at) as object | null
  )
    for (const name of Object.getOwnPropertyNames(at))
      if (typeof Object.getOwnPropertyDescriptor(at, name)?.value === 'function' && isMethodName(name)) yield name;
}

/** An answer of `driverOf`'s: an object with methods goes as a driver of its own. */
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
