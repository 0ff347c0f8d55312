/**
 * All vats of a process: one scheduler, one store, one order of turns.
 *
 * `openVats` receives the powers (store, clock, randomness). With a store, a turn's changes and ledger lines
 * are durable before anything that it sends leaves.
 */
import { Actor } from '../actor/actor.ts';
import { storedTable, unreadTable } from '../actor/table.ts';
import { LiveWakes } from '../actor/wake.ts';
import { Causes, Chain } from '../core/causes.ts';
import { CapError } from '../core/errors.ts';
import { guarded } from '../core/guarded.ts';
import type { Kind } from '../core/kind.ts';
import type { LedgerEntry } from '../core/ledger-entry.ts';
import type { Message } from '../core/message.ts';
import { Account } from '../core/meter.ts';
import { isReference, targetOf } from '../core/reference.ts';
import type { AnyDefinition, Far, Meter } from '../core/types.ts';
import { systemClock } from '../drivers/clock.ts';
import { afterOthers } from '../drivers/loop.ts';
import { systemRandom } from '../drivers/random.ts';
import { cutKey, ObjectStore, type OnTheWay, sturdyrefKey } from '../durable/object-store.ts';
import { Outbox } from '../durable/outbox.ts';
import { type Commit, OutputCommit, type Writes } from '../durable/output-commit.ts';
import { saveTime, timeOf } from '../durable/saved-time.ts';
import { sweep } from '../durable/sweep.ts';
import { endsOnly, type Ledger, makeLedger } from '../ledger/chain.ts';
import type { Entry } from '../ledger/kinds.ts';
import type { StoreEngine } from '../store/engine.ts';
import type { Line as LedgerLine } from '../store/records.ts';
import type { Era } from '../store/rows.ts';
import { engineOf } from '../store/store.ts';
import type { Clock } from '../time/clock.ts';
import type { VatTime } from '../time/time.ts';
import { type Ground as Delivery, deliver } from '../turn/deliver.ts';
import { driverNamed } from '../turn/driver.ts';
import { kindOf } from '../turn/portrait.ts';
import { readInTurns } from '../turn/reading.ts';
import type { Runnable } from '../turn/runnable.ts';
import { Scheduler } from '../turn/scheduler.ts';
import type { Vat, Vats, VatsOptions } from './interface.ts';
import { fulfilled, lostReference, nameOf } from './names.ts';
import { base32, type Shelf, Sturdyrefs } from './sturdyrefs.ts';
import { LiveVat } from './vat.ts';
import { lossesOfAny, openedVats } from './which-vats.ts';

