/**
 * One actor: a portrait brought to life, called near or by message.
 *
 * Promise: its state changes only when a method *returns* a become token that this actor's `bcom` made in the
 * same call (`become.ts`). If an actor calls itself and both calls become, the outer one wins, as in Goblins.
 */

import { CapError } from '../core/errors.ts';
import { ActorKind } from '../core/kind.ts';
import type { Message } from '../core/message.ts';
import { type Account, type Dues, refundWhenCollected } from '../core/meter.ts';
import { quieten } from '../core/native-promise.ts';
import { vatPromiseOf } from '../core/promise.ts';
import { ByReference, isMethodName, procedureReference } from '../core/reference.ts';
import type { Portrait } from '../core/types.ts';
import { actorKey } from '../durable/keys.ts';
import type { ObjectStore, StoredActor } from '../durable/object-store.ts';
import { noteDropped } from '../turn/development.ts';
import { type AnyPortrait, openPortrait, type PortraitContents } from '../turn/portrait.ts';
import { type ActorHome, Runnable } from '../turn/runnable.ts';
import { current, Turn, turnFor } from '../turn/turn.ts';
import { again, keepArgs } from '../turn/values.ts';
import { Become, makeBcom, uncallable } from './become.ts';
import { type AnyFunction, absent, asynchronous, construct, inAnotherVat, noSuchMethod } from './behaviour.ts';
import { type ActorState, Became, Spawned, Woke } from './journal.ts';
import { hasShape, referenceTo, shapeOf, shows, storedReference } from './shapes.ts';
import { upgraded } from './upgrade.ts';

export class Actor extends Runnable {
  readonly home: ActorHome;
  readonly id: number;
  #kind: ActorKind;
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

