/**
 * One actor: a portrait brought to life, called near or by message.
 *
 * Promise: its state changes only when a method *returns* a become token that this actor's `bcom` made in the
 * same call (`become.ts`). If an actor calls itself and both calls become, the outer one wins, as in Goblins.
 */
import { CapError } from '../core/errors.ts';
import { Kind } from '../core/kind.ts';
import type { Message, Target } from '../core/message.ts';
import { type Account, type Dues, refundWhenCollected } from '../core/meter.ts';
import { quieten, vatPromiseOf } from '../core/promise.ts';
import { dispatchBy, isMethodName, isReference, procedureReference } from '../core/reference.ts';
import type { Portrait } from '../core/types.ts';
import { actorKey, numbersKey, type ObjectStore, type StoredActor } from '../durable/object-store.ts';
import { type AnyPortrait, type Opened, openPortrait } from '../turn/portrait.ts';
import { type Household, Runnable } from '../turn/runnable.ts';
import { current, Turn, turnFor, type Undo } from '../turn/turn.ts';
import { again, keepArgs } from '../turn/values.ts';
import { Become, makeBcom } from './become.ts';
import { looksLike, referenceTo, shapeOf, storedReference } from './looks.ts';

type AnyFunction = (...args: readonly unknown[]) => unknown;

// Called by argument count, because a spread uses intrinsics that hardening made slow. Never with `this`.
function callWith(call: AnyFunction, args: readonly unknown[]): unknown {
  switch (args.length) {
    case 0:
      return call();
    case 1:
      return call(args[0]);
    case 2:
      return call(args[0], args[1]);
    default:
      return Reflect.apply(call, undefined, args);
  }
}

function constructWith(construct: Kind['construct'], bcom: unknown, args: readonly unknown[]): unknown {
  switch (args.length) {
    case 0:
      return construct(bcom);
    case 1:
      return construct(bcom, args[0]);
    case 2:
      return construct(bcom, args[0], args[1]);
    case 3:
      return construct(bcom, args[0], args[1], args[2]);
    default:
      return construct(bcom, ...args);
  }
}

const asynchronous = (label: string): CapError =>
  new CapError(
    'async-behaviour',
    `${label} answered with a promise that the vat did not mint: behaviours are synchronous, wait with E.when or E.to`,
  );

export class Actor extends Runnable {
  readonly home: Household;
  readonly id: number;
  #kind: Kind;
  #args: readonly unknown[];
  /** Undefined while asleep, and after its turn was rolled back. */
  #behaviour: unknown;
  readonly #bcom: unknown;
  /** Whether it was called since `rest` last checked. */
  #called = false;
  /** The epoch in which its state was last journalled. */
  #epoch = 0;
  /** Pays for the portrait: the session that changed it last. */
  #payer: Account;
  #bytes: number;
  /** Set only if the payer's budget is limited: the charges to refund once nobody holds the actor. */
  #dues: Dues | undefined;
  #gone = false;
  /** The portrait in the store, until the actor is woken. */
  #asleep: StoredActor | undefined;
  /** Undefined while the actor is being made. */
  reference: object | undefined;

  private constructor(home: Household, id: number, { kind, args, bytes }: Opened, payer: Account) {
    super();
    this.home = home;
    this.id = id;
    this.#kind = kind;
    this.#args = args;
    this.#payer = payer;
    this.#bytes = bytes;
    this.#bcom = makeBcom(this);
  }

  /** Makes a new actor. */
  static spawn(home: Household, turn: Turn, portrait: AnyPortrait): Actor {
    const made = openPortrait(portrait);
    if (made === undefined) throw new CapError('invalid', 'spawn takes a portrait, as Counter(0) is');
    turn.account.charge('actors', 1);
    try {
      turn.account.charge('portraitBytes', made.bytes);
    } catch (error) {
      turn.account.refund('actors', 1);
      throw error;
    }
    const actor = new Actor(home, home.nextId(), made, turn.account);
    turn.undos.push(new Unspawn(actor));
    try {
      actor.#behaviour = actor.#construct(turn);
      actor.reference = referenceTo(actor, made.kind, actor.#behaviour);
    } catch (error) {
      // Refunded now: a caller that catches the error continues without an actor.
      actor.vanish();
      throw error;
    }
    if (turn.account.bounds('actors') || turn.account.bounds('portraitBytes')) actor.#settleWhenCollected(turn.account);
    home.keeper?.met(actorKey(home.name, actor.id), actor.reference);
    return actor;
  }

  /**
   * An actor that a store holds; its first call wakes it. Its vat pays without a limit check, since the actor
   * was paid for before.
   */
  static asleep(home: Household, id: number, stored: StoredActor | undefined): Actor {
    if (stored === undefined) return Actor.#missing(home, id);
    const bytes = stored.args.length;
    const actor = new Actor(home, id, { kind: stored.kind, args: [], bytes }, home.account);
    home.account.refund('actors', -1);
    home.account.refund('portraitBytes', -bytes);
    actor.#asleep = stored;
    actor.reference = storedReference(actor, stored.kind, stored.shape);
    actor.#settleWhenCollected(home.account);
    return actor;
  }

  /** An actor of which only the name is left. */
  static #missing(home: Household, id: number): Actor {
    const actor = new Actor(home, id, { kind: missingKind, args: [], bytes: 0 }, home.account);
    actor.#gone = true;
    actor.reference = procedureReference(actor);
    return actor;
  }

