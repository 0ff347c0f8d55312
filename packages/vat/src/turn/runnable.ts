/** Targets that a turn can run on: an actor, or a function of the host program or of a handler. */
import { CapError } from '../core/errors.ts';
import { type Message, Target } from '../core/message.ts';
import type { Account } from '../core/meter.ts';
import { quieten } from '../core/native-promise.ts';
import { vatPromiseOf } from '../core/promise.ts';
import type { Home, Turn } from './turn.ts';

/** A target that a turn can run on. */
export abstract class Runnable extends Target {
  abstract readonly home: ActorHome;

  get account(): Account {
    return this.home.account;
  }

  post(message: Message): void {
    this.home.intake.post(this, message);
  }

  override get ended(): CapError | undefined {
    return this.home.halted;
  }

  abstract run(message: Message, args: readonly unknown[]): unknown;

  /** Its methods, to describe it; undefined if they are not known in advance. */
  get methods(): readonly string[] | undefined {
    return undefined;
  }

  /** For a dry run: records what the turn did, and returns the error to roll it back with. */
  dryRun(_turn: Turn, _value: unknown): { readonly error: unknown } | undefined {
    return undefined;
  }
}

/** Puts messages for a vat's actors into the queue of the meter that pays. */
export interface Intake {
  post(to: Runnable, message: Message): void;
}

export interface ActorHome extends Home {
  /** The last number that `nextId` returned. */
  readonly lastId: number;
  readonly intake: Intake;
}

/** Runs a function in a turn of its own. */
export class Thunk extends Runnable {
  readonly home: ActorHome;
  readonly label: string;
  readonly #body: (...args: readonly unknown[]) => unknown;
  constructor(home: ActorHome, label: string, body: (...args: readonly unknown[]) => unknown) {
    super();
    this.home = home;
    this.label = label;
    this.#body = body;
  }
  near(): never {
    throw new CapError('not-callable', 'a turn is not an object that can be called: use E(reference)');
  }
  run(_message: Message, args: readonly unknown[]): unknown {
    const result = this.#body(...args);
    if (!(result instanceof Promise) || vatPromiseOf(result) !== undefined) return result;
    quieten(result);
    throw new CapError(
      'async-behaviour',
      'a turn is synchronous: send with E, return the promise that E gave, wait with E.when',
    );
  }
}