export async function openVats(options: VatsOptions = {}): Promise<Vats> {
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
  readonly #vats = new Map<string, LiveVat>();
  readonly #meters = new Map<string, Account>();
  readonly #clock: Clock;
  readonly #causes = new Causes();
  readonly #chain = new Chain([], this.#causes);
  readonly #sturdyrefs: Sturdyrefs;
  readonly #wakes: LiveWakes;
  readonly #outbox: Outbox | undefined;
  readonly #incarnation: string;
  readonly #keeper: ObjectStore | undefined;
  readonly #edge: OutputCommit | undefined;
  readonly #ledger: Ledger | undefined;
  readonly #engine: StoreEngine | undefined;
  #sweep: Promise<number> | undefined;
  /** Calls of `onCheckpoint` that are under way. */
  readonly #sending = new Set<Promise<void>>();
  readonly #losses = new Set<(why: CapError) => void>();
  #lookAgain = 0;
  #sweptAtOpen = false;
  readonly #time: VatTime;
  #stopSaving: (() => void) | undefined;
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
    }: VatsOptions,
    through: (commit: Commit) => Commit = (commit) => commit,
  ) {
    checkLabels(definitions ?? []);
    this.#clock = clock;
    const engine = store === undefined ? undefined : engineOf(store);
    this.#engine = engine;
    let ledger: Ledger | undefined;
    if (engine !== undefined && definitions !== undefined) {
      const commit = (writes: Writes, done: (error: unknown) => void): void => {
        let lines: readonly LedgerLine[];
        try {
          // A line that the ledger wrote by itself failed earlier. No turn was lost with it, so reopen.
          if (engine.failed) engine.reopen();
          lines = ledger?.prepare(writes.lines as readonly Entry[]) ?? [];
        } catch (error) {
          return done(error);
        }
        engine.commitLater(engine.epoch, { lines, cells: writes.cells }, done);
      };
      this.#edge = new OutputCommit({
        commit: through(commit),
        tick: () => clock.tick(),
        room: () => this.#scheduler.goOn(),
        refuses: (lines) => (engine.full ? this.#refuses(lines) : undefined),
        lost: (why, keys) => this.#lose(why, keys),
      });
      this.#keeper = new ObjectStore(readInTurns(engine), this.#edge, definitions.map(kindOfDefinition), {
        actor: (vat, id, stored) => Actor.asleep(this.#live(vat), id, stored).reference as object,
        table: (vat, id) => storedTable(this.#live(vat), id),
        driver: driverNamed,
        nameOf,
        fulfilled,
        lost: lostReference,
        rest: (actor) => (targetOf(actor) as Actor).rest(this.#keeper as ObjectStore),
        reload: (actor, stored) => (targetOf(actor) as Actor).reload(stored),
        unread: unreadTable,
      });
    }
    this.#time = timeOf(clock, engine);
    // Made after the object store: a store that is refused must get no ledger line.
    const send = onCheckpoint === undefined ? undefined : (checkpoint: string) => this.#send(onCheckpoint, checkpoint);
    const vatTime = (): number => this.#time.now();
    ledger = engine === undefined ? undefined : makeLedger(engine, { clock, random, vatTime, onCheckpoint: send });
    this.#sturdyrefs = new Sturdyrefs(random, this.#shelf());
    this.#incarnation = base32(random(5));
    this.#wakes = new LiveWakes({
      clock,
      now: () => this.#time.now(),
      keeper: this.#keeper,
      edge: this.#edge,
      chain: (causes) => new Chain(causes, this.#causes),
    });
    if (this.#keeper !== undefined && this.#edge !== undefined)
      this.#outbox = new Outbox(this.#keeper, this.#edge, this.#causes, this.#wakes);
    this.#ledger = ledger;
    this.#causes.ledger = async (line) => {
      const edge = this.#edge;
      if (edge === undefined) ledger?.write([line as Entry]);
      else await edge.durable(edge.turn(new Map(), [line]));
    };
    let seq = 0;
    const ground: Delivery = {
      nextSeq: () => {
        seq += 1;
        return seq;
      },
      tick: () => clock.tick(),
      commit: (lines: readonly LedgerEntry[]) => {
        if (engine?.full === true) this.#look();
        ledger?.write(lines as readonly Entry[]);
      },
      edge: this.#edge,
      observe: observe === undefined ? undefined : guarded(observe),
      leave: (kept) => this.#outbox?.leave(kept),
    };
    this.#scheduler = new Scheduler(
      () => clock.tick(),
      (message, now) => {
        const over = deliver(ground, message, now);
        this.#keeper?.restSome(awake);
        return over;
      },
      () => this.#rest(),
      () => this.#edge?.full === true,
    );
    try {
      this.#left = this.#keeper?.onTheWay();
      if (first === undefined) this.resume();
    } catch (error) {
      ledger?.close();
      throw error;
    }
    openedVats.add(this);
    if (engine !== undefined) this.#stopSaving = saveTime(clock, engine);
  }

  /** Sends on the messages that the last process left. Messages sent since then are already on their way. */
  resume(): void {
    const left = this.#left;
    this.#left = undefined;
    if (left !== undefined) this.#outbox?.resume(left);
  }

  /** Called when no message is waiting. */
  #rest(): void {
    this.#edge?.afterTurn(true);
    if (this.#sweptAtOpen || this.#keeper === undefined) return;
    this.#sweptAtOpen = true;
    // Sweeps what an earlier process left, after the first turns.
    afterOthers(() => void this.sweep().catch(() => {}));
  }

  /**
   * Handles a failed commit: no turn that wrote one of `keys` ever happened. Reads from disk what those turns
   * changed, and sends the messages they consumed again. Everything that was durable before continues as if
   * those turns had not run.
   */
  #lose(why: CapError, keys: ReadonlySet<string>): boolean {
    const engine = this.#engine;
    try {
      if (engine?.failed === true) engine.reopen();
      this.#keeper?.reload(keys);
      this.#outbox?.again(keys);
    } catch {
      // The disk cannot be read either.
      for (const vat of this.#vats.values()) vat.interrupt(why);
      this.#tellOfLoss(why);
      return false;
    }
    for (const vat of this.#vats.values()) vat.forgetRoots();
    this.#ledger?.resume();
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

  #shelf(): Shelf | undefined {
    const [keeper, edge] = [this.#keeper, this.#edge];
    if (keeper === undefined || edge === undefined) return undefined;
    const put = async (hash: string, text: string | undefined): Promise<void> => {
      // The caller may rely on it, so wait until it is on disk.
      await edge.durable(edge.turn(new Map([[sturdyrefKey(hash), text]]), []));
    };
    return {
      get: (hash) => {
        const text = keeper.get(sturdyrefKey(hash));
        return text === undefined ? undefined : (keeper.decode(text) as Far<unknown>);
      },
      set: (hash, reference) => put(hash, keeper.encode(reference)),
      delete: (hash) => put(hash, undefined),
    };
  }

  /**
   * Returns a vat that the store names. The host program may claim it later and choose its meter, so no named
   * meter is made here.
   */
  #live(name: string): LiveVat {
    let vat = this.#vats.get(name);
    if (vat === undefined) {
      const over = this.#closed ?? this.#edge?.failed;
      vat = new LiveVat(name, this.#meters.get(name) ?? new Account(name), {
        intake: { post: (to, message) => this.#post(to, message) },
        chain: this.#chain,
        clock: this.#clock,
        time: this.#time,
        era: () => this.#engine?.era ?? neverPutBack,
        // Nothing can be read from a failed store.
        keeper: over === undefined ? this.#keeper : undefined,
        wakes: this.#wakes,
        incarnation: this.#incarnation,
        vats: this,
      });
      if (over !== undefined) vat.interrupt(over);
      this.#vats.set(name, vat);
    }
    return vat;
  }

  vat(name: string, options: { readonly meter?: Meter } = {}): Vat {
    const known = this.#vats.get(name);
    if (known?.claimed === true) return known;
    if (known === undefined && this.#closed !== undefined) throw this.#closed;
    // Restored messages are queued under this account. Keep it, so that new messages of the program come
    // after them.
    if (options.meter === undefined && known !== undefined && !this.#meters.has(name))
      this.#meters.set(name, known.account);
    const account = options.meter ?? this.meter(name);
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
    const [keeper, edge, cells] = [this.#keeper, this.#edge, this.#engine];
    if (this.#closed !== undefined) throw this.#closed;
    if (keeper === undefined || edge === undefined || cells === undefined) return 0;
    return await sweep({
      read: cells,
      edge,
      keeper,
      tick: () => this.#clock.tick(),
      ended: () => this.#closed ?? edge.failed,
    });
  }

  get restored(): boolean {
    const { now, trusted } = this.#engine?.era ?? neverPutBack;
    return trusted < now;
  }

  get restoredBecause(): string | undefined {
    return this.restored ? becauseOf(this.#engine?.era ?? neverPutBack) : undefined;
  }

  async trust(by: string): Promise<void> {
    if (typeof by !== 'string' || by === '') throw new CapError('invalid', 'trust takes the name of who has looked');
    if (this.restored) this.#ledger?.trust(by);
  }

  onLoss(listener: (why: CapError) => void): () => void {
    const own = guarded(listener);
    this.#losses.add(own);
    return () => void this.#losses.delete(own);
  }

  async settled(): Promise<void> {
    await this.#edge?.settled();
  }

  async cut(cause: string, why: CapError): Promise<void> {
    const written = this.#edge?.turn(new Map([[cutKey(cause), JSON.stringify([why.code, why.message])]]), []);
    const done = this.#causes.cut(cause, why);
    await this.#edge?.durable(written);
    await done;
  }

  async close(): Promise<void> {
    this.#stopSaving?.();
    this.#closed ??= new CapError('vat-halted', 'these vats are closed: open new ones');
    openedVats.delete(this);
    this.#wakes.close();
    for (const vat of this.#vats.values()) vat.interrupt(this.#closed);
    await this.#sweep?.catch(() => {});
    await this.#edge?.settled().catch(() => {});
    await this.#causes.cutAll(new CapError('unavailable', 'the host is closing: try again when it is back'));
    this.#ledger?.close();
    await Promise.all(this.#sending);
  }

  #send(to: NonNullable<VatsOptions['onCheckpoint']>, checkpoint: string): void {
    const sending = Promise.resolve()
      .then(() => to(checkpoint))
      .catch(() => {})
      .finally(() => this.#sending.delete(sending));
    this.#sending.add(sending);
  }

  #post(to: Runnable, message: Message): void {
    const { after } = message;
    // A message from another store must first be durable there.
    if (after !== undefined && !after.durable && after.owner !== this.#edge)
      return after.then(
        () => this.#take(to, message),
        (why) => message.fail(why),
      );
    this.#take(to, message);
  }

  #take(to: Runnable, message: Message): void {
    const { halted, interrupted } = to.home;
    try {
      if (to instanceof Actor && message.cause !== undefined && (halted === undefined || interrupted))
        this.#keep(to, message);
    } catch (error) {
      return message.fail(error);
    }
    // A halted vat breaks messages at once; their senders must not wait for a turn.
    if (halted !== undefined) {
      if (message.kept !== undefined && !interrupted) this.#edge?.turn(undefined, [], message.kept);
      return message.fail(halted);
    }
    message.to = to;
    this.#scheduler.post(message);
  }

  /** Stores a message whose target was not known when it was sent. */
  #keep(to: Actor, message: Message): void {
    const [keeper, edge] = [this.#keeper, this.#edge];
    if (keeper === undefined || edge === undefined || edge.failed !== undefined) return;
    const before = message.kept;
    const key = keeper.queuedAs(before);
    if (key === before) return;
    const { method, args, chain } = message;
    const cells = new Map<string, string | undefined>();
    cells.set(key, keeper.encodeMessage([to.reference, method, args, chain.ids]));
    if (before !== undefined) cells.set(before, undefined);
    message.kept = key;
    edge.turn(cells, []);
  }
}

const neverPutBack: Era = { now: 0, trusted: 0 };

function becauseOf({ missing, why }: Era): string | undefined {
  if (why === undefined) return undefined;
  const reasons = {
    older: `this state was put back: ${missing === 1 ? 'its last commit is' : `its last ${missing} commits are`} missing`,
    backup: 'this state was restored from a backup',
    ledger:
      'the ledger of this state is not the one that its sentinel saw: another copy of this state was used, or lines were cut or written anew',
    lost: 'the sentinel of this state is not where it is looked for, so the state may be older than it was (another user or machine, a container that does not keep it, another --sentinel)',
    unnamed: 'this state has a sentinel, and no folder was named to look for it, so the state may be older than it was',
  };
  return `${reasons[why]}. What was granted with a limit waits until you let it go on`;
}

function kindOfDefinition(definition: AnyDefinition): Kind {
  const kind = kindOf(definition);
  if (kind === undefined) throw new CapError('invalid', 'definitions are what define and defineProcedure give');
  return kind;
}

function checkLabels(definitions: readonly AnyDefinition[]): void {
  const seen = new Set<string>();
  for (const { label } of definitions) {
    if (seen.has(label)) throw new CapError('invalid', `two definitions are called "${label}": rename one`);
    seen.add(label);
  }
}
