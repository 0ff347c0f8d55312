/**
 * `E`: messages that are delivered in a later turn, to whatever can take one.
 *
 * Promise: messages from one vat to another under one meter arrive in the order in which they were sent, also through
 * promises that resolve in between. Sent from a turn they leave when it commits, and never if it fails. What cannot be
 * carried is refused when it is sent: in a turn `E` throws, outside one the answer breaks.
 */
import { Actor, dispatchNear, type Household, Runnable } from './actor.ts';
import { behind } from './barrier.ts';
import { type Chain, noChain } from './causes.ts';
import { mutant } from './drivers/mutant.ts';
import type { Keeper } from './durable/keeper.ts';
import { CapError } from './errors.ts';
import { giveLocally, handledPromises, sendForeign } from './foreign.ts';
import { Message, Target, toData } from './message.ts';
import { Account } from './meter.ts';
import { isMethodName, procedureReference, referenceClass, targetOf } from './reference.ts';
import { current, type Effect, type Turn, turnFor } from './turn.ts';
import { turnPromise } from './turn-promise.ts';
import type { Eventual, Far, Outcome } from './types.ts';
import { follow, fulfilment, pass, passArgs } from './values.ts';
import { quieten, Vow, vowOf } from './vow.ts';

/** Pays where nobody else can be named: a host program that sends to its own promises. */
const house = new Account('host');

// ---- addressing --------------------------------------------------------------------------------------------------------

function addressee(x: unknown, account: Account): Target | undefined {
  const target = targetOf(x);
  if (target !== undefined) return target;
  if (typeof x !== 'object' && typeof x !== 'function') return undefined;
  if (x === null) return undefined;
  const vow = vowOf(x);
  if (vow !== undefined) return vow;
  if (x instanceof Promise) return follow(x, account);
  return targetOf(pass(x, account));
}

// ---- sending -------------------------------------------------------------------------------------------------------------

const noOutbox = mutant('durable-outbox');

