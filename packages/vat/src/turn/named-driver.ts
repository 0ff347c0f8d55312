/**
 * Named drivers: references that durable portraits can hold, and that a program fills in again after a
 * restart.
 */
import { CapError } from '../core/errors.ts';
import { type Message, Target } from '../core/message.ts';
import { type Account, hostAccount } from '../core/meter.ts';
import { procedureReference, targetOf } from '../core/reference.ts';
import { inTurn } from './turn.ts';

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
    return hostAccount;
  }

  is(actual: Target): void {
    this.#actual = actual;
  }

  get actual(): Target | undefined {
    return this.#actual;
  }

  near(method: string): never {
    throw neverNear(method);
  }

  override get refusal(): CapError | undefined {
    return this.#actual === undefined ? notNamed() : this.#actual.refusal;
  }

  post(message: Message): void {
    if (this.#actual !== undefined) return this.#actual.post(message);
    message.fail(notNamed());
  }
}

const notNamed = (): CapError =>
  new CapError(
    'unavailable',
    'this driver has not been named again since the restart: the program that runs the host makes it with driver(…, {name})',
  );

/** The error for a driver that is called like a near object. */
export const neverNear = (method: string): CapError =>
  new CapError(
    'not-callable',
    `"${method.slice(0, 64)}" was called on a driver, which is never near: use E(reference)`,
  );

const byName = new Map<string, NamedDriver>();

/** The named driver of that name, made at the first call. */
export function namedDriver(name: string): NamedDriver {
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

/** The target of a reference; for a named driver, the driver of that name. */
export function actualOf(reference: object): Target | undefined {
  const target = targetOf(reference);
  return target instanceof NamedDriver ? target.actual : target;
}
