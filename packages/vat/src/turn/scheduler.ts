/**
 * Chooses the message to deliver next: deficit round-robin over meters, by measured turn time.
 *
 * Promise: messages of one meter are delivered in the order they were posted. However many messages a meter
 * has waiting, it delays the next turn of another by at most its quantum and one turn of each other busy
 * meter, apart from waits for the disk. Other work of the process (sockets, timers) runs at least every
 * `slice`. A turn cannot be interrupted, so an endless loop in an actor is not handled here. That is why code
 * written by a model runs in a process of its own.
 *
 * The alarms of a meter have a queue of their own, as if another meter had set them. Otherwise a session that floods
 * would put off the end of its own grants, which is an alarm: work under way would go on after the deadline.
 *
 * While a commit is under way, a meter starts no turn once its turns fill an eighth of the next batch, unless no
 * other meter had a turn in the last second. Otherwise one meter could fill the batch that the others wait for.
 *
 * A meter with a limit of messages floods if it has had messages waiting for 50 ms. A break of less than 10 ms counts
 * as waiting. A longer break is subtracted from the time counted. So a meter that sends bursts with such breaks between
 * them uses no more than half of the time. While another active meter takes less than a quarter of its time, a flooding
 * meter rests after each quantum for seven times as long as it ran, at most 1 s. So its turns take about an eighth of
 * the time. Otherwise every step of a call of another meter would find the process, and often both processors, busy.
 *
 * After Shreedhar and Varghese, Efficient Fair Queuing Using Deficit Round Robin (1995), with time in place
 * of bytes.
 */
import { fenced, noteFault } from '../core/faults.ts';
import type { Message } from '../core/message.ts';
import type { Account } from '../core/meter.ts';
import { afterMs, afterOthers, onceOthersRan, soon } from '../drivers/loop.ts';

/** ms of turns that one meter may run before the next one. */
const quantum = 0.5;
/** ms of turns before the event loop runs. A call and its answer together wait for up to two slices. */
const slice = 2;

/** The part of a batch that one meter may take beside others. Its last turn may take more. */
const share = 1 / 8;
/** ms after a turn of another meter for which a meter is not alone. */
const lately = 1000;

/** A meter floods after this many ms with messages waiting, less the breaks of at least `shortestBreak`. */
const patience = 50;
/** A break of less than this many ms counts as time with messages waiting. */
const shortestBreak = 10;
/** A meter counts as active for this many ms after a turn. In these ms, about two thirds of its time are forgotten. */
const activeMs = 100;
/** A flooding meter rests only if another active meter takes less than this part of its time. */
const muchLess = 1 / 4;
/** A flooding meter rests for this many times as long as it ran, but no longer than `longestRestMs`. */
const restPerRun = 7;
const longestRestMs = 1000;

/** The batch that follows the commit under way. */
interface NextBatch {
  /** The number of the batch. No two batches have the same. */
  readonly next: number;
  /** The part that is filled. From 1 on, turns must wait for the disk. 0 if no commit is under way. */
  readonly taken: number;
}

class Lane {
  #messages: (Message | undefined)[] = [];
  #head = 0;
  /** ms that this lane may still run. Negative after a long turn: the lane owes that time. */
  deficit = 0;
  waiting = false;
  /** `now - busySince` is the time for which messages have been waiting, less the breaks. */
  busySince = 0;
  /** The end of the last turn that left no message waiting. */
  emptySince = Number.NEGATIVE_INFINITY;
  /** Whether it holds the alarms of its meter. A meter does not rest for its own alarms: beside them it is still alone. */
  readonly alarms: boolean;
  /** Whether its meter has a limit of messages. Only such a meter rests, and its alarms do not: they end grants. */
  readonly limited: boolean;
  /** ms of its recent turns. Older turns count for less. */
  #spent = 0;
  #spentAt = 0;
  /** The part of the batch `#batch` that the turns of this lane take. */
  #taken = 0;
  #batch = 0;

  constructor({ account, alarm }: Message) {
    this.alarms = alarm;
    this.limited = account.bounds('messages') && !alarm;
  }

  floods(now: number): boolean {
    return this.limited && !this.empty && now - this.busySince >= patience;
  }

