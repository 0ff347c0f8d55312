/**
 * Alarms: an actor sends a message to itself, for later.
 *
 * Promise: the message arrives once, in a turn of its own, at its vat time or soon after it, never before. In
 * a durable vat it also arrives after a restart, at once if its time has passed. A turn that is rolled back
 * sets and cancels nothing.
 *
 * There is one timer for each store, set for the earliest alarm. A timer is no authority: the woken actor
 * must check the clock. An alarm does not keep an actor in the store: if the sweep deletes the actor, nothing
 * is delivered.
 */
import type { Chain } from '../core/causes.ts';
import { CapError } from '../core/errors.ts';
import { fenced } from '../core/faults.ts';
import { Message } from '../core/message.ts';
import { targetOf } from '../core/reference.ts';
import { namePart, numberPart, numbersKey } from '../durable/keys.ts';
import type { ObjectStore } from '../durable/object-store.ts';
import type { OutputCommit } from '../durable/output-commit.ts';
import type { Clock } from '../time/clock.ts';
import type { ActorHome } from '../turn/runnable.ts';
import { type Effect, type Turn, turnFor, type Wakes } from '../turn/turn.ts';
import { passArgs } from '../turn/values.ts';
import { Actor } from './actor.ts';

/**
 * Timers stop while the machine sleeps and vat time does not, so the clock is checked again after at most
 * this many ms.
 */
const longestWait = 60_000;

/** An alarm. `message` is undefined if an earlier process set it; it is then read from the cell. */
interface Wake {
  readonly at: number;
  /** The cell in a durable store: `e/TIME/VAT/N`, so that the cells are in the order of their times. */
  readonly key: string;
  readonly message: Message | undefined;
  over: boolean;
}

/** The services that the alarms of one store need. */
interface WakeServices {
  readonly clock: Pick<Clock, 'after'>;
  /** Vat time, as `vatTime()` returns it. */
  readonly now: () => number;
  readonly objectStore: ObjectStore | undefined;
  readonly outputCommit: OutputCommit | undefined;
  /** The chain of a message that is sent under these causes. */
  readonly chain: (causes: readonly string[]) => Chain;
}

export class LiveWakes implements Wakes {
  readonly #services: WakeServices;
  readonly #byKey = new Map<string, Wake>();
  /**
   * A binary heap: an entry is not later than those at 2n + 1 and 2n + 2. Cancelled entries leave when they
   * reach the top, or all at once.
   */
  #heap: Wake[] = [];
  #timer: { readonly at: number; readonly cancel: () => void } | undefined;
  #closed = false;

  constructor(services: WakeServices) {
    this.#services = services;
  }

  /** Sets the alarms of earlier processes. Those that are due are sent now. */
  restore(): void {
    const { objectStore } = this.#services;
    if (objectStore === undefined) return;
    for (const key of objectStore.scan('e/').keys())
      if (!this.#byKey.has(key)) this.#push({ at: timeIn(key), key, message: undefined, over: false });
    this.#fire();
  }

  /**
   * Call after a failed commit, or when a full disk has room again: makes these alarms equal to the store.
   */
  reload(keys: Iterable<string>): void {
    const { objectStore } = this.#services;
    for (const key of keys) {
      if (!key.startsWith('e/')) continue;
      const kept = objectStore?.get(key) !== undefined;
      if (!kept) this.cancel(key);
      else if (!this.#byKey.has(key)) this.#push({ at: timeIn(key), key, message: undefined, over: false });
    }
    this.#arm();
  }

  set(at: number, key: string, message: Message): void {
    this.#push({ at, key, message, over: false });
    this.#arm();
  }

  /** A message that has already been sent still arrives. */
  cancel(key: string): void {
    const wake = this.#byKey.get(key);
    if (wake === undefined) return;
    this.#byKey.delete(key);
    wake.over = true;
    wake.message?.taken();
    if (this.#heap.length > 64 && this.#heap.length > 2 * this.#byKey.size) {
      // Grants that end cancel their alarms long before the time. Cancelled entries must not pile up until
      // then.
      this.#heap = [];
      for (const left of this.#byKey.values()) this.#insert(left);
    }
    this.#arm();
  }

  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#byKey.clear();
    this.#heap = [];
  }

  #push(wake: Wake): void {
    this.#byKey.set(wake.key, wake);
    this.#insert(wake);
  }

  #fire(): void {
    this.#timer = undefined;
    const now = this.#services.now();
    for (let next = this.#first(); next !== undefined && next.at <= now; next = this.#first()) {
      this.#pop();
      this.#byKey.delete(next.key);
      const due = next;
      // The cell of a durable alarm stays in the store, so the next process sends it.
      fenced(() => this.#send(due));
    }
    this.#arm();
  }

  #send({ key, message }: Wake): void {
    const { objectStore, outputCommit } = this.#services;
    if (message !== undefined) return message.to.post(message);
    const text = objectStore?.get(key);
    if (objectStore === undefined || text === undefined) return;
    const [to, method, args, causes] = objectStore.decode(text) as readonly unknown[];
    const target = targetOf(to);
    if (target === undefined || !Array.isArray(args)) return void outputCommit?.turn(new Map([[key, undefined]]), []);
    const { account } = target;
    account.refund('messages', -1);
    const chain = this.#services.chain(Array.isArray(causes) ? (causes as string[]) : []);
    const late = new Message({ to: target, method: String(method), args, account, chain, alarm: true });
    late.kept = key;
    target.post(late);
  }