class Send implements Effect {
  readonly #message: Message;
  constructor(message: Message) {
    this.#message = message;
  }
  get sent(): string {
    return this.#message.to.label;
  }
  release(): void {
    this.#message.learned();
    this.#message.to.post(this.#message);
  }
  drop(error: unknown): void {
    this.#message.fail(error);
  }
  keep(keeper: Keeper, cells: Map<string, string | undefined>): void {
    const to = lasting(this.#message.to, keeper);
    if (to === undefined || noOutbox) return;
    const { method, args, chain } = this.#message;
    this.#message.kept = keeper.messageKey();
    cells.set(this.#message.kept, keeper.encodeMessage([to, method, args, chain.ids]));
  }
}

/** The reference of the durable actor that a message is for, if that is known already. */
function lasting(to: Target, keeper: Keeper): object | undefined {
  // An actor of another store is no business of this one.
  if (to instanceof Actor) return to.home.keeper === keeper ? to.reference : undefined;
  const target = to instanceof Vow && to.settled === 'fulfilled' ? targetOf(to.value) : undefined;
  return target instanceof Actor ? lasting(target, keeper) : undefined;
}

/** In a turn. */
function sendLater(
  turn: Turn,
  x: unknown,
  method: string,
  args: unknown[],
  wanted: boolean,
): Promise<unknown> | undefined {
  const { account } = turn;
  const passed = passArgs(args, account);
  const to = addressee(x, account);
  account.charge('messages', 1);
  let vow: Vow | undefined;
  try {
    vow = wanted ? new Vow(account) : undefined;
  } catch (error) {
    account.refund('messages', 1);
    throw error;
  }
  const message = new Message(
    to ?? nowhere,
    method,
    passed.args,
    passed.promises,
    vow,
    account,
    turn.chain,
    turn.seq,
    turn.actor,
  );
  turn.effects.push(new Send(message));
  return vow === undefined ? undefined : turnPromise(vow);
}

/** Outside a turn: by the host program, or by a connection for its session. */
export function sendNow(
  to: Target,
  method: string,
  args: unknown[],
  account: Account,
  chain: Chain,
  wanted: boolean,
): Vow | undefined {
  const passed = passArgs(args, account);
  account.charge('messages', 1);
  let vow: Vow | undefined;
  try {
    vow = wanted ? new Vow(account) : undefined;
  } catch (error) {
    account.refund('messages', 1);
    throw error;
  }
  to.post(new Message(to, method, passed.args, passed.promises, vow, account, chain, undefined, undefined));
  return vow;
}

/** Takes messages that were sent to data. */
class Nowhere extends Runnable {
  readonly label = 'data';
  readonly account = house;
  get home(): never {
    throw new Error('nobody lives here');
  }
  post(message: Message): void {
    message.fail(toData(message.method));
  }
  near(method: string): never {
    throw toData(method);
  }
  run(): never {
    throw new Error('nobody lives here');
  }
}
const nowhere = new Nowhere();

function send(x: unknown, method: string, args: unknown[], wanted: boolean): Promise<unknown> | undefined {
  if (current !== undefined) return sendLater(current, x, method, args, wanted);
  try {
    const target = targetOf(x);
    if (target !== undefined) return sendNow(target, method, args, target.account, noChain, wanted)?.promise();
    return sendOut(x, method, args, wanted);
  } catch (error) {
    // Without an answer there is nothing that could break.
    if (!wanted) throw error;
    return Promise.reject(error);
  }
}

/** From the host program to something that is no reference of ours. */
function sendOut(x: unknown, method: string, args: unknown[], wanted: boolean): Promise<unknown> | undefined {
  const vow = typeof x === 'object' && x !== null ? vowOf(x) : undefined;
  if (vow !== undefined) return sendNow(vow, method, args, vow.account, noChain, wanted)?.promise();
  const reachable = (typeof x === 'object' && x !== null) || typeof x === 'function';
  if (!reachable) throw toData(method);
  if (x instanceof Promise && handledPromises() === undefined) {
    const followed = follow(x, house);
    return sendNow(followed, method, args, house, noChain, wanted)?.promise();
  }
  // Endo's eventual send pipelines to its own promises, and keeps their order.
  const passed = passArgs(args, house);
  const answer = sendForeign(x, method, passed.args.map(giveLocally));
  if (wanted) return answer;
  quieten(answer);
  return undefined;
}

class SentTo implements ProxyHandler<() => void> {
  readonly #x: unknown;
  readonly #wanted: boolean;
  constructor(x: unknown, wanted: boolean) {
    this.#x = x;
    this.#wanted = wanted;
  }
  get(_target: unknown, method: string | symbol): unknown {
    if (typeof method !== 'string' || !isMethodName(method)) return undefined;
    return (...args: unknown[]): unknown => send(this.#x, method, args, this.#wanted);
  }
  apply(_target: unknown, _self: unknown, args: unknown[]): unknown {
    return send(this.#x, '', args, this.#wanted);
  }
  set(): boolean {
    return false;
  }
  has(): boolean {
    return false;
  }
  ownKeys(): string[] {
    return [];
  }
  getOwnPropertyDescriptor(): undefined {
    return undefined;
  }
  getPrototypeOf(): null {
    return null;
  }
}

// Never called itself; an arrow has no `prototype` that a Proxy would have to show.
const callable = Object.setPrototypeOf(() => {}, null) as () => void;
// A Proxy would have to show these as they are, and methods may have these names.
Reflect.deleteProperty(callable, 'length');
Reflect.deleteProperty(callable, 'name');
Object.freeze(callable);

// ---- waiting -------------------------------------------------------------------------------------------------------------

/** Runs a function as a turn of its own. */
export class Thunk extends Runnable {
  readonly home: Household;
  readonly label: string;
  readonly #body: (...args: readonly unknown[]) => unknown;
  constructor(home: Household, label: string, body: (...args: readonly unknown[]) => unknown) {
    super();
    this.home = home;
    this.label = label;
    this.#body = body;
  }
  get account(): Account {
    return this.home.account;
  }
  post(message: Message): void {
    this.home.intake.post(this, message);
  }
  near(): never {
    throw new CapError('not-callable', 'a turn cannot be called');
  }
  run(_message: Message, args: readonly unknown[]): unknown {
    const result = this.#body(...args);
    if (!(result instanceof Promise) || vowOf(result) !== undefined) return result;
    quieten(result);
    throw new CapError(
      'async-behaviour',
      'a turn is synchronous: send with E, answer with the promise that E gave, wait with E.when',
    );
  }
}

/** When something settles, sends what the turn asked for. */
class Wait implements Effect {
  readonly sent = undefined;
  readonly #turn: Turn;
  readonly #awaited: unknown;
  readonly #answer: Vow | undefined;
  readonly #deliver: (settled: { readonly value: unknown } | { readonly error: unknown }) => Message;
  /** Who waits durably, as `[self, method, data]`; and the cell that says so. */
  readonly #lasting: readonly unknown[] | undefined;
  #kept: string | undefined;

  constructor(
    turn: Turn,
    awaited: unknown,
    answer: Vow | undefined,
    deliver: (settled: { readonly value: unknown } | { readonly error: unknown }) => Message,
    waits?: readonly unknown[],
  ) {
    this.#lasting = waits;
    this.#turn = turn;
    this.#awaited = awaited;
    this.#answer = answer;
    this.#deliver = deliver;
    // Paid for now: when the promise settles there is nobody left to refuse.
    turn.account.charge('messages', 1);
  }

  release(): void {
    const settle = (settled: { readonly value: unknown } | { readonly error: unknown }): void => {
      const message = this.#deliver(settled);
      // Until its turn is durable, a restart still owes the waiting actor an outcome.
      message.kept = this.#kept;
      message.learned();
      message.to.post(message);
    };
    const { account } = this.#turn;
    const vow = this.#awaited instanceof Promise ? (vowOf(this.#awaited) ?? follow(this.#awaited, account)) : undefined;
    if (vow === undefined) settle({ value: this.#awaited });
    else
      vow.watch(
        () => settle({ value: fulfilment(vow) }),
        (error) => settle({ error }),
      );
  }

  drop(error: unknown): void {
    this.#turn.account.refund('messages', 1);
    this.#answer?.break(error);
  }

  keep(keeper: Keeper, cells: Map<string, string | undefined>): void {
    const [self] = this.#lasting ?? [];
    const target = targetOf(self);
    if (target === undefined || lasting(target, keeper) === undefined) return;
    this.#kept = keeper.waitKey();
    cells.set(this.#kept, keeper.encodeMessage(this.#lasting));
  }
}

function when(x: unknown, ok: (value: never) => unknown, broken?: (error: Error) => unknown): Promise<unknown> {
  const turn = current;
  if (turn === undefined) return Promise.resolve(x).then(ok as (value: unknown) => unknown, broken);
  const { account, chain, seq, actor, home } = turn;
  const awaited = pass(x, account);
  const answer = new Vow(account);
  const make = (label: string, body: (value: never) => unknown, value: unknown): Message =>
    new Message(
      new Thunk(home as Household, label, body as (...args: readonly unknown[]) => unknown),
      '',
      [value],
      false,
      answer,
      account,
      chain,
      seq,
      actor,
    );
  const deliver = (settled: { readonly value: unknown } | { readonly error: unknown }): Message => {
    if ('value' in settled) return make('when', ok, settled.value);
    const rethrow = (error: unknown): never => {
      throw error;
    };
    return make('when broken', (broken ?? rethrow) as (value: never) => unknown, settled.error);
  };
  try {
    turn.effects.push(new Wait(turn, awaited, answer, deliver));
  } catch (error) {
    answer.break(error);
    throw error;
  }
  return turnPromise(answer);
}

/** What a settled promise looks like as data. */
function outcome(settled: { readonly value: unknown } | { readonly error: unknown }): Outcome {
  if ('value' in settled) return Object.freeze({ ok: true, value: settled.value });
  const { error } = settled;
  const code = error instanceof CapError ? error.code : 'error';
  const message = error instanceof Error ? String(error.message) : 'it was broken without a reason';
  return Object.freeze({ ok: false, code, message });
}

function to(self: object, method: string, ...data: unknown[]): { on(promise: PromiseLike<unknown>): void } {
  const turn = turnFor('E.to');
  const target = targetOf(self);
  if (target === undefined) throw new CapError('invalid', 'E.to takes the actor that waits: bcom.self');
  const { account, chain, seq, actor } = turn;
  const passed = passArgs(data, account);
  return Object.freeze({
    on(promise: PromiseLike<unknown>): void {
      const awaited = pass(promise, account);
      turnFor('E.to').effects.push(
        new Wait(
          turn,
          awaited,
          undefined,
          (settled) =>
            new Message(
              target,
              method,
              [outcome(settled), ...passed.args],
              passed.promises,
              undefined,
              account,
              chain,
              seq,
              actor,
            ),
          target instanceof Actor ? [self, method, passed.args, chain.ids] : undefined,
        ),
      );
    },
  });
}

const eventual = (x: unknown): unknown => new Proxy(callable, new SentTo(x, true));
export const E: Eventual = Object.freeze(
  Object.assign(eventual, {
    sendOnly: (x: unknown): unknown => new Proxy(callable, new SentTo(x, false)),
    when,
    to,
  }),
) as unknown as Eventual;

// ---- resolvers -------------------------------------------------------------------------------------------------------------

/** A promise made in a turn that is undone will not be resolved: nobody has its resolver. */
class Made implements Effect {
  readonly sent = undefined;
  readonly #vow: Vow;
  constructor(vow: Vow) {
    this.#vow = vow;
  }
  release(): void {}
  drop(error: unknown): void {
    this.#vow.break(error);
  }
}

class Resolve implements Effect {
  readonly sent = 'promise';
  readonly #vow: Vow;
  readonly #outcome: { readonly value: unknown } | { readonly error: unknown };
  constructor(vow: Vow, outcome: { readonly value: unknown } | { readonly error: unknown }) {
    this.#vow = vow;
    this.#outcome = outcome;
  }
  release(): void {
    if ('value' in this.#outcome) this.#vow.fulfil(this.#outcome.value);
    else this.#vow.break(this.#outcome.error);
  }
  drop(): void {}
}

/** Decides a promise. A reference, so that an actor can keep it in its portrait and send it on. */
class Resolver extends Target {
  readonly label = 'resolver';
  readonly #vow: Vow;

  constructor(vow: Vow) {
    super();
    this.#vow = vow;
  }

  get account(): Account {
    return this.#vow.account;
  }

  near(method: string, args: readonly unknown[]): void {
    const effect = new Resolve(this.#vow, this.#outcome(method, args[0]));
    if (current === undefined) effect.release();
    else current.effects.push(effect);
  }

  post(message: Message): void {
    behind(message.after, () => this.#resolve(message));
  }

  #resolve(message: Message): void {
    message.taken();
    try {
      new Resolve(this.#vow, this.#outcome(message.method, message.args[0])).release();
      message.answer?.fulfil(undefined);
    } catch (error) {
      message.answer?.break(error);
    }
  }

  #outcome(method: string, value: unknown): { readonly value: unknown } | { readonly error: unknown } {
    const passed = pass(value, this.#vow.account);
    if (method === 'resolve') return { value: passed };
    if (method === 'break') return { error: passed };
    throw new CapError('no-such-method', 'a resolver has resolve(value) and break(error)');
  }
}

const ResolverReference = referenceClass(['resolve', 'break'], 'resolver');

/**
 * A promise and who decides it. In a turn or outside; a resolution made in a turn takes effect when it commits. Resolving a
 * second time is ignored; resolving it to itself breaks it with `cycle`.
 */
export function promise<T>(): {
  readonly promise: Promise<T>;
  readonly resolver: { resolve(value: T | PromiseLike<T>): void; break(error: Error): void };
} {
  const vow = new Vow(current?.account ?? house);
  current?.effects.push(new Made(vow));
  return Object.freeze({
    promise: (current === undefined ? vow.promise() : turnPromise(vow)) as Promise<T>,
    resolver: new ResolverReference(new Resolver(vow)) as {
      resolve(value: T | PromiseLike<T>): void;
      break(error: Error): void;
    },
  });
}

/**
 * A reference for what `promise` will be: for a program that has to hand on now what is made in a later turn. Messages to it
 * wait, in order; if the promise breaks, so do they.
 */
export function farOf<T>(promise: Promise<Far<T>>): Far<T> {
  const vow = vowOf(promise);
  if (vow === undefined) throw new CapError('invalid', 'farOf takes a promise that a vat gave');
  vow.watchedInside();
  return procedureReference(vow) as Far<T>;
}

// A method called on a reference outside a turn sends a message, so that other systems' eventual sends work on ours.
dispatchNear((target, method, args) => {
  if (target instanceof Resolver) return target.near(method, args);
  try {
    return sendNow(target, method, args, target.account, noChain, true)?.promise();
  } catch (error) {
    return Promise.reject(error);
  }
});
