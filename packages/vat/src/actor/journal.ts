/** Journal entries of actors: how a turn that is rolled back undoes what it did to them. */
import type { ActorKind } from '../core/kind.ts';
import type { Account } from '../core/meter.ts';
import { numbersKey } from '../durable/keys.ts';
import type { ObjectStore, StoredActor } from '../durable/object-store.ts';
import type { ActorHome } from '../turn/runnable.ts';
import type { Undo } from '../turn/turn.ts';

/** The part of an actor that a turn can change. */
export interface ActorState {
  readonly kind: ActorKind;
  readonly args: readonly unknown[];
  readonly behaviour: unknown;
  readonly payer: Account;
  readonly bytes: number;
}

/** An actor, as its journal entries see it. */
interface Journalled {
  readonly label: string;
  readonly home: ActorHome;
  restore(state: ActorState): void;
  sleep(stored: StoredActor): void;
  vanish(): void;
  keep(objectStore: ObjectStore, cells: Map<string, string | undefined>): void;
}

abstract class JournalEntry implements Undo {
  protected readonly actor: Journalled;

  constructor(actor: Journalled) {
    this.actor = actor;
  }

  get changed(): string | undefined {
    return this.actor.label;
  }

  abstract undo(): void;

  keep(objectStore: ObjectStore, cells: Map<string, string | undefined>): void {
    this.actor.keep(objectStore, cells);
  }
}

/** The actor became something else. Holds its earlier state. */
export class Became extends JournalEntry implements ActorState {
  readonly kind: ActorKind;
  readonly args: readonly unknown[];
  readonly behaviour: unknown;
  readonly payer: Account;
  readonly bytes: number;

  // Copied, so that a change of an actor makes one object and not two (bench vat, become).
  constructor(actor: Journalled, before: ActorState) {
    super(actor);
    this.kind = before.kind;
    this.args = before.args;
    this.behaviour = before.behaviour;
    this.payer = before.payer;
    this.bytes = before.bytes;
  }

  undo(): void {
    this.actor.restore(this);
  }
}

/** The actor was woken, and waking changed more than the actor. */
export class Woke extends JournalEntry {
  readonly #stored: StoredActor;

  constructor(actor: Journalled, stored: StoredActor) {
    super(actor);
    this.#stored = stored;
  }

  // Waking is no change that a dry run tells of.
  override get changed(): undefined {
    return undefined;
  }

  undo(): void {
    this.actor.sleep(this.#stored);
  }
}

/** The actor was spawned. */
export class Spawned extends JournalEntry {
  undo(): void {
    this.actor.vanish();
  }

  override keep(objectStore: ObjectStore, cells: Map<string, string | undefined>): void {
    super.keep(objectStore, cells);
    const { home } = this.actor;
    cells.set(numbersKey(home.name), String(home.lastId));
  }
}