  private constructor(home: ActorHome, id: number, { kind, args, bytes }: PortraitContents, payer: Account) {
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
  static spawn(home: ActorHome, turn: Turn, portrait: AnyPortrait, callable = false): Actor {
    const made = openPortrait(portrait);
    if (made === undefined) throw new CapError('invalid', 'spawn takes a portrait, such as Counter(0)');
    turn.account.charge('actors', 1);
    try {
      turn.account.charge('portraitBytes', made.bytes);
    } catch (error) {
      turn.account.refund('actors', 1);
      throw error;
    }
    const actor = new Actor(home, home.nextId(), made, turn.account);
    turn.undos.push(new Spawned(actor));
    try {
      actor.#behaviour = actor.#construct(turn);
      actor.reference = referenceTo(actor, made, actor.#behaviour, callable);
    } catch (error) {
      // Refunded now: a caller that catches the error continues without an actor.
      actor.vanish();
      throw error;
    }
    if (turn.account.bounds('actors') || turn.account.bounds('portraitBytes')) actor.#settleWhenCollected(turn.account);
    home.objectStore?.met(actorKey(home.name, actor.id), actor.reference);
    return actor;
  }

  /**
   * An actor that a store holds; its first call wakes it. Its vat pays without a limit check, since the actor
   * was paid for before.
   */
  static asleep(home: ActorHome, id: number, stored: StoredActor | undefined): Actor {
    if (stored === undefined) return Actor.#missing(home, id);
    const bytes = stored.args.length;
    const actor = new Actor(home, id, { kind: stored.kind, args: [], bytes }, home.account);
    home.account.refund('actors', -1);
    home.account.refund('portraitBytes', -bytes);
    actor.#asleep = stored;
    actor.reference = storedReference(actor, stored);
    actor.#settleWhenCollected(home.account);
    return actor;
  }

  /** An actor of which only the name is left. */
  static #missing(home: ActorHome, id: number): Actor {
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
  rest(objectStore: ObjectStore): void {
    if (this.#behaviour === undefined || this.#gone) return;
    if (this.#called) {
      this.#called = false;
      return;
    }
    const kind = this.#kind;
    this.sleep({
      kind,
      version: kind.options.version ?? 0,
      args: objectStore.encode(this.#args),
      shape: objectStore.kinds.shapeOf(kind) ?? shapeOf(kind, this.#behaviour),
      callable: typeof this.reference === 'function',
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
    const args = upgraded(kind, version, this.home.objectStore?.decode(text));
    const kept = keepArgs([...args]);
    if (kept.mutable) kind.holdsBytes = true;
    this.#args = kept.args;
    this.#behaviour = this.#construct(turn);
  }

  /** Writes the actor to the turn's cells, for the journal of a durable vat. */
  keep(objectStore: ObjectStore, cells: Map<string, string | undefined>): void {
    if (this.#gone) return;
    const kind = this.#kind;
    if (!hasShape(objectStore.kinds.shapeOf(kind), kind, this.#behaviour))
      objectStore.kinds.keep(kind, shapeOf(kind, this.#behaviour), cells);
    cells.set(
      actorKey(this.home.name, this.id),
      objectStore.actorText(kind, this.#args, typeof this.reference === 'function'),
    );
  }

  /** The current arguments, for a holder of the definition; undefined if the actor was not made from it. */
  argumentsOf(kind: ActorKind): readonly unknown[] | undefined {
    if (this.#kind !== kind || this.#gone) return undefined;
    const asleep = this.#asleep;
    if (asleep === undefined) return kind.holdsBytes ? this.#args.map(again) : this.#args;
    return asleep.version === (kind.options.version ?? 0)
      ? (this.home.objectStore?.decode(asleep.args) as readonly unknown[])
      : undefined;
  }

  get label(): string {
    return `${this.#kind.label}#${this.id}`;
  }

  get kindLabel(): string {
    return this.#kind.label;
  }

  /** The methods that it has now, or had when it fell asleep. Undefined for a procedure and a function. */
  override get methods(): readonly string[] | undefined {
    if (this.#gone) return undefined;
    const shape = this.#asleep?.shape ?? shapeOf(this.#kind, this.#behaviour);
    return typeof shape === 'string' ? undefined : shape;
  }

  override shows(method: string): boolean {
    return current?.home !== this.home || shows(this.#kind, this.#behaviour, method);
  }

  override keptIn(store: object): object | undefined {
    return this.home.objectStore === store ? this.reference : undefined;
  }

  run(message: Message, args: readonly unknown[]): unknown {
    const frame = Turn.nextFrame();
    (current as Turn).messageFrame = frame;
    return this.near(message.method, args, frame);
  }

  /**
   * Calls a method. Every near call is one frame of this function and one of the reference's, so that calls
   * nest deep before the stack is full: it calls the behaviour itself.
   */
  near(method: string, args: readonly unknown[], frame: number = Turn.nextFrame()): unknown {
    const turn = current as Turn;
    if (turn.home !== this.home) throw inAnotherVat(this.kindLabel, method);
    const call = this.#methodNamed(turn, method);
    const outer = turn.actor;
    const outerFrame = turn.frame;
    const outerToken = turn.token;
    turn.actor = this;
    turn.frame = frame;
    try {
      // By argument count, because a spread uses intrinsics that hardening made slow. Never with `this`.
      let result: unknown;
      if (this.#kind.procedure) result = call(method, args);
      else if (args.length === 0) result = call();
      else if (args.length === 1) result = call(args[0]);
      else if (args.length === 2) result = call(args[0], args[1]);
      else if (args.length === 3) result = call(args[0], args[1], args[2]);
      else result = Reflect.apply(call, undefined, args);
      // References first: a forwarder has a Proxy among its prototypes, which makes `instanceof` slow.
      if (typeof result === 'object' && result !== null && !ByReference.is(result)) {
        if (Become.is(result)) return Become.accept(result, this, frame);
        this.#refusePromise(result);
      }
      if (turn.token === frame) noteDropped(this.#kind, method);
      return result;
    } finally {
      turn.actor = outer;
      turn.frame = outerFrame;
      turn.token = outerToken;
    }
  }

  /** A promise of somebody else would let the behaviour run on after its turn. */
  #refusePromise(result: object): void {
    if (result instanceof Promise && vatPromiseOf(result) === undefined) {
      quieten(result);
      throw asynchronous(this.kindLabel);
    }
  }

  /** The function behind a method name; for a procedure, the procedure. Wakes the actor. Throws if there is none. */
  #methodNamed(turn: Turn, method: string): AnyFunction {
    if (this.#behaviour === undefined && this.#asleep !== undefined) this.#wake(turn, this.#asleep);
    const behaviour = this.#behaviour;
    if (behaviour === undefined)
      throw absent(this.kindLabel, this.#kind === missingKind ? 'missing' : this.#gone ? 'undone' : 'unmade');
    this.#called = true;
    if (typeof behaviour === 'function') {
      if (this.#kind.procedure || method === '') return behaviour as AnyFunction;
    } else if (Object.hasOwn(behaviour as object, method) && isMethodName(method)) {
      // Called without `this`: a behaviour that called itself through it would see raw become tokens.
      const call = (behaviour as Record<string, unknown>)[method];
      if (typeof call === 'function') return call as AnyFunction;
    }
    throw noSuchMethod(this.kindLabel, method);
  }

  /** Changes the state and its payer at once. The journal restores both if the turn is rolled back. */
  become(made: PortraitContents): void {
    const turn = current as Turn;
    // In variables: a further change in the same turn needs no entry in the journal, and so makes no object.
    const kind = this.#kind;
    const args = this.#args;
    const behaviour = this.#behaviour;
    const payer = this.#payer;
    const bytes = this.#bytes;
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
      if (typeof this.#behaviour === 'function' && !made.kind.procedure && typeof this.reference === 'object')
        throw uncallable(made.kind.label);
    } catch (error) {
      this.restore({ kind, args, behaviour, payer, bytes });
      throw error;
    }
    if (this.#epoch !== turn.epoch) {
      this.#epoch = turn.epoch;
      turn.undos.push(new Became(this, { kind, args, behaviour, payer, bytes }));
    }
  }

  /** Restores an earlier state, for the journal. */
  restore({ kind, args, behaviour, payer, bytes }: ActorState): void {
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
    try {
      return construct(kind, this.#bcom, kind.holdsBytes ? this.#args.map(again) : this.#args);
    } finally {
      turn.actor = outer;
      turn.frame = frame;
    }
  }
}

/** The kind of an actor that is no longer in the store. */
const missingKind = new ActorKind({ label: 'missing', procedure: true, construct: () => () => undefined, options: {} });

/** Makes an actor from a portrait in the running turn's vat. It is near until the turn ends. */
export function spawn<T>(portrait: Portrait<T>): T {
  return spawnLike(undefined, portrait);
}

/** The same for a forwarder that has `first` somewhere in its state: if that is called without a name, so is it. */
export function spawnLike<T>(first: unknown, portrait: Portrait<T>): T {
  const turn = turnFor('spawn');
  return Actor.spawn(turn.home as ActorHome, turn, portrait, typeof first === 'function').reference as T;
}