  /** Call with the first message after a break. */
  begins(now: number): void {
    const pause = now - this.emptySince;
    if (pause < shortestBreak) return;
    const waited = Math.min(this.emptySince - this.busySince, patience);
    this.busySince = now - Math.max(0, waited - pause);
  }

  spent(now: number): number {
    return this.#spent * Math.exp((this.#spentAt - now) / activeMs);
  }

  spends(ran: number, now: number): void {
    this.#spent = this.spent(now) + ran;
    this.#spentAt = now;
  }

  takenOf(batch: number): number {
    return this.#batch === batch ? this.#taken : 0;
  }

  takes(part: number, batch: number): void {
    this.#taken = this.takenOf(batch) + part;
    this.#batch = batch;
  }

  get empty(): boolean {
    return this.#head === this.#messages.length;
  }

  push(message: Message): void {
    this.#messages.push(message);
  }

  take(): Message {
    const message = this.#messages[this.#head] as Message;
    message.account.queued -= 1;
    this.#messages[this.#head] = undefined;
    this.#head += 1;
    if (this.#head === this.#messages.length) {
      this.#messages = [];
      this.#head = 0;
    } else if (this.#head >= 1024 && this.#head * 2 >= this.#messages.length) {
      // Half of the array is used up. Copying the rest now costs at most one copy for each message.
      this.#messages = this.#messages.slice(this.#head);
      this.#head = 0;
    }
    return message;
  }
}

export class Scheduler {
  readonly #tick: () => number;
  readonly #deliver: (message: Message, now: number) => number;
  // Weak: the lanes of a session are collected with its meter.
  readonly #lanes = new WeakMap<Account, Lane>();
  readonly #alarmLanes = new WeakMap<Account, Lane>();
  /** Lanes with waiting messages that do not rest, in the order in which they run next. */
  #busy: Lane[] = [];
  #awake = false;
  #sliceStarted: number | undefined;
  readonly #go = (): void => this.#run();

  /** Called when no message is waiting, except messages of meters that rest. */
  readonly #rest: () => void;

  readonly #batch: NextBatch;
  /** Whether all waiting messages wait for the disk. */
  #held = false;
  #last: Lane | undefined;
  /** The time of the last change from one meter to another. */
  #changed = Number.NEGATIVE_INFINITY;
  /** The active meter that took the least time, and the time at which its last turn ended. */
  #least: Lane | undefined;
  #leastAt = Number.NEGATIVE_INFINITY;
  readonly #afterMs: typeof afterMs;

  /**
   * `deliver` receives the current time and returns the time at its end, so that each turn reads the clock
   * once.
   */
  constructor(
    tick: () => number,
    deliver: (message: Message, now: number) => number,
    rest: () => void = () => {},
    batch: NextBatch = { next: 0, taken: 0 },
    later: typeof afterMs = afterMs,
  ) {
    this.#tick = tick;
    this.#deliver = deliver;
    this.#rest = rest;
    this.#batch = batch;
    this.#afterMs = later;
  }

