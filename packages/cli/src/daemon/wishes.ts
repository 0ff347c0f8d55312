/**
 * The wish lists of a served plan, and the acceptances of its granter.
 *
 * Promise: an acceptance ends when its file is seen to have changed, or to be gone, and with it every grant that it
 * filled. It is looked at before each session, before each list, and again and again in between.
 */
import type { Acceptance, Granter } from '@hob/host';
import { explain, type Plan } from '@hob/manifest';
import { E, type Far } from '@hob/vat';
import { readWish, type WishedPlan, type WishReader, wishedPlan, wishName } from '../plan/wishes.ts';
import type { WishRow } from './daemon.ts';

/** Reads wish lists for one plan. */
export class ServedWishes {
  readonly #granter: Far<Granter> | undefined;
  readonly #plan: Plan;
  readonly #reader: WishReader;
  readonly #dateText: (ms: number) => string;

  /** Without a granter nobody accepts a list, and there is none. */
  constructor(granter: Far<Granter> | undefined, plan: Plan, reader: WishReader, dateText: (ms: number) => string) {
    this.#granter = granter;
    this.#plan = plan;
    this.#reader = reader;
    this.#dateText = dateText;
  }

  /** Ends the acceptances of files that are other files now. */
  async endChanged(): Promise<void> {
    const granter = this.#granter;
    if (granter === undefined) return;
    for (const { name, hash } of await this.#accepted()) {
      const why = await this.#changed(name, hash);
      if (why !== undefined)
        await E(granter).endAcceptance(name, why).catch((error: { readonly code?: string }) => {
          // Somebody else ended it first.
          if (error.code !== 'no-such-object') throw error;
        }); // biome-ignore format: one call
    }
  }

  /** Ends all acceptances, because `why`. */
  async endAll(why: string): Promise<void> {
    const granter = this.#granter;
    if (granter === undefined) return;
    for (const { name } of await this.#accepted()) await E(granter).endAcceptance(name, why);
  }

  /** A plan with the wishes that are accepted. Without `plan`, that of the host. */
  async over(plan: Plan = this.#plan): Promise<WishedPlan> {
    await this.endChanged();
    return await wishedPlan(plan, await this.#accepted(), this.#reader);
  }

  /** All wish lists, for a person. */
  async rows(): Promise<readonly WishRow[]> {
    if (this.#granter === undefined) return [];
    return (await this.over()).lists.map(({ name, hash, state, asks, whole, mistakes }) => {
      const names = new Set(asks.map((ask) => ask.name));
      const words = explain(whole, this.#dateText).caps.filter(({ cap }) => names.has(cap));
      return {
        name,
        ...(hash === undefined ? {} : { hash }),
        state,
        asks: words.map(({ cap, does, when, weakest }) => ({ cap, does, when, weakest })),
        mistakes,
      };
    });
  }

  async #accepted(): Promise<readonly Acceptance[]> {
    return this.#granter === undefined ? [] : ((await E(this.#granter).acceptances()) as readonly Acceptance[]);
  }

  async #changed(name: string, hash: string): Promise<string | undefined> {
    const root = Object.keys(this.#plan.roots).find((one) => wishName(one) === name);
    if (root === undefined || this.#plan.roots[root] === undefined) return 'the manifest has no such root any more';
    try {
      const bytes = await readWish(this.#reader.directories, root);
      if (bytes === undefined) return 'the file is gone';
      return this.#reader.hash(bytes) === hash ? undefined : 'the file has changed';
    } catch {
      return 'the file cannot be read';
    }
  }
}
