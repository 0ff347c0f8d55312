/**
 * All vats of a process: one scheduler, one store, one order of turns.
 *
 * `openVats` is where the powers come in (store, clock, randomness) and where output leaves. What a turn says to the ledger is
 * durable before anything the turn sends goes out; that seam is `commit`, and the durable store of portraits will use it too.
 */
import type { Runnable } from './actor.ts';
import { Causes, Chain } from './causes.ts';
import type { Clock } from './clock.ts';
import { type Ground as Delivery, deliver } from './deliver.ts';
import { systemClock } from './drivers/clock.ts';
import { systemRandom } from './drivers/random.ts';
import { CapError } from './errors.ts';
import { type Entry, type Ledger, makeLedger } from './ledger/chain.ts';
import type { Message } from './message.ts';
import { Account } from './meter.ts';
import { isReference } from './reference.ts';
import { Scheduler } from './scheduler.ts';
import { engineOf, type Store } from './store/store.ts';
import { Sturdyrefs } from './sturdyrefs.ts';
import type { Line } from './turn.ts';
import type { AnyDefinition, Far, Meter, TurnRecord } from './types.ts';
import { LiveVat, type Vat } from './vat.ts';

export interface VatsOptions {
  /** Where ledger lines go. Without one they are dropped. */
  readonly store?: Store;
  readonly clock?: Clock;
  readonly random?: (bytes: number) => Uint8Array;
  /** What may be brought to life from a store: labels must be unique. */
  readonly definitions?: readonly AnyDefinition[];
  /** Is told of each turn, after it. An error of its own is its own. */
  readonly observe?: (turn: TurnRecord) => void;
}

export interface Vats {
  /** The vat of this name, made at the first call. Turns that the host program starts in it are charged to `meter`. */
  vat(name: string, options?: { readonly meter?: Meter }): Vat;
  /** The meter of this name. Limits: actors, portraitBytes, messages, promises, rows (alive now), lines (this hour), turnMs (one turn). */
  meter(name: string, limits?: Readonly<Record<string, number>>): Meter;
  sturdyref(reference: Far<unknown>): Promise<string>;
  restore<T>(sturdyref: string): Promise<Far<T>>;
  revokeSturdyref(sturdyref: string): Promise<void>;
  /** Every turn before now is durable. */
  settled(): Promise<void>;
  /** Ends a cause: driver calls under it are aborted, messages under it are not delivered. Answers when the drivers are done. */
  cut(cause: string, why: CapError): Promise<void>;
  /** Halts all vats, aborts driver calls and waits for them. The store stays its owner's to close. */
  close(): Promise<void>;
}

// Those that are open, for what is made outside a turn and has to live somewhere.
const open = new Set<LiveVats>();

/** The vats to use where the caller could not say which. */
export function onlyVats(): Vats {
  const [first, ...others] = open;
  if (first === undefined) throw new CapError('invalid', 'no vats are open: call openVats first');
  if (others.length > 0) throw new CapError('invalid', 'several vats are open: do this in a turn of the one you mean');
  return first;
}

export async function openVats(options: VatsOptions = {}): Promise<Vats> {
  return new LiveVats(options);
}

class LiveVats implements Vats {
  readonly #scheduler: Scheduler;
  readonly #vats = new Map<string, LiveVat>();
  readonly #meters = new Map<string, Account>();
  readonly #clock: Clock;
  readonly #causes = new Causes();
  readonly #chain = new Chain([], this.#causes);
  readonly #sturdyrefs: Sturdyrefs;
  readonly #ledger: Ledger | undefined;
  #closed: CapError | undefined;

  constructor({ store, clock = systemClock(), random = systemRandom, definitions = [], observe }: VatsOptions) {
    checkLabels(definitions);
    this.#clock = clock;
    this.#sturdyrefs = new Sturdyrefs(random);
    const engine = store === undefined ? undefined : engineOf(store);
    const ledger = engine === undefined ? undefined : makeLedger(engine, { clock, random });
    this.#ledger = ledger;
    let seq = 0;
    const ground: Delivery = {
      nextSeq: () => {
        seq += 1;
        return seq;
      },
      tick: () => clock.tick(),
      commit: (lines: readonly Line[]) => void ledger?.write(lines as readonly Entry[]),
      observe: observe === undefined ? undefined : guarded(observe),
    };
    this.#scheduler = new Scheduler(
      () => clock.tick(),
      (message, now) => deliver(ground, message, now),
    );
    open.add(this);
  }

  vat(name: string, options: { readonly meter?: Meter } = {}): Vat {
    let vat = this.#vats.get(name);
    if (vat === undefined) {
      if (this.#closed !== undefined) throw this.#closed;
      const account = options.meter ?? this.meter(name);
      if (!(account instanceof Account)) throw new CapError('invalid', 'a meter comes from vats.meter(name, limits)');
      vat = new LiveVat(name, account, {
        intake: { post: (to, message) => this.#post(to, message) },
        chain: this.#chain,
        clock: this.#clock,
      });
      this.#vats.set(name, vat);
    }
    return vat;
  }

  meter(name: string, limits?: Readonly<Record<string, number>>): Meter {
    let account = this.#meters.get(name);
    if (account === undefined) {
      account = new Account(name, limits);
      this.#meters.set(name, account);
    } else if (limits !== undefined)
      throw new CapError('invalid', `the meter "${name}" has its limits already: give the new one another name`);
    return account;
  }

  async sturdyref(reference: Far<unknown>): Promise<string> {
    if (!isReference(reference)) throw new CapError('invalid', 'only a reference can have a sturdyref');
    return this.#sturdyrefs.make(reference);
  }

  async restore<T>(sturdyref: string): Promise<Far<T>> {
    return this.#sturdyrefs.find(sturdyref) as Far<T>;
  }

  async revokeSturdyref(sturdyref: string): Promise<void> {
    this.#sturdyrefs.revoke(sturdyref);
  }

  async settled(): Promise<void> {}

  cut(cause: string, why: CapError): Promise<void> {
    return this.#causes.cut(cause, why);
  }

  async close(): Promise<void> {
    this.#closed ??= new CapError('vat-halted', 'these vats are closed: open new ones');
    open.delete(this);
    for (const vat of this.#vats.values()) vat.halt(this.#closed);
    await this.#causes.cutAll(new CapError('unavailable', 'the host is closing: try again when it is back'));
    this.#ledger?.close();
  }

  #post(to: Runnable, message: Message): void {
    // A halted vat answers at once: what waits for it must not wait for its turn.
    const { halted } = to.home;
    if (halted !== undefined) return message.fail(halted);
    message.to = to;
    this.#scheduler.post(message);
  }
}

function checkLabels(definitions: readonly AnyDefinition[]): void {
  const seen = new Set<string>();
  for (const { label } of definitions) {
    if (seen.has(label)) throw new CapError('invalid', `two definitions are called "${label}": rename one`);
    seen.add(label);
  }
}

/** An observer that throws is the observer's problem: it is told as an uncaught error, the turn is not. */
function guarded(observe: (record: TurnRecord) => void): (record: TurnRecord) => void {
  return (record) => {
    try {
      observe(record);
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  };
}
