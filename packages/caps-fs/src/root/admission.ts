/**
 * Admits a few operations at a time. The others wait, each in the queue of its holder.
 *
 * Promise: holders take turns, so a neighbour of a holder with thousands of waiting operations waits for one of
 * them and not for all. No holder runs more than its share of operations at once (`holder.ts`). When too many
 * wait, the holder with the most loses its last one, so nobody is refused for what a neighbour asked.
 */
import { refusal } from '../base/errors.ts';
import { type Holder, Shares } from './holder.ts';

interface AdmissionTerms {
  readonly places: number;
  readonly maxWaiting: number;
  /** The most bytes that all waiting operations may hold together. */
  readonly maxBytes: number;
  /** Returns a promise if the event loop should have a turn before the next operation starts. */
  pause(): Promise<void> | undefined;
}

interface Waiting {
  readonly bytes: number;
  admit(): void;
  refuse(error: unknown): void;
}

/** The waiting operations of one holder and of all below it. They exist only while any of them waits. */
class Line {
  readonly holder: Holder;
  readonly above: Line | undefined;
  /** The holder's own. */
  readonly own: Waiting[] = [];
  /** Those that have something waiting, the next one first. `own` is one of them. */
  readonly turns = new Set<Line | 'own'>();
  count = 0;
  bytes = 0;

  constructor(holder: Holder, above: Line | undefined) {
    this.holder = holder;
    this.above = above;
  }
}

export class Admission {
  readonly #terms: AdmissionTerms;
  readonly #running: Shares;
  readonly #lines = new Map<Holder, Line>();
  readonly #top: Holder;
  #pausing = false;

  constructor(top: Holder, terms: AdmissionTerms) {
    this.#top = top;
    this.#terms = terms;
    this.#running = new Shares(terms.places);
  }

  /** How many operations of this holder and of those below it wait. */
  waitingOf(holder: Holder): number {
    return this.#lines.get(holder)?.count ?? 0;
  }

  /**
   * `bytes` is how much memory the operation holds while it waits. Returns a promise only if the operation has to
   * wait, so that an operation that need not wait starts in the caller's own turn. `ended` drops it while it waits.
   */
  enter(holder: Holder, bytes: number, ended?: AbortSignal): Promise<void> | undefined {
    if (this.#lines.size === 0 && !this.#pausing && this.#running.mayTake(holder)) {
      this.#running.add(holder, 1);
      return undefined;
    }
    this.#makeRoom(holder, bytes);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leave = (): void => {
      const line = this.#lines.get(holder);
      const at = line?.own.indexOf(waiting) ?? -1;
      if (line && at >= 0) this.#take(line, at);
      reject(refusal('CLOSED'));
    };
    const waiting: Waiting = {
      bytes,
      admit: () => {
        ended?.removeEventListener('abort', leave);
        resolve();
      },
      refuse: (error) => {
        ended?.removeEventListener('abort', leave);
        reject(error);
      },
    };
    ended?.addEventListener('abort', leave);
    this.#add(this.#lineOf(holder), waiting);
    this.#admitMore();
    return promise;
  }

  leave(holder: Holder): void {
    this.#running.add(holder, -1);
    this.#admitMore();
  }

  #admitMore(): void {
    while (!this.#pausing && this.#lines.size > 0 && !this.#running.full) {
      const line = this.#next(this.#lines.get(this.#top));
      if (!line) return;
      const rest = this.#terms.pause();
      if (rest) {
        this.#pausing = true;
        void rest.then(() => {
          this.#pausing = false;
          this.#admitMore();
        });
        return;
      }
      this.#running.add(line.holder, 1);
      this.#take(line, 0)?.admit();
    }
  }

  /** The line whose turn it is, of those that may run one more. It goes to the end. */
  #next(line: Line | undefined): Line | undefined {
    if (!line) return undefined;
    for (const turn of line.turns) {
      const found = turn === 'own' ? (this.#running.mayTake(line.holder) ? line : undefined) : this.#next(turn);
      if (!found) continue;
      line.turns.delete(turn);
      line.turns.add(turn);
      return found;
    }
    return undefined;
  }

  #lineOf(holder: Holder): Line {
    const known = this.#lines.get(holder);
    if (known) return known;
    const { parent } = holder;
    const above = holder === this.#top || parent === undefined ? undefined : this.#lineOf(parent);
    const line = new Line(holder, above);
    above?.turns.add(line);
    this.#lines.set(holder, line);
    return line;
  }

  #add(line: Line, waiting: Waiting): void {
    line.own.push(waiting);
    line.turns.add('own');
    for (let at: Line | undefined = line; at; at = at.above) {
      at.count += 1;
      at.bytes += waiting.bytes;
    }
  }

  #take(line: Line, index: number): Waiting | undefined {
    const [waiting] = line.own.splice(index, 1);
    if (line.own.length === 0) line.turns.delete('own');
    for (let at: Line | undefined = line; at; at = at.above) {
      at.count -= 1;
      at.bytes -= waiting?.bytes ?? 0;
      if (at.count > 0) continue;
      this.#lines.delete(at.holder);
      at.above?.turns.delete(at);
    }
    return waiting;
  }

  /** Refuses the newest operation of the holder that has the most waiting, or throws if that is the newcomer. */
  #makeRoom(holder: Holder, bytes: number): void {
    const { maxWaiting, maxBytes } = this.#terms;
    const top = (): Line | undefined => this.#lines.get(this.#top);
    const over = (what: Weight, max: number, more: number, error: () => Error): void => {
      while ((top()?.[what] ?? 0) + more > max) {
        const heaviest = this.#heaviest(top(), holder, what, more);
        if (!heaviest) throw error();
        this.#take(heaviest, heaviest.own.length - 1)?.refuse(error());
      }
    };
    over('count', maxWaiting, 1, () => refusal('FS_LIMIT', `${maxWaiting} operations wait already, await some first`));
    over('bytes', maxBytes, bytes, () =>
      refusal('FS_LIMIT', `${maxBytes} bytes of writes wait already, await some first`),
    );
  }

  /** Goes down to where the most waits, or `undefined` if that is where the newcomer would wait. */
  #heaviest(top: Line | undefined, holder: Holder, what: Weight, more: number): Line | undefined {
    const way = new Set<Holder>();
    for (let at: Holder | undefined = holder; at; at = at.parent) way.add(at);
    let line = top;
    let isOnWay = true;
    while (line) {
      const isNewcomers = (turn: Line | 'own'): boolean =>
        isOnWay && (turn === 'own' ? line?.holder === holder : way.has(turn.holder));
      let newcomers = more;
      let most: Line | 'own' | undefined;
      let weight = 0;
      for (const turn of line.turns) {
        const has = turn === 'own' ? ownOf(line, what) : turn[what];
        if (isNewcomers(turn)) newcomers += has;
        else if (has > weight) [most, weight] = [turn, has];
      }
      if (isOnWay && weight <= newcomers) {
        // The newcomer yields where it is equal: it came last.
        const next: Line | 'own' | undefined = [...line.turns].find(isNewcomers);
        if (next === undefined || next === 'own') return undefined;
        line = next;
        continue;
      }
      isOnWay = false;
      if (most === undefined || most === 'own') return most && line;
      line = most;
    }
    return undefined;
  }
}

type Weight = 'count' | 'bytes';

function ownOf({ own }: Line, what: Weight): number {
  return what === 'count' ? own.length : own.reduce((sum, { bytes }) => sum + bytes, 0);
}