  /** Call when a commit has ended: runs the messages that waited for it. */
  goOn(): void {
    if (!this.#held) return;
    this.#held = false;
    soon(this.#go);
  }

  post(message: Message): void {
    const lanes = message.alarm ? this.#alarmLanes : this.#lanes;
    let lane = lanes.get(message.account);
    if (lane === undefined) lanes.set(message.account, (lane = new Lane(message)));
    lane.push(message);
    message.account.queued += 1;
    if (!lane.waiting) {
      lane.waiting = true;
      const now = this.#tick();
      lane.begins(now);
      lane.deficit = Math.min(lane.deficit, 0);
      // The lanes that wait for the disk had turns already, so this one goes first.
      if (this.#held) this.#busy.unshift(lane);
      else this.#busy.push(lane);
    }
    if (!this.#awake) this.#wake();
    else if (this.#held && !this.#mustWait(lane)) this.goOn();
  }

  /** Whether a turn of this meter must wait for the disk. */
  #mustWait(lane: Lane): boolean {
    const { taken, next } = this.#batch;
    if (taken === 0) return false;
    return taken >= 1 || (lane.takenOf(next) >= share && this.#isShared(lane));
  }

  /** Whether another meter had a turn lately. */
  #isShared(lane: Lane): boolean {
    return this.#last !== lane || this.#tick() - this.#changed < lately;
  }

  #wake(): void {
    this.#awake = true;
    // A program that awaits each result would otherwise never let the event loop past its microtasks.
    if (this.#sliceStarted !== undefined && this.#tick() - this.#sliceStarted > slice) afterOthers(this.#go);
    else soon(this.#go);
  }

  /**
   * Counts the time that a meter ran. Returns whether it must rest, because it floods and another takes much less. No
   * other meter could run meanwhile. So the time of the others is taken as it was when this meter began.
   */
  #mustRest(lane: Lane, began: number, now: number): boolean {
    lane.spends(now - began, now);
    const least = this.#least?.spent(began) ?? 0;
    if (lane === this.#least || began - this.#leastAt >= activeMs || lane.spent(now) <= least) {
      if (!lane.alarms) [this.#least, this.#leastAt] = [lane, now];
      return false;
    }
    return lane.floods(now) && least < lane.spent(now) * muchLess;
  }

  /** Takes a meter out of the queue until its rest is over. The rest also pays for the time that the meter owes. */
  #rests(lane: Lane, ran: number): void {
    const ms = Math.max(restPerRun * ran, -lane.deficit);
    lane.deficit = 0;
    this.#afterMs(Math.min(ms, longestRestMs), () => {
      this.#busy.push(lane);
      if (!this.#awake) this.#wake();
      else this.goOn();
    });
  }

  /** An internal error must not keep the next message from its turn. */
  #turn(message: Message, now: number): number {
    try {
      return this.#deliver(message, now);
    } catch (error) {
      noteFault(error);
      return this.#tick();
    }
  }

  /** Runs messages of one meter until its time, or its share of the batch, is over. Returns the time. */
  #runLane(lane: Lane, started: number, until: number): number {
    if (lane !== this.#last && !lane.alarms) [this.#last, this.#changed] = [lane, started];
    if (lane.deficit <= 0) lane.deficit += quantum;
    let now = started;
    while (!lane.empty && lane.deficit > 0 && now < until && !this.#mustWait(lane)) {
      const before = this.#batch.taken;
      const then = this.#turn(lane.take(), now);
      lane.takes(Math.max(0, this.#batch.taken - before), this.#batch.next);
      lane.deficit -= then - now;
      now = then;
    }
    return now;
  }

  /** Calls `#rest`, and once more after an internal error. Otherwise the last turn would wait for the next message. */
  #restOrRetry(): void {
    try {
      this.#rest();
    } catch (error) {
      noteFault(error);
      afterOthers(() => fenced(this.#rest));
    }
  }

  #run(): void {
    const started = this.#tick();
    if (this.#sliceStarted === undefined) {
      onceOthersRan(() => {
        this.#sliceStarted = undefined;
      });
      this.#sliceStarted = started;
    }
    const until = this.#sliceStarted + slice;
    const waiting: Lane[] = [];
    let now = started;
    while (this.#busy.length > 0 && now < until) {
      const lane = this.#busy.shift() as Lane;
      if (this.#mustWait(lane)) {
        waiting.push(lane);
        continue;
      }
      const began = now;
      now = this.#runLane(lane, now, until);
      const mustRest = this.#mustRest(lane, began, now);
      if (lane.empty) {
        lane.waiting = false;
        lane.emptySince = now;
      } else if (mustRest) this.#rests(lane, now - began);
      else if (lane.deficit > 0) this.#busy.unshift(lane);
      else this.#busy.push(lane);
    }
    this.#held = this.#busy.length === 0 && waiting.length > 0 && waiting.every((lane) => this.#mustWait(lane));
    // The lanes that wait for the disk come first when they may run again. Of these, the ones without a turn in the batch
    // come first.
    const had = (lane: Lane): boolean => lane.takenOf(this.#batch.next) > 0;
    if (waiting.length > 0)
      this.#busy = [...waiting.filter((lane) => !had(lane)), ...waiting.filter(had), ...this.#busy];
    if (this.#busy.length === 0) {
      this.#awake = false;
      this.#restOrRetry();
    } else if (!this.#held)
      afterOthers(() => {
        this.#sliceStarted = undefined;
        this.#run();
      });
  }
}
