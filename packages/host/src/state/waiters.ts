/**
 * The calls and requests that wait for a granter in this process. A store cannot keep their promises and
 * targets.
 *
 * Promise: each waiter is answered once. If several wait for the same call, one of them goes on, and it is
 * one that is still connected. A waiter whose connection was lost is not asked about again.
 */
import { CapError, type DriverCall } from '@hob/vat';

/**
 * The outcome of a request. `all`: the yes is for whoever waits, and not for one call. `again`: what was shown has
 * changed, so it is asked once more.
 */
export type RequestOutcome =
  | { readonly go: true; readonly all?: true }
  | { readonly cap: object; readonly grant?: string }
  | { readonly again: true }
  | RequestEnd;

/** A request that ended without approval. `unseen`: no granter was shown it. */
interface RequestEnd {
  readonly code: string;
  readonly message: string;
  readonly unseen?: boolean;
}

/** The result of waiting for an answer. */
export type WaitResult = Exclude<RequestOutcome, RequestEnd> | { readonly unseen: RequestEnd };

interface Waiter {
  readonly asker: string;
  /** When it began, on the same counter as connections. */
  readonly since: number;
  readonly target: object | undefined;
  readonly result: PromiseWithResolvers<WaitResult>;
}

export class RequestWaiters {
  readonly #waiting = new Map<string, Set<Waiter>>();
  /**
   * When each session connected, undefined after it disconnected. A session that nobody entered is not
   * here.
   */
  readonly #connectedSince = new Map<string, number | undefined>();
  readonly #onAbandoned: (request: string) => void;
  #count = 0;

  /** `onAbandoned` is called with a request when its last waiter is cut off. */
  constructor(onAbandoned: (request: string) => void) {
    this.#onAbandoned = onAbandoned;
  }

  /** A connection entered the session and replaces those before it. */
  connected(session: string): void {
    this.#count += 1;
    this.#connectedSince.set(session, this.#count);
  }

  disconnected(session: string): void {
    this.#connectedSince.set(session, undefined);
  }

  forget(session: string): void {
    this.#connectedSince.delete(session);
  }

  wait(id: string, asker: string, of: object | undefined, { signal }: DriverCall): Promise<WaitResult> {
    this.#count += 1;
    const waiter: Waiter = { asker, since: this.#count, target: of, result: Promise.withResolvers<WaitResult>() };
    const waiting = this.#waiting.get(id) ?? new Set();
    this.#waiting.set(id, waiting.add(waiter));
    const gone = (): void => {
      this.#drop(id, waiter);
      waiter.result.reject(signal.reason);
    };
    if (signal.aborted) gone();
    else signal.addEventListener('abort', gone, { once: true });
    return waiter.result.promise.finally(() => signal.removeEventListener('abort', gone));
  }

  decide(id: string, verdict: RequestOutcome): void {
    const all = [...(this.#waiting.get(id) ?? [])];
    this.#waiting.delete(id);
    const there = all.filter((waiter) => this.#isConnected(waiter));
    // A call goes on once: for the newest waiter that is connected, otherwise for the first.
    const goes = 'go' in verdict ? (there.at(-1) ?? all[0]) : undefined;
    for (const waiter of all) {
      const { result: said } = waiter;
      if ('code' in verdict && verdict.unseen === true) said.resolve({ unseen: verdict });
      else if ('code' in verdict) said.reject(new CapError(verdict.code, verdict.message));
      else if ('cap' in verdict || 'all' in verdict || waiter === goes) said.resolve(verdict);
      else if (there.includes(waiter)) said.resolve({ again: true });
      else said.reject(new CapError('disconnected', 'its connection was lost while it waited'));
    }
  }

  waiting(ids: readonly string[]): readonly { readonly there: boolean; readonly count: number }[] {
    return ids.map((id) => {
      const all = [...(this.#waiting.get(id) ?? [])];
      return { there: all.some((waiter) => this.#isConnected(waiter)), count: all.length };
    });
  }

  /** The object that the gated call goes to. */
  targetOf(id: string): object {
    const [first] = this.#waiting.get(id) ?? [];
    if (first?.target === undefined)
      throw new CapError('no-such-object', 'nobody waits for this request any more: look at the inbox again');
    return first.target;
  }

  #isConnected({ asker, since: at }: Waiter): boolean {
    if (!this.#connectedSince.has(asker)) return true;
    const since = this.#connectedSince.get(asker);
    return since !== undefined && since < at;
  }

  #drop(id: string, waiter: Waiter): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    waiting.delete(waiter);
    if (waiting.size > 0) return;
    this.#waiting.delete(id);
    this.#onAbandoned(id);
  }
}
