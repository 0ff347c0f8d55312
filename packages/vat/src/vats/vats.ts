/**
 * All vats of a process: one scheduler, one store, one order of turns.
 *
 * `openVats` receives the powers (store, clock, randomness). With a store, a turn's changes and ledger lines
 * are durable before anything that it sends leaves.
 */
import { LiveWakes } from '../actor/wake.ts';
import { Causes, Chain } from '../core/causes.ts';
import { CapError } from '../core/errors.ts';
import { cutOff, guarded } from '../core/faults.ts';
import type { LedgerEntry } from '../core/ledger-entry.ts';
import { Account } from '../core/meter.ts';
import { takeOptions } from '../core/options.ts';
import { isReference } from '../core/reference.ts';
import type { Far, Meter } from '../core/types.ts';
import { systemClock } from '../drivers/clock.ts';
import { afterOthers } from '../drivers/loop.ts';
import { systemRandom } from '../drivers/random.ts';
import { cutKey } from '../durable/keys.ts';
import type { ObjectStore, OnTheWay } from '../durable/object-store.ts';
import { Outbox } from '../durable/outbox.ts';
import type { Commit, OutputCommit } from '../durable/output-commit.ts';
import { saveTime, timeOf } from '../durable/saved-time.ts';
import { sweep } from '../durable/sweep.ts';
import { encodeArgs } from '../ledger/arguments.ts';
import { endsOnly, type Ledger, makeLedger } from '../ledger/chain.ts';
import type { KnownLedgerEntry } from '../ledger/kinds.ts';
import type { StoreEngine } from '../store/engine.ts';
import { engineOf } from '../store/store.ts';
import type { Clock } from '../time/clock.ts';
import type { VatTime } from '../time/time.ts';
import { type DeliveryServices, deliver } from '../turn/deliver.ts';
import type { Intake } from '../turn/runnable.ts';
import { Scheduler } from '../turn/scheduler.ts';
import { checkLabels, countsOf, openDurable } from './durable-parts.ts';
import { freshNames } from './fresh-names.ts';
import { StoringIntake } from './intake.ts';
import { type Vat, type Vats, type VatsOptions, vatsOptions } from './interface.ts';
import { openLogs } from './logs.ts';
import { becauseOf, isPutBack, neverPutBack } from './put-back.ts';
import { Sturdyrefs, storedTable } from './sturdyrefs.ts';
import { LiveVat, shown } from './vat.ts';
import { lossesOfAny, openedVats } from './which-vats.ts';

/**
 * Opens vats, and continues what `options.store` holds. Errors: `invalid` (two definitions with one label,
 * or the store holds objects of a definition that is missing or older), `unavailable` (the store), and
 * whatever `first` throws.
 */
export async function openVats(given?: VatsOptions): Promise<Vats> {
  const options = takeOptions(given, 'openVats', vatsOptions);
  return await opened(new LiveVats(options), options.first);
}

async function opened(vats: LiveVats, first: VatsOptions['first']): Promise<Vats> {
  if (first === undefined) return vats;
  try {
    await first(vats);
    vats.resume();
  } catch (error) {
    await vats.close();
    throw error;
  }
  return vats;
}

/** For tests: `through` wraps the commits to the disk. */
export async function openVatsThrough(options: VatsOptions, through: (commit: Commit) => Commit): Promise<Vats> {
  return await opened(new LiveVats(options, through), options.first);
}

