/**
 * One tenant in this process: opened while it is wanted here, and closed otherwise.
 *
 * Promise: a tenant has at most one open host in this process. `want` may be called at any time; the latest call holds.
 * A host that lost its store is closed, and another one is opened. Some seconds after the tenant is not wanted any more
 * its store is closed, also if the program's `open` or the close of its host never ends. None of this decides who may
 * write: the store does.
 */
import { CapError, type Clock, type Store } from '@hob/vat';
import type { TenantHost } from './types.ts';

export interface TenantPowers {
  readonly clock: Clock;
  openStore(name: string): Promise<Store>;
  open(name: string, store: Store): Promise<TenantHost>;
  /** Called when the store was closed. */
  freed(name: string): void;
  /** Called when the state or the failure of the tenant changed. */
  changed(): void;
}

type TenantState = 'closed' | 'opening' | 'open' | 'closing';

/** The pause after the first opening that failed, in ms. Each further one doubles it. */
const PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5000;
/** No hint makes a tenant try again sooner than this, in ms. */
const SHORTEST_PAUSE_MS = 100;
/** The time limit of `open`, and of a close, once a tenant is not wanted any more, in ms. Then its store is closed. */
const CLOSE_MS = 5000;

export class Tenant {
  readonly name: string;
  readonly #powers: TenantPowers;
  #wanted = false;
  #state: TenantState = 'closed';
  #failure: string | undefined;
  #failures = 0;
  #running: Promise<void> | undefined;
  /** Resolves when nothing of this tenant uses the store. */
  #free: Promise<void> = Promise.resolve();
  readonly #wakers = new Set<() => void>();

  constructor(name: string, powers: TenantPowers) {
    this.name = name;
    this.#powers = powers;
  }

  get state(): TenantState {
    return this.#state;
  }

  /** Whether the tenant is closed here, and not wanted. */
  get isOver(): boolean {
    return !this.#wanted && this.#running === undefined;
  }

  /** The code of the last failure, until the tenant is open again. */
  get failure(): string | undefined {
    return this.#failure;
  }

  want(isWanted: boolean): void {
    // A repeated call must not cut a pause short.
    if (this.#wanted === isWanted) return;
    this.#wanted = isWanted;
    if (isWanted) this.#running ??= this.#run();
    this.#wake();
  }

  /** Tries again soon if an opening has failed: another host may have closed the store. */
  nudge(): void {
    if (this.#failures > 0) this.#wake();
  }

  /** Resolves when the store is closed. */
  async close(): Promise<void> {
    this.want(false);
    await Promise.race([this.#running, this.#free]);
    await this.#free;
  }

  async #run(): Promise<void> {
    while (this.#wanted) {
      const free = Promise.withResolvers<void>();
      this.#free = free.promise;
      await this.#once(free.resolve);
      free.resolve();
      this.#is('closed');
      if (this.#failures > 0 && this.#wanted) await this.#pause();
    }
    [this.#failures, this.#failure, this.#running] = [0, undefined, undefined];
    this.#powers.changed();
  }

  /** Opens the tenant, and closes it when it is not wanted any more or has lost its store. */
  async #once(free: () => void): Promise<void> {
    let store: Store | undefined;
    let host: TenantHost | undefined;
    this.#is('opening');
    try {
      store = await this.#powers.openStore(this.name);
      host = this.#wanted ? await this.#opened(store, free) : undefined;
      if (host !== undefined) await this.#serve(host);
    } catch (error) {
      this.#failed(codeOf(error));
    }
    if (store === undefined) return;
    this.#is('closing');
    const closing = host === undefined ? store.close() : host.close();
    void this.#closeLate(closing, { store, free });
    await closing.catch(() => {});
    await store.close().catch(() => {}); // it is open only if the close of the host has failed
    this.#powers.freed(this.name);
  }

  /** Errors: those of the program's `open`, and `invalid` (it returned something else). */
  async #opened(store: Store, free: () => void): Promise<TenantHost> {
    const opening = Promise.resolve(this.#powers.open(this.name, store));
    let isOver = false;
    const over = opening.then(
      () => void (isOver = true),
      () => void (isOver = true),
    );
    const watch = async (): Promise<void> => {
      while (this.#wanted && !isOver) await Promise.race([over, this.#woken()]);
      if (!isOver) await this.#closeLate(opening, { store, free });
    };
    void watch();
    const host = await opening;
    if (typeof host?.close !== 'function' || typeof host.vats?.onLoss !== 'function')
      throw new CapError('invalid', 'open returns the host of the tenant, as openHost makes it');
    return host;
  }

  /** Resolves when the tenant is not wanted any more, or has lost its store. */
  async #serve(host: TenantHost): Promise<void> {
    let isLost = false;
    // After a failed commit a host goes on from its store. Without a store it would serve nothing.
    const look = (): void => {
      host.counts().catch(({ code }: { readonly code?: string }) => {
        if (code !== 'vat-halted') return;
        isLost = true;
        this.#wake();
      });
    };
    const stop = host.vats.onLoss(look);
    look(); // it may have lost its store while it was opened
    [this.#failures, this.#failure] = [0, undefined];
    this.#is('open');
    while (this.#wanted && !isLost) await this.#woken();
    stop();
    if (isLost) this.#failed('vat-halted');
  }

  /** Closes the store if `ending` takes too long. Its host can write nothing from then on. */
  async #closeLate(
    ending: Promise<unknown>,
    { store, free }: { readonly store: Store; readonly free: () => void },
  ): Promise<void> {
    let cancel = (): void => {};
    const late = new Promise<'late'>((then) => {
      cancel = this.#powers.clock.after(CLOSE_MS, () => then('late'));
    });
    const how = await Promise.race([ending.catch(() => {}), late]);
    cancel();
    if (how !== 'late') return;
    this.#is('closing');
    await store.close().catch(() => {});
    free();
    this.#powers.freed(this.name);
  }

  #failed(code: string): void {
    this.#failures += 1;
    this.#failure = code;
    this.#powers.changed();
  }

  async #pause(): Promise<void> {
    await new Promise<void>((then) => void this.#powers.clock.after(SHORTEST_PAUSE_MS, then));
    const all = Math.min(PAUSE_MS * 2 ** (this.#failures - 1), LONGEST_PAUSE_MS);
    if (this.#wanted) await this.#woken(all - SHORTEST_PAUSE_MS);
  }

  #wake(): void {
    for (const wake of this.#wakers) wake();
  }

  /** Resolves when `#wake` is called, or after `ms`. */
  #woken(ms?: number): Promise<void> {
    return new Promise((then) => {
      const wake = (): void => {
        cancel();
        this.#wakers.delete(wake);
        then();
      };
      const cancel = ms === undefined ? () => {} : this.#powers.clock.after(ms, wake);
      this.#wakers.add(wake);
    });
  }

  #is(state: TenantState): void {
    if (this.#state === state) return;
    this.#state = state;
    this.#powers.changed();
  }
}

const codeOf = (error: unknown): string => {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === 'string' && /^[\w-]{1,40}$/.test(code) ? code : 'unknown';
};
