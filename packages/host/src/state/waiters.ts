/**
 * Who waits for an answer, in this process: promises and what a call would be made on, which no store can keep.
 *
 * Promise: each that waits is answered once. Of several that ask for the same call one is let go on, and it is one that is still there; who lost
 * its connection since is not asked again for.
 */
import { CapError, type DriverCall } from '@hob/vat';

/** What becomes of a request. `again`: what was shown has changed, ask once more. */
export type Verdict = { readonly go: true } | { readonly cap: object } | { readonly again: true } | Ended;

/** It ended without a yes. `unseen`: nobody was shown it. */
export interface Ended {
  readonly code: string;
  readonly message: string;
  readonly unseen?: boolean;
}

/** What came of waiting. */
export type Waited = Exclude<Verdict, Ended> | { readonly unseen: Ended };

interface Waiter {
  readonly asker: string;
  /** When it began, on the count that connections are counted on too. */
  readonly at: number;
  readonly of: object | undefined;
  readonly said: PromiseWithResolvers<Waited>;
}

export class Waiters {
  readonly #waiting = new Map<string, Set<Waiter>>();
  /** Since when the session is connected; `undefined` of one that was left. One that nobody entered is not here. */
  readonly #entered = new Map<string, number | undefined>();
  readonly #alone: (request: string) => void;
  #count = 0;

  /** `alone` is told of a request that the last one who waited for it was cut off from. */
  constructor(alone: (request: string) => void) {
    this.#alone = alone;
  }

  /** A socket entered the session, and fences those before. */
  entered(session: string): void {
    this.#count += 1;
    this.#entered.set(session, this.#count);
  }

  left(session: string): void {
    this.#entered.set(session, undefined);
  }

  ended(session: string): void {
    this.#entered.delete(session);
  }

  wait(id: string, asker: string, of: object | undefined, { signal }: DriverCall): Promise<Waited> {
    this.#count += 1;
    const waiter: Waiter = { asker, at: this.#count, of, said: Promise.withResolvers<Waited>() };
    const waiting = this.#waiting.get(id) ?? new Set();
    this.#waiting.set(id, waiting.add(waiter));
    const gone = (): void => {
      this.#drop(id, waiter);
      waiter.said.reject(signal.reason);
    };
    if (signal.aborted) gone();
    else signal.addEventListener('abort', gone, { once: true });
    return waiter.said.promise.finally(() => signal.removeEventListener('abort', gone));
  }

  decide(id: string, verdict: Verdict): void {
    const all = [...(this.#waiting.get(id) ?? [])];
    this.#waiting.delete(id);
    const there = all.filter((waiter) => this.#isThere(waiter));
    // A call goes on once: for the last who asked, whose connection is the newest; if nobody is there for the first, who was promised it.
    const goes = 'go' in verdict ? (there.at(-1) ?? all[0]) : undefined;
    for (const waiter of all) {
      const { said } = waiter;
      if ('code' in verdict && verdict.unseen === true) said.resolve({ unseen: verdict });
      else if ('code' in verdict) said.reject(new CapError(verdict.code, verdict.message));
      else if ('cap' in verdict || waiter === goes) said.resolve(verdict);
      else if (there.includes(waiter)) said.resolve({ again: true });
      else said.reject(new CapError('disconnected', 'its connection was lost while it waited'));
    }
  }

  waiting(ids: readonly string[]): readonly { readonly there: boolean; readonly count: number }[] {
    return ids.map((id) => {
      const all = [...(this.#waiting.get(id) ?? [])];
      return { there: all.some((waiter) => this.#isThere(waiter)), count: all.length };
    });
  }

  /** What the call would be made on. */
  behind(id: string): object {
    const [first] = this.#waiting.get(id) ?? [];
    if (first?.of === undefined) throw new CapError('no-such-object', 'nobody waits for this any more');
    return first.of;
  }

  #isThere({ asker, at }: Waiter): boolean {
    if (!this.#entered.has(asker)) return true;
    const since = this.#entered.get(asker);
    return since !== undefined && since < at;
  }

  #drop(id: string, waiter: Waiter): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    waiting.delete(waiter);
    if (waiting.size > 0) return;
    this.#waiting.delete(id);
    this.#alone(id);
  }
}