  /**
   * Wakes the actor. Waking may change more, because an upgrade may spawn. If so, the actor is written with
   * the turn, and sleeps again if the turn is rolled back.
   */
  #wake(turn: Turn, stored: StoredActor): void {
    const mark = turn.mark();
    const { lastId } = this.home;
    try {
      this.#bringToLife(turn, stored);
    } catch (error) {
      turn.rollback(mark, error);
      throw error;
    }
    this.#asleep = undefined;
    const did = turn.undos.length > mark.undos || turn.effects.length > mark.effects || this.home.lastId !== lastId;
    if (did) turn.undos.push(new Woke(this, stored));
  }

  /** Puts the actor back to its stored state, for the journal. */
  sleep(stored: StoredActor): void {
    this.#asleep = stored;
    this.#behaviour = undefined;
    this.#args = [];
    this.#epoch = 0;
  }

  /**
   * Called between turns. Puts the actor to sleep if nobody called it since the last check. This frees its
   * behaviour; the encoded portrait stays.
   */
  rest(keeper: ObjectStore): void {
    if (this.#behaviour === undefined || this.#gone) return;
    if (this.#called) {
      this.#called = false;
      return;
    }
    const kind = this.#kind;
    this.sleep({
      kind,
      version: kind.options.version ?? 0,
      args: keeper.encode(this.#args),
      shape: keeper.keptShape(kind) ?? shapeOf(kind, this.#behaviour),
    });
  }

  /**
   * Undoes changes that never became durable: resets the actor to its stored state. Without one the actor is
   * gone.
   */
  reload(stored: StoredActor | undefined): void {
    if (stored === undefined) return this.vanish();
    const bytes = stored.args.length;
    const { account } = this.home;
    this.#payer.refund('portraitBytes', this.#bytes);
    account.refund('portraitBytes', -bytes);
    this.#owe(account, bytes);
    this.#kind = stored.kind;
    this.sleep(stored);
  }

  #bringToLife(turn: Turn, { kind, version, args: text }: StoredActor): void {
    let args = this.home.keeper?.decode(text) as readonly unknown[];
    const { options } = kind;
    if (version !== (options.version ?? 0)) {
      const upgrade = options.upgrade?.[version] as ((...old: readonly unknown[]) => readonly unknown[]) | undefined;
      if (upgrade === undefined)
        throw new CapError('invalid', `${kind.label} cannot be upgraded from version ${version}`);
      args = upgrade(...args);
    }
    // A store is outside input.
    if (!Array.isArray(args) || options.shape?.(args) === false)
      throw new CapError(
        'invalid',
        `the store holds arguments of ${kind.label} that its shape does not allow: restore it from a backup`,
      );
    const kept = keepArgs([...args]);
    if (kept.mutable) kind.holdsBytes = true;
    this.#args = kept.args;
    this.#behaviour = this.#construct(turn);
  }

  /** Writes the actor to the turn's cells, for the journal of a durable vat. */
  keep(keeper: ObjectStore, cells: Map<string, string | undefined>): void {
    if (this.#gone) return;
    const kind = this.#kind;
    if (!looksLike(keeper.keptShape(kind), kind, this.#behaviour))
      keeper.keepKind(kind, shapeOf(kind, this.#behaviour), cells);
    cells.set(actorKey(this.home.name, this.id), keeper.actorText(kind, this.#args));
  }

  /** The current arguments, for a holder of the definition; undefined if the actor was not made from it. */
  argumentsOf(kind: Kind): readonly unknown[] | undefined {
    if (this.#kind !== kind || this.#gone) return undefined;
    const asleep = this.#asleep;
    if (asleep === undefined) return kind.holdsBytes ? this.#args.map(again) : this.#args;
    return asleep.version === (kind.options.version ?? 0)
      ? (this.home.keeper?.decode(asleep.args) as readonly unknown[])
      : undefined;
  }

  get label(): string {
    return `${this.#kind.label}#${this.id}`;
  }

  get kindLabel(): string {
    return this.#kind.label;
  }

  get account(): Account {
    return this.home.account;
  }

  post(message: Message): void {
    this.home.intake.post(this, message);
  }

  near(method: string, args: readonly unknown[]): unknown {
    const turn = current as Turn;
    if (turn.home !== this.home)
      throw new CapError(
        'not-callable',
        `${this.kindLabel} is in another vat: use E(reference).${method.slice(0, 64)}(…)`,
      );
    return this.#call(turn, method, args, false);
  }

  run(message: Message, args: readonly unknown[]): unknown {
    return this.#call(current as Turn, message.method, args, true);
  }

  /** Changes the state and its payer at once. The journal restores both if the turn is rolled back. */
  become(made: Opened): void {
    const turn = current as Turn;
    const before = new Became(this, this.#kind, this.#args, this.#behaviour, this.#payer, this.#bytes);
    this.#kind = made.kind;
    this.#args = made.args;
    // There is no behaviour to call while the next one is being constructed.
    this.#behaviour = undefined;
    try {
      if (turn.account !== this.#payer || made.bytes !== this.#bytes) {
        turn.account.charge('portraitBytes', turn.account === this.#payer ? made.bytes - this.#bytes : made.bytes);
        if (turn.account !== this.#payer) this.#payer.refund('portraitBytes', this.#bytes);
        this.#owe(turn.account, made.bytes);
      }
      this.#behaviour = this.#construct(turn);
    } catch (error) {
      before.undo();
      throw error;
    }
    if (this.#epoch !== turn.epoch) {
      this.#epoch = turn.epoch;
      turn.undos.push(before);
    }
  }

  /** Restores an earlier state, for the journal. */
  restore(kind: Kind, args: readonly unknown[], behaviour: unknown, payer: Account, bytes: number): void {
    if (this.#payer !== payer || this.#bytes !== bytes) {
      this.#payer.refund('portraitBytes', this.#bytes);
      payer.refund('portraitBytes', -bytes);
      this.#owe(payer, bytes);
    }
    this.#kind = kind;
    this.#args = args;
    this.#behaviour = behaviour;
    // This epoch's journal entry has been undone, so the next change must be journalled again.
    this.#epoch = 0;
  }

  /** Removes an actor whose turn was rolled back. */
  vanish(): void {
    if (this.#gone) return;
    this.#gone = true;
    this.#behaviour = undefined;
    this.#asleep = undefined;
    this.#payer.refund('actors', 1);
    this.#payer.refund('portraitBytes', this.#bytes);
    if (this.#dues !== undefined) this.#dues.paid = true;
  }

  #owe(payer: Account, bytes: number): void {
    this.#payer = payer;
    this.#bytes = bytes;
    if (this.#dues !== undefined) {
      this.#dues.payer = payer;
      this.#dues.bytes = bytes;
    } else if (payer.bounds('portraitBytes')) this.#settleWhenCollected(undefined);
  }

  #settleWhenCollected(spawner: Account | undefined): void {
    this.#dues = { spawner, payer: this.#payer, bytes: this.#bytes, paid: false };
    refundWhenCollected(this, this.#dues);
  }

  #construct(turn: Turn): unknown {
    const kind = this.#kind;
    const outer = turn.actor;
    const frame = turn.frame;
    turn.actor = undefined;
    let behaviour: unknown;
    try {
      const args = kind.holdsBytes ? this.#args.map(again) : this.#args;
      behaviour = constructWith(kind.construct, this.#bcom, args);
    } finally {
      turn.actor = outer;
      turn.frame = frame;
    }
    if (behaviour instanceof Promise) {
      quieten(behaviour);
      throw asynchronous(`the constructor of ${kind.label}`);
    }
    const fits = kind.procedure
      ? typeof behaviour === 'function'
      : typeof behaviour === 'function' || (typeof behaviour === 'object' && behaviour !== null);
    if (!fits || isReference(behaviour))
      throw new CapError(
        'invalid',
        `the constructor of ${kind.label} must return ${kind.procedure ? 'one procedure (method, args)' : 'methods or one function'}`,
      );
    return behaviour;
  }

  #call(turn: Turn, method: string, args: readonly unknown[], outermost: boolean): unknown {
    if (this.#behaviour === undefined && this.#asleep !== undefined) this.#wake(turn, this.#asleep);
    const behaviour = this.#behaviour;
    if (behaviour === undefined) throw this.#absent();
    this.#called = true;
    const outer = turn.actor;
    const outerFrame = turn.frame;
    const frame = Turn.nextFrame();
    turn.actor = this;
    turn.frame = frame;
    if (outermost) turn.messageFrame = frame;
    try {
      const result = this.#apply(behaviour, method, args);
      if (typeof result !== 'object' || result === null) return result;
      if (Become.is(result)) return Become.accept(result, this, frame, outermost);
      if (result instanceof Promise && vatPromiseOf(result) === undefined) {
        quieten(result);
        throw asynchronous(this.kindLabel);
      }
      return result;
    } finally {
      turn.actor = outer;
      turn.frame = outerFrame;
    }
  }

  #apply(behaviour: unknown, method: string, args: readonly unknown[]): unknown {
    if (typeof behaviour === 'function') {
      if (this.#kind.procedure) return behaviour(method, args) as unknown;
      if (method === '') return callWith(behaviour as AnyFunction, args);
    } else if (Object.hasOwn(behaviour as object, method) && isMethodName(method)) {
      // Without `this`: a behaviour that called itself through it would see raw become tokens.
      const call = (behaviour as Record<string, unknown>)[method];
      if (typeof call === 'function') return callWith(call as AnyFunction, args);
    }
    throw new CapError(
      'no-such-method',
      method === ''
        ? `${this.kindLabel} is not a function: name a method`
        : `${this.kindLabel} has no method "${method.slice(0, 64)}"`,
    );
  }

  #absent(): CapError {
    if (this.#kind === missingKind)
      return new CapError('no-such-object', 'this object is no longer in the store: ask for a new one');
    return this.#gone
      ? new CapError('no-such-object', 'this object was made in a turn that was undone: make it again')
      : new CapError('not-callable', `${this.kindLabel} was called while it was being made`);
  }
}

class Became implements Undo {
  readonly #actor: Actor;
  readonly #kind: Kind;
  readonly #args: readonly unknown[];
  readonly #behaviour: unknown;
  readonly #payer: Account;
  readonly #bytes: number;

  constructor(actor: Actor, kind: Kind, args: readonly unknown[], behaviour: unknown, payer: Account, bytes: number) {
    this.#actor = actor;
    this.#kind = kind;
    this.#args = args;
    this.#behaviour = behaviour;
    this.#payer = payer;
    this.#bytes = bytes;
  }

  get changed(): string {
    return this.#actor.label;
  }

  undo(): void {
    this.#actor.restore(this.#kind, this.#args, this.#behaviour, this.#payer, this.#bytes);
  }
  keep(keeper: ObjectStore, cells: Map<string, string | undefined>): void {
    this.#actor.keep(keeper, cells);
  }
}

class Woke implements Undo {
  readonly changed = undefined;
  readonly #actor: Actor;
  readonly #stored: StoredActor;
  constructor(actor: Actor, stored: StoredActor) {
    this.#actor = actor;
    this.#stored = stored;
  }
  undo(): void {
    this.#actor.sleep(this.#stored);
  }
  keep(keeper: ObjectStore, cells: Map<string, string | undefined>): void {
    this.#actor.keep(keeper, cells);
  }
}

class Unspawn implements Undo {
  readonly #actor: Actor;
  constructor(actor: Actor) {
    this.#actor = actor;
  }
  get changed(): string {
    return this.#actor.label;
  }
  undo(): void {
    this.#actor.vanish();
  }
  keep(keeper: ObjectStore, cells: Map<string, string | undefined>): void {
    this.#actor.keep(keeper, cells);
    const { home } = this.#actor;
    cells.set(numbersKey(home.name), String(home.lastId));
  }
}

/** The kind of an actor that is no longer in the store. */
const missingKind = new Kind('missing', true, () => () => undefined, {});

/** Makes an actor from a portrait in the running turn's vat. It is near until the turn ends. */
export function spawn<T>(portrait: Portrait<T>): T {
  const turn = turnFor('spawn');
  return Actor.spawn(turn.home as Household, turn, portrait).reference as T;
}

/** Sets how a method called on a reference is handled: near in a turn, with `outside` elsewhere. */
export function dispatchNear(outside: (target: Target, method: string, args: unknown[]) => unknown): void {
  dispatchBy((target, method, args) =>
    current === undefined ? outside(target, method, args) : target.near(method, args),
  );
}
