/**
 * One vat: its actors are near each other, and its turns run one after the other.
 */
import { spawn } from '../actor/actor.ts';
import type { Chain } from '../core/causes.ts';
import { CapError } from '../core/errors.ts';
import { Message } from '../core/message.ts';
import type { Account } from '../core/meter.ts';
import { VatPromise } from '../core/promise.ts';
import type { Far, Faraway, Portrait } from '../core/types.ts';
import { numbersKey, rootKey } from '../durable/keys.ts';
import type { ObjectStore } from '../durable/object-store.ts';
import type { Clock } from '../time/clock.ts';
import type { VatTime } from '../time/time.ts';
import { type ActorHome, type Intake, type Runnable, Thunk } from '../turn/runnable.ts';
import { type Turn, turnFor, type Wakes } from '../turn/turn.ts';
import { HomeVat } from './home-vat.ts';
import type { Vat, Vats } from './interface.ts';

/** The services that all vats of a process share. */
interface SharedServices {
  readonly intake: Intake;
  readonly chain: Chain;
  readonly clock: Clock;
  readonly time: VatTime;
  era(): { readonly now: number; readonly trusted: number };
  readonly objectStore: ObjectStore | undefined;
  readonly wakes: Wakes;
  freshName(): string;
  readonly vats: Vats;
}

/** The name of the method that gives what `console.log` of Node prints. */
export const shown: symbol = Symbol.for('nodejs.util.inspect.custom');

/** A turn whose effects are discarded. */
class DryRun extends Thunk {
  seen: { readonly result: unknown; readonly changed: readonly string[]; readonly sent: readonly string[] } | undefined;

  override dryRun(turn: Turn, result: unknown): { readonly error: unknown } {
    const labels = (all: readonly (string | undefined)[]): readonly string[] =>
      Object.freeze([...new Set(all.filter((label) => label !== undefined))]);
    this.seen = Object.freeze({
      result,
      changed: labels(turn.undos.map((undo) => undo.changed)),
      sent: labels(turn.effects.map((effect) => effect.sent)),
    });
    // Its ledger lines are discarded too.
    turn.lines.length = 0;
    return { error: new CapError('peek', 'this was a dry run') };
  }
}

export class LiveVat extends HomeVat implements Vat, ActorHome {
  readonly name: string;
  /** The default account, until the host program asks for this vat and may name another. */
  account: Account;
  claimed = false;
  readonly intake: Intake;
  readonly chain: Chain;
  readonly clock: Clock;
  readonly time: VatTime;
  readonly era: SharedServices['era'];
  readonly objectStore: ObjectStore | undefined;
  readonly wakes: Wakes;
  readonly freshName: SharedServices['freshName'];
  readonly vats: Vats;
  #ids: number;
  #halted: CapError | undefined;
  #interrupted = false;
  readonly #roots = new Map<string, Promise<Far<unknown>>>();

  constructor(name: string, account: Account, services: SharedServices) {
    super();
    this.name = name;
    this.account = account;
    this.intake = services.intake;
    this.chain = services.chain;
    this.clock = services.clock;
    this.time = services.time;
    this.era = services.era;
    this.objectStore = services.objectStore;
    this.wakes = services.wakes;
    this.freshName = services.freshName;
    this.vats = services.vats;
    this.#ids = Number(this.objectStore?.get(numbersKey(name)) ?? 0);
  }

  static {
    const show = function (this: LiveVat): string {
      return `Vat ${JSON.stringify(this.name)}`;
    };
    Object.defineProperty(LiveVat.prototype, shown, { value: show });
  }

  get halted(): CapError | undefined {
    return this.#halted;
  }

  get lastId(): number {
    return this.#ids;
  }

  nextId(): number {
    this.#ids += 1;
    return this.#ids;
  }

  spawn<T>(portrait: Portrait<T>): Promise<Far<T>> {
    return this.#run(new Thunk(this, 'spawn', () => spawn(portrait))) as Promise<Far<T>>;
  }

  root<T>(name: string, make: () => Portrait<T>): Promise<Far<T>> {
    let root = this.#roots.get(name);
    if (root === undefined) {
      root = this.#run(new Thunk(this, 'root', () => this.#makeRoot(name, make))) as Promise<Far<unknown>>;
      this.#roots.set(name, root);
      // After a failure the root can be requested again.
      Promise.prototype.then.call(root, undefined, () => this.#roots.delete(name));
    }
    return root as Promise<Far<T>>;
  }

  /** Runs in a turn. Finds a durable root again, or makes and stores it. */
  #makeRoot<T>(name: string, make: () => Portrait<T>): T {
    const { objectStore } = this;
    if (objectStore === undefined) return spawn(make());
    const key = rootKey(this.name, name);
    const kept = objectStore.get(key);
    if (kept !== undefined) return objectStore.decode(kept) as T;
    const made = spawn(make());
    const turn = turnFor('root');
    turn.cells ??= new Map();
    turn.cells.set(key, objectStore.encode(made));
    return made;
  }

  turn<R>(body: () => R): Promise<Faraway<R>> {
    return this.#run(new Thunk(this, 'turn', body)) as Promise<Faraway<R>>;
  }

  async peek<R>(
    body: () => R,
  ): Promise<{ readonly result: Faraway<R>; readonly changed: readonly string[]; readonly sent: readonly string[] }> {
    const dry = new DryRun(this, 'peek', body);
    try {
      await this.#run(dry);
    } catch (error) {
      if (dry.seen === undefined) throw error;
    }
    return dry.seen as {
      readonly result: Faraway<R>;
      readonly changed: readonly string[];
      readonly sent: readonly string[];
    };
  }

  /** Forgets all roots after a failed commit: they may never have been made. They are looked up again. */
  forgetRoots(): void {
    this.#roots.clear();
  }

  /** Halts the vat because its process ends. Messages on their way are left for the next process. */
  interrupt(why: CapError): void {
    if (this.#halted !== undefined) return;
    this.#interrupted = true;
    this.halt(why);
  }

  get interrupted(): boolean {
    return this.#interrupted;
  }

  halt(why?: Error): void {
    this.#halted ??= new CapError(
      'vat-halted',
      `the vat "${this.name}" was halted${why === undefined ? '' : `: ${why.message}`}: its objects are gone`,
    );
  }

  #run(thunk: Runnable): Promise<unknown> {
    let answer: VatPromise;
    try {
      answer = this.#post(thunk);
    } catch (error) {
      return Promise.reject(error);
    }
    return answer.promise();
  }

  #post(thunk: Runnable): VatPromise {
    this.account.charge('messages', 1);
    let answer: VatPromise;
    try {
      answer = new VatPromise(this.account);
    } catch (error) {
      this.account.refund('messages', 1);
      throw error;
    }
    const { account, chain } = this;
    thunk.post(new Message({ to: thunk, method: '', args: [], answer, account, chain }));
    return answer;
  }
}