  #arm(): void {
    const first = this.#first();
    if (this.#timer !== undefined && this.#timer.at === first?.at) return;
    this.#timer?.cancel();
    this.#timer = undefined;
    if (first === undefined || this.#closed) return;
    const ms = Math.min(Math.max(0, first.at - this.#services.now()), longestWait);
    this.#timer = { at: first.at, cancel: this.#services.clock.after(ms, () => this.#fire()) };
  }

  #first(): Wake | undefined {
    while (this.#heap[0]?.over === true) this.#pop();
    return this.#heap[0];
  }

  #insert(wake: Wake): void {
    const heap = this.#heap;
    let at = heap.length;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = heap[above] as Wake;
      if (before(parent, wake)) break;
      heap[at] = parent;
      at = above;
    }
    heap[at] = wake;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= heap.length) break;
      if (below + 1 < heap.length && before(heap[below + 1] as Wake, heap[below] as Wake)) below += 1;
      if (!before(heap[below] as Wake, last)) break;
      heap[at] = heap[below] as Wake;
      at = below;
    }
    heap[at] = last;
  }
}

const timeIn = (key: string): number => Number(key.slice(2, 18));

// Keys begin with the time. If two times are equal, the alarm that was set first has the smaller key.
const before = (a: Wake, b: Wake): boolean => (a.at === b.at ? a.key < b.key : a.at < b.at);

class SetWake implements Effect {
  readonly #turn: Turn;
  readonly #at: number;
  readonly #key: string;
  readonly #message: Message;

  constructor(turn: Turn, at: number, key: string, message: Message) {
    this.#turn = turn;
    this.#at = at;
    this.#key = key;
    this.#message = message;
  }

  get sent(): string {
    return this.#message.to.label;
  }

  release(): void {
    this.#turn.home.wakes.set(this.#at, this.#key, this.#message);
  }

  drop(): void {
    this.#message.taken();
  }

  keep(objectStore: ObjectStore, cells: Map<string, string | undefined>): void {
    const { to, method, args, chain } = this.#message;
    const home = this.#turn.home as ActorHome;
    this.#message.kept = this.#key;
    cells.set(this.#key, objectStore.encodeMessage([(to as Actor).reference, method, args, chain.ids]));
    // Its number must not be used again.
    cells.set(numbersKey(home.name), String(home.lastId));
  }
}

class CancelWake implements Effect {
  readonly sent = undefined;
  readonly #turn: Turn;
  readonly #key: string;

  constructor(turn: Turn, key: string) {
    this.#turn = turn;
    this.#key = key;
  }

  release(): void {
    this.#turn.home.wakes.cancel(this.#key);
  }

  drop(): void {}

  keep(_keeper: ObjectStore, cells: Map<string, string | undefined>): void {
    cells.set(this.#key, undefined);
  }
}

/**
 * Sends `method(...data)` to `to`, an actor of the running vat, at vat time `at` or soon after it. Returns
 * the id for `cancelWake`; it is text, so a portrait can hold it. It is charged as a queued message until it
 * arrives. Throws `invalid`, `limit`.
 */
export function wakeAt(at: number, to: object, method: string, ...data: unknown[]): string {
  const turn = turnFor('wakeAt');
  const { home, account, chain } = turn;
  const target = targetOf(to);
  if (!(target instanceof Actor) || target.home !== home)
    throw new CapError('invalid', 'wakeAt takes an actor of the running vat: bcom.self');
  if (!(typeof at === 'number' && at >= 0 && at <= Number.MAX_SAFE_INTEGER))
    throw new CapError('invalid', 'wakeAt takes a vat time in ms, such as vatTime() + 1000');
  const passed = passArgs(data, account);
  account.charge('messages', 1);
  // Rounded up to whole ms, so that it is never early.
  const due = Math.ceil(at);
  const message = new Message({ to: target, method, ...passed, account, chain, alarm: true });
  const id = `${numberPart(due)}/${namePart(home.name)}/${numberPart(home.nextId())}`;
  turn.effects.push(new SetWake(turn, due, `e/${id}`, message));
  return id;
}

/**
 * Cancels an alarm of this vat. A message that has already been sent still arrives. Cancelling a past or
 * unknown alarm is no error.
 */
export function cancelWake(id: string): void {
  const turn = turnFor('cancelWake');
  const [, vat] = typeof id === 'string' ? id.split('/') : [];
  if (vat !== namePart(turn.home.name))
    throw new CapError('invalid', 'cancelWake takes a value that wakeAt returned in this vat');
  turn.effects.push(new CancelWake(turn, `e/${id}`));
}
