/**
 * Drivers: the one boundary between turns and the outside (Goblins' `^io`). Disk, processes, network and
 * clock are outside.
 *
 * Promise: a driver is called only after the turn that sent the message is committed, never within a turn.
 * Its result comes back in a later turn. When a grant in the chain of causes ends, the call's signal fires,
 * its caller is told at once, and a later result is dropped.
 */
import { when } from '../core/barrier.ts';
import { CapError } from '../core/errors.ts';
import { fencedOr } from '../core/faults.ts';
import { takenOver } from '../core/hand-over.ts';
import { type Message, Target } from '../core/message.ts';
import { type Account, hostAccount } from '../core/meter.ts';
import { type OptionNames, takeOptions } from '../core/options.ts';
import { type VatPromise, vatPromiseOf } from '../core/promise.ts';
import { isMethodName, referenceClass, targetOf } from '../core/reference.ts';
import type { Far } from '../core/types.ts';
import { soon } from '../drivers/loop.ts';
import { CallView, type DriverCall, RunningCall } from './driver-call.ts';
import { actualOf, namedDriver, neverNear } from './named-driver.ts';
import { withOthers } from './resolved.ts';
import { Runnable } from './runnable.ts';
import { inTurn } from './turn.ts';
import { driverPromise } from './turn-promise.ts';
import { pass } from './values.ts';

/** How a driver is named, and which of its methods change nothing. */
export interface DriverOptions<T> {
  /**
   * A named driver can be stored in durable portraits. After a restart its calls break with `unavailable`
   * until the program names it again.
   */
  readonly name?: string;
  /** Methods that change nothing. Their calls do not wait for the commit; their results do. */
  readonly reads?: readonly (keyof T & string)[];
}

export const driverOptions: OptionNames<DriverOptions<object>> = { name: true, reads: true };

export type DriverMethods = Readonly<
  Record<string, (args: readonly unknown[], call: DriverCall, chain: Message['chain']) => unknown>
>;

/** What `driverOf` brings besides the methods. */
interface DriverParts {
  /** Converts the result of a method before it is passed on. */
  readonly convert?: (value: unknown, chain: Message['chain']) => unknown;
  /** The error of a call now, before anything of it happens. */
  readonly refusal?: (() => CapError | undefined) | undefined;
}

let drivers = 0;

class Driver extends Target {
  readonly label: string;
  readonly #methods: DriverMethods;
  readonly #parts: DriverParts;
  /** Methods that change nothing. Their calls need not wait for a commit. */
  readonly #reads: ReadonlySet<string>;

  constructor(methods: DriverMethods, options: DriverOptions<object>, parts: DriverParts) {
    super();
    drivers += 1;
    this.label = `driver:${options.name ?? drivers}`;
    this.#methods = methods;
    this.#parts = parts;
    this.#reads = new Set(options.reads);
  }

  get account(): Account {
    return hostAccount;
  }

  get methods(): readonly string[] {
    return Object.keys(this.#methods);
  }

  override get refusal(): CapError | undefined {
    return this.#parts.refusal?.();
  }

  near(method: string): never {
    throw neverNear(method);
  }

  post(message: Message): void {
    // Runs in a later job, so that the host's `E(driver).m()` never runs the driver before it returns.
    const run = (): void =>
      soon(() =>
        fencedOr(
          () => this.#run(message),
          (why) => message.answer?.break(why),
        ),
      );
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
      return void answer?.break(new CapError('no-such-method', `this object has no method "${method.slice(0, 64)}"`));
    const call = new RunningCall(message);
    chain.causes?.started(chain.ids, call);
    // A call that an internal error meets must end too: a revocation waits for it.
    const broken = (error: unknown): void => call.broken(error);
    const end = (body: () => void): void => fencedOr(body, broken);
    let result: unknown;
    try {
      const own = (promise: VatPromise): Promise<unknown> => driverPromise(promise, account);
      const given = message.promises ? args.map((arg) => withOthers(arg, own)) : args;
      result = act(given, new CallView(call), chain);
    } catch (error) {
      return end(() => broken(error));
    }
    if (result instanceof Promise && vatPromiseOf(result) !== undefined) call.returned();
    Promise.resolve(result).then(
      (value) => {
        let bytes: Uint8Array | undefined;
        let passed: unknown;
        try {
          const { convert } = this.#parts;
          const given = convert === undefined ? value : convert(value, chain);
          bytes = takenOver(given);
          if (bytes === undefined) passed = pass(given, account);
        } catch (error) {
          return end(() => broken(error));
        }
        end(() => (bytes === undefined ? call.fulfilled(passed) : call.gave(bytes)));
      },
      (error: unknown) => end(() => broken(error)),
    );
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
  options?: DriverOptions<T>,
): Far<T> {
  const given = takeOptions(options, 'driver', driverOptions);
  const own: Record<string, DriverMethods[string]> = {};
  for (const [name, act] of Object.entries(methods)) {
    if (typeof act !== 'function' || !isMethodName(name))
      throw new CapError('invalid', `a driver has methods only: "${name.slice(0, 64)}" cannot be one`);
    own[name] = act as DriverMethods[string];
  }
  return makeDriver(own, given as DriverOptions<object>) as Far<T>;
}

/** The reference for a new driver with these methods. */
export function makeDriver(methods: DriverMethods, options: DriverOptions<object>, parts: DriverParts = {}): object {
  // Naming changes the driver for every holder, and no rollback could undo it. So only the host program may
  // do it.
  if (options.name !== undefined && inTurn())
    throw new CapError('not-callable', 'a driver cannot be named in a turn: the program that runs the host does that');
  const made = new Driver(Object.freeze(methods), options, parts);
  if (options.name !== undefined) {
    const slot = namedDriver(options.name);
    slot.is(made);
    return slot.reference;
  }
  return new (referenceClass(Object.keys(methods), made.label))(made);
}

/**
 * The methods of a reference, as far as this process knows; undefined for an object of a peer, a procedure
 * such as a forwarder, and a function. For the host program, outside turns: to describe what somebody holds.
 */
export function shownMethods(reference: object): readonly string[] | undefined {
  if (inTurn()) throw new CapError('not-callable', 'shownMethods is for the program that runs the host, outside turns');
  const target = actualOf(reference);
  if (target instanceof Driver || target instanceof Runnable) return target.methods;
  const names: string[] = [];
  if (targetOf(reference) === undefined || typeof reference === 'function') return undefined;
  for (let at: object | null = Object.getPrototypeOf(reference); at !== null; at = Object.getPrototypeOf(at))
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(at)))
      if (at !== Object.prototype && typeof value === 'function' && isMethodName(name)) names.push(name);
  return names.length === 0 ? undefined : names;
}
