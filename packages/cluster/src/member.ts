/**
 * The thread of the cluster, as the program sees it.
 *
 * Promise: `see` gets each view that differs from the one before. If the thread dies, another one joins in its place.
 */
import { CapError, type Clock } from '@hob/vat';
import { startThread, type Thread } from '@hob/vat/engine';
import type { Entry } from './checkpoints.ts';
import type { Given } from './drivers/member-thread.ts';
import type { Change } from './rows.ts';
import { NOTHING_SEEN, type View } from './view.ts';

/** The pause between the death of a thread and the start of the next one, in ms. */
const AGAIN_MS = 1000;

export class Member {
  readonly #module: URL;
  readonly #given: Given;
  readonly #clock: Clock;
  readonly #see: (view: View) => void;
  #thread: Thread;
  #latest: View = NOTHING_SEEN;
  #closed = false;
  #cancelAgain: () => void = () => {};

  private constructor(
    thread: Thread,
    module: URL,
    { given, clock, see }: { readonly given: Given; readonly clock: Clock; readonly see: (view: View) => void },
  ) {
    [this.#thread, this.#module, this.#given, this.#clock, this.#see] = [thread, module, given, clock, see];
  }

  /** Joins the cluster. Errors: those of `join`. */
  static async open(
    module: URL,
    parts: { readonly given: Given; readonly clock: Clock; readonly see: (view: View) => void },
  ): Promise<Member> {
    const member = new Member(await startThread(module, parts.given), module, parts);
    try {
      await member.look();
    } catch (error) {
      await member.close();
      throw error;
    }
    void member.#watch();
    return member;
  }

  get view(): View {
    return this.#latest;
  }

  /** Resolves when `see` has got the view after the change. Errors: `unavailable`, `no-such-object`. */
  async change(asked: Change): Promise<void> {
    this.#took((await this.#ask('change', asked)) as View);
  }

  /** Reads the rows now. Errors: `unavailable`. */
  async look(): Promise<View> {
    const view = (await this.#ask('look')) as View;
    this.#took(view);
    return view;
  }

  /** Returns which hosts use the stores of these tenants. Errors: `unavailable`. */
  async stores(tenants: readonly string[]): Promise<readonly unknown[]> {
    return (await this.#ask('stores', tenants)) as readonly unknown[];
  }

  /** Adds a checkpoint of a tenant to the merged chain. Errors: `unavailable`. */
  async checkpoint(tenant: string, note: string): Promise<void> {
    await this.#ask('checkpoint', tenant, note);
  }

  /** Returns the whole merged chain. Errors: `unavailable`. */
  async entries(): Promise<readonly Entry[]> {
    const all: Entry[] = [];
    for (;;) {
      const next = (await this.#ask('entries', all.length)) as readonly Entry[];
      if (next.length === 0) return all;
      all.push(...next);
    }
  }

  /** Tells the other hosts that this one has closed the store of a tenant. Without this they notice a little later. */
  async freed(tenant: string): Promise<void> {
    await this.#ask('freed', tenant).catch(() => {});
  }

  /** Leaves the cluster. If the database is away, the others notice it 3 s after the last heartbeat of this host. */
  async leave(): Promise<void> {
    await this.#ask('leave').catch(() => {});
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelAgain();
    await this.#thread.close();
  }

  async #watch(): Promise<void> {
    try {
      while (!this.#closed) this.#took((await this.#ask('watch', this.#latest.version)) as View);
    } catch {
      if (this.#closed) return;
      // The thread has died. Nothing is known of the other hosts now, so no tenant is given up.
      this.#took({ ...this.#latest, connected: false, version: this.#latest.version + 1, freed: [] });
      this.#cancelAgain = this.#clock.after(AGAIN_MS, () => void this.#again());
    }
  }

  async #again(): Promise<void> {
    try {
      const thread = await startThread(this.#module, this.#given);
      if (this.#closed) return void (await thread.close());
      this.#thread = thread;
      this.#latest = { ...this.#latest, version: 0 };
    } catch {
      if (!this.#closed) this.#cancelAgain = this.#clock.after(AGAIN_MS, () => void this.#again());
      return;
    }
    await this.#watch();
  }

  /** Takes a view in. Views come from the watch and from requests, so an older one may arrive after a newer one. */
  #took(view: View): void {
    const latest = this.#latest;
    if (view.version >= latest.version) this.#latest = view;
    // Only the times at which hosts were heard differ.
    if (view.version <= latest.version && view.freed.length === 0) return;
    if (!this.#closed) this.#see({ ...this.#latest, freed: view.freed });
  }

  #ask(method: string, ...args: readonly unknown[]): Promise<unknown> {
    return new Promise((resolve, reject) =>
      this.#thread.later(method, args, (error, value) => (error === undefined ? resolve(value) : reject(error))),
    );
  }
}

/** The error of a call to a cluster that was closed. */
export const closed = (): CapError => new CapError('unavailable', 'this cluster is closed: open it again');