class LiveVats implements Vats {
  readonly #scheduler: Scheduler;
  readonly #intake: Intake;
  readonly #vats = new Map<string, LiveVat>();
  readonly #meters = new Map<string, Account>();
  readonly #clock: Clock;
  readonly #causes = new Causes();
  readonly #chain = new Chain([], this.#causes);
  readonly #sturdyrefs: Sturdyrefs;
  readonly #wakes: LiveWakes;
  readonly #outbox: Outbox | undefined;
  readonly #freshName: () => string;
  readonly #objectStore: ObjectStore | undefined;
  readonly #outputCommit: OutputCommit | undefined;
  readonly #ledger: Ledger | undefined;
  readonly #engine: StoreEngine | undefined;
  #sweep: Promise<number> | undefined;
  readonly #checkpointsUnderWay = new Set<Promise<void>>();
  readonly #losses = new Set<(why: CapError) => void>();
  #turns = 0;
  #lookAgain = 0;
  #sweptAtOpen = false;
  readonly #time: VatTime;
  #stopSaving: (() => void) | undefined;
  readonly #stopLogging: () => void;
  #closed: CapError | undefined;
  /** The messages that the last process left, until `resume` sends them on. */
  #left: readonly OnTheWay[] | undefined;

  constructor(
    {
      store,
      clock = systemClock(),
      random = systemRandom,
      definitions,
      observe,
      onCheckpoint,
      awake = 10_000,
      first,
      ...logs
    }: VatsOptions,
    through: (commit: Commit) => Commit = (commit) => commit,
  ) {
    checkLabels(definitions ?? []);
    this.#clock = clock;
    const engine = store === undefined ? undefined : engineOf(store);
    this.#engine = engine;
    if (engine !== undefined && definitions !== undefined) {
      const parts = openDurable(engine, definitions, {
        ledger: () => this.#ledger,
        through,
        clock,
        room: () => this.#scheduler.goOn(),
        refuses: (lines) => this.#refuses(lines),
        lost: (why, keys) => this.#lose(why, keys),
        vat: (name) => this.#live(name),
      });
      this.#outputCommit = parts.outputCommit;
      this.#objectStore = parts.objectStore;
    }
    this.#time = timeOf(clock, engine);
    // Made after the object store: a store that is refused must get no ledger line.
    const send = onCheckpoint === undefined ? undefined : (checkpoint: string) => this.#send(onCheckpoint, checkpoint);
    const now = (): number => this.#time.now();
    if (engine !== undefined) this.#ledger = makeLedger(engine, { clock, random, vatTime: now, onCheckpoint: send, blank: logs.blank }); // biome-ignore format: one line
    this.#sturdyrefs = new Sturdyrefs(random, storedTable(this.#objectStore, this.#outputCommit));
    this.#freshName = freshNames(random);
    this.#wakes = new LiveWakes({
      clock,
      now,
      objectStore: this.#objectStore,
      outputCommit: this.#outputCommit,
      chain: (causes) => new Chain(causes, this.#causes),
    });
    if (this.#objectStore !== undefined && this.#outputCommit !== undefined)
      this.#outbox = new Outbox(this.#objectStore, this.#outputCommit, this.#causes, this.#wakes);
    this.#causes.ledger = async (kind, fields, args) => {
      const line = { kind, fields, args: args && encodeArgs(args) };
      if (this.#outputCommit === undefined) this.#ledger?.write([line as KnownLedgerEntry]);
      else await this.#outputCommit.line(line);
    };
    const delivery = this.#delivery(observe);
    this.#scheduler = new Scheduler(
      () => clock.tick(),
      (message, now) => {
        const over = deliver(delivery, message, now);
        this.#objectStore?.restSome(awake);
        return over;
      },
      () => this.#rest(),
      this.#outputCommit,
    );
    this.#intake = new StoringIntake(this.#scheduler, this.#objectStore, this.#outputCommit);
    try {
      this.#left = this.#objectStore?.onTheWay();
      if (first === undefined) this.resume();
    } catch (error) {
      this.#ledger?.close();
      throw error;
    }
    openedVats.add(this);
    this.#stopLogging = openLogs(logs);
    if (engine !== undefined) this.#stopSaving = saveTime(clock, engine);
  }

  #delivery(observe: VatsOptions['observe']): DeliveryServices {
    return {
      nextSeq: () => (this.#turns += 1),
      tick: () => this.#clock.tick(),
      commit: (lines: readonly LedgerEntry[]) => {
        if (this.#engine?.full === true) this.#look();
        this.#ledger?.write(lines as readonly KnownLedgerEntry[]);
      },
      outputCommit: this.#outputCommit,
      observe: observe === undefined ? undefined : guarded(observe),
      leave: (kept) => this.#outbox?.leave(kept),
      torn: ({ name }) => this.#vats.get(name)?.interrupt(cutOff()),
    };
  }

  /** Sends on the messages that the last process left. Messages sent since then are already on their way. */
  resume(): void {
    const left = this.#left;
    this.#left = undefined;
    if (left !== undefined) this.#outbox?.resume(left);
  }

  /** Called when no message is waiting, except messages of meters that rest. */
  #rest(): void {
    this.#outputCommit?.afterTurn(true);
    if (this.#sweptAtOpen || this.#objectStore === undefined) return;
    this.#sweptAtOpen = true;
    // Sweeps what an earlier process left, after the first turns.
    afterOthers(() => void this.sweep().catch(() => {}));
  }

  /**
   * Handles a failed commit: no turn that wrote one of `keys` ever happened. Reads from disk what those turns changed,
   * and sends the messages they consumed again. What was durable before continues as if they had not run.
   */
  #lose(why: CapError, keys: ReadonlySet<string>): boolean {
    const engine = this.#engine;
    try {
      if (engine?.failed === true) engine.reopen();
      this.#objectStore?.reload(keys);
      this.#outbox?.again(keys);
      for (const vat of this.#vats.values()) vat.forgetRoots();
      this.#ledger?.resume();
    } catch {
      // The disk cannot be read either.
      for (const vat of this.#vats.values()) vat.interrupt(why);
      this.#tellOfLoss(why);
      return false;
    }
    this.#tellOfLoss(why);
    return true;
  }

  // Deferred: nothing may be written while the disk is read again, and the waiting promises must break first.
  #tellOfLoss(why: CapError): void {
    for (const tell of [...this.#losses, ...lossesOfAny]) queueMicrotask(() => tell(why));
  }

  #refuses(lines: readonly LedgerEntry[]): CapError | undefined {
    if (endsOnly(lines)) return undefined;
    this.#look();
    return new CapError('unavailable', 'the disk of the store is full: make room on it, then try again');
  }

  /** Checks, at most once a second, whether the disk has room again. */
  #look(): void {
    const now = this.#clock.tick();
    if (now < this.#lookAgain) return;
    this.#lookAgain = now + 1000;
    this.#engine?.makeRoom(() => this.#outbox?.go());
  }

  /**
   * Returns a vat that the store names. The host program may claim it later and choose its meter, so no named
   * meter is made here.
   */
  #live(name: string): LiveVat {
    let vat = this.#vats.get(name);
    if (vat === undefined) {
      const over = this.#closed ?? this.#outputCommit?.failed;
      vat = new LiveVat(name, this.#meters.get(name) ?? new Account(name), {
        intake: this.#intake,
        chain: this.#chain,
        clock: this.#clock,
        time: this.#time,
        era: () => this.#engine?.era ?? neverPutBack,
        // Nothing can be read from a failed store.
        objectStore: over === undefined ? this.#objectStore : undefined,
        wakes: this.#wakes,
        freshName: this.#freshName,
        vats: this,
      });
      if (over !== undefined) vat.interrupt(over);
      this.#vats.set(name, vat);
    }
    return vat;
  }

  vat(name: string, options?: { readonly meter?: Meter }): Vat {
    const { meter } = takeOptions(options, 'vats.vat', { meter: true });
    const known = this.#vats.get(name);
    if (known?.claimed === true) return known;
    if (known === undefined && this.#closed !== undefined) throw this.#closed;
    // Restored messages are queued under this account. New ones of the program come after them.
    if (meter === undefined && known !== undefined && !this.#meters.has(name)) this.#meters.set(name, known.account);
    const account = meter ?? this.meter(name);
    if (!(account instanceof Account)) throw new CapError('invalid', 'a meter comes from vats.meter(name, limits)');
    const vat = this.#live(name);
    vat.account = account;
    vat.claimed = true;
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

  readonly dropMeter: Vats['dropMeter'] = (name) => void this.#meters.delete(name);

  async sturdyref(reference: Far<unknown>): Promise<string> {
    if (!isReference(reference)) throw new CapError('invalid', 'only a reference can have a sturdyref');
    return await this.#sturdyrefs.make(reference);
  }

  async restore<T>(sturdyref: string): Promise<Far<T>> {
    return this.#sturdyrefs.find(sturdyref) as Far<T>;
  }

  async revokeSturdyref(sturdyref: string): Promise<void> {
    await this.#sturdyrefs.revoke(sturdyref);
  }

  async sweep(): Promise<number> {
    // A sweep that is under way does not see references dropped since it began.
    while (this.#sweep !== undefined) await this.#sweep.catch(() => {});
    this.#sweep = this.#sweepNow().finally(() => {
      this.#sweep = undefined;
    });
    return await this.#sweep;
  }

  async #sweepNow(): Promise<number> {
    const [objectStore, outputCommit, cells] = [this.#objectStore, this.#outputCommit, this.#engine];
    if (this.#closed !== undefined) throw this.#closed;
    if (objectStore === undefined || outputCommit === undefined || cells === undefined) return 0;
    return await sweep({
      read: cells,
      outputCommit,
      objectStore,
      tick: () => this.#clock.tick(),
      ended: () => this.#closed ?? outputCommit.failed,
    });
  }

  get restored(): boolean {
    return isPutBack(this.#engine?.era);
  }

  get restoredBecause(): string | undefined {
    return this.restored ? becauseOf(this.#engine?.era ?? neverPutBack) : undefined;
  }

  async trust(by: string): Promise<void> {
    if (typeof by !== 'string' || by === '')
      throw new CapError('invalid', 'trust takes the name of the person who has looked');
    if (this.restored) this.#ledger?.trust(by);
  }

  onLoss(listener: (why: CapError) => void): () => void {
    const own = guarded(listener);
    this.#losses.add(own);
    return () => void this.#losses.delete(own);
  }

  readonly counts: Vats['counts'] = () => countsOf(this.#turns, this.#outputCommit, this.#engine);

  async settled(): Promise<void> {
    await this.#outputCommit?.settled();
  }

  async cut(cause: string, why: CapError): Promise<void> {
    const written = this.#outputCommit?.turn(new Map([[cutKey(cause), JSON.stringify([why.code, why.message])]]), []);
    const done = this.#causes.cut(cause, why);
    await this.#outputCommit?.durable(written);
    await done;
  }

  async close(): Promise<void> {
    this.#stopSaving?.();
    this.#closed ??= new CapError('vat-halted', 'these vats are closed: open new ones');
    openedVats.delete(this);
    this.#wakes.close();
    for (const vat of this.#vats.values()) vat.interrupt(this.#closed);
    await this.#sweep?.catch(() => {});
    await this.#outputCommit?.settled().catch(() => {});
    await this.#causes.cutAll(new CapError('unavailable', 'the host is closing: try again when it is back'));
    await this.#outputCommit?.settled().catch(() => {}); // the lines of the calls that were cut
    this.#ledger?.close();
    await Promise.all(this.#checkpointsUnderWay);
    this.#stopLogging();
  }

  [shown](): string {
    return `Vats ${JSON.stringify([...this.#vats.keys()])}`;
  }

  readonly [Symbol.asyncDispose]: Vats['close'] = () => this.close();

  #send(to: NonNullable<VatsOptions['onCheckpoint']>, checkpoint: string): void {
    const sending = Promise.resolve()
      .then(() => to(checkpoint))
      .catch(() => {})
      .finally(() => this.#checkpointsUnderWay.delete(sending));
    this.#checkpointsUnderWay.add(sending);
  }
}
