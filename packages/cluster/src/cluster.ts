/**
 * Keeps the tenants open that are placed here, and no others.
 *
 * Promise: while the database is away, no tenant is opened or given up. A tenant goes on as long as its store does. Two
 * hosts may disagree about which hosts live. Then both try to open a tenant, and its store decides.
 */
import type { StoreHosts } from '@hob/store-postgres';
import type { Clock, Store } from '@hob/vat';
import { takeOptions } from '@hob/vat/forwarder';
import type { Entry, KeptEntry } from './checkpoints.ts';
import { type ClusterLine, exported } from './export.ts';
import { closed, type Member } from './member.ts';
import { checkHost, checkTenant } from './names.ts';
import { placeOf } from './placement.ts';
import type { Change } from './rows.ts';
import { Tenant, type TenantPowers } from './tenant.ts';
import type { Cluster, ClusterStatus, Where } from './types.ts';
import { type ClusterVerdict, verdictOf } from './verify.ts';
import { NOTHING_SEEN, type View } from './view.ts';

interface ClusterPowers extends Pick<TenantPowers, 'openStore' | 'open'> {
  readonly clock: Clock;
  /** Opens the store of a tenant to look at it, also while a host serves it. */
  look(tenant: string): Promise<Store>;
}

export class LiveCluster implements Cluster {
  /** Empty if this process only manages the cluster. */
  readonly name: string;
  readonly #powers: TenantPowers;
  readonly #look: ClusterPowers['look'];
  readonly #tenants = new Map<string, Tenant>();
  readonly #listeners = new Set<() => void>();
  /** The host of each tenant, as placement has it. */
  #places: ReadonlyMap<string, string | undefined> = new Map();
  #view: View = NOTHING_SEEN;
  /** Set by `start`. */
  #member!: Member;
  #closing: Promise<void> | undefined;

  constructor(name: string, { look, ...powers }: ClusterPowers) {
    [this.name, this.#look] = [name, look];
    this.#powers = { ...powers, freed: (tenant) => this.#freed(tenant), changed: () => this.#changed() };
  }

  /** Joins the cluster. `open` starts the thread of the cluster, and calls `see` with each new view. */
  async start(open: (see: (view: View) => void) => Promise<Member>): Promise<void> {
    this.#member = await open((view) => this.#see(view));
  }

  async addTenant(name: string): Promise<void> {
    checkTenant(name);
    await this.#change({ kind: 'add', tenant: name });
  }

  async removeTenant(name: string): Promise<void> {
    checkTenant(name);
    await this.#change({ kind: 'remove', tenant: name });
  }

  async pin(name: string, host?: string): Promise<void> {
    checkTenant(name);
    if (host !== undefined) checkHost(host);
    await this.#change({ kind: 'pin', tenant: name, host });
  }

  async status(): Promise<ClusterStatus> {
    if (this.#closing !== undefined) throw closed();
    const names = (view: View): readonly string[] => view.tenants.map((each) => each.name);
    const view = await this.#member.look().catch(() => ({ ...this.#member.view, connected: false }));
    const stores = view.connected ? await this.#member.stores(names(view)).catch(() => []) : [];
    const { connected, member, hosts, tenants } = view;
    return {
      ...{ connected, member, hosts },
      tenants: tenants.map(({ name, pin }, n) => {
        const tenant = this.#tenants.get(name);
        const place = this.#places.get(name);
        const here = tenant?.state ?? 'closed';
        return { name, pin, place, here, failure: tenant?.failure, store: stores[n] as StoreHosts | undefined };
      }),
    };
  }

  where(name: string): Where | undefined {
    if (this.#tenants.get(name)?.state === 'open') return 'here';
    const place = this.#places.get(name);
    if (place === undefined) return undefined;
    if (place === this.name && this.#view.member) return 'here';
    return { name: place, address: this.#view.hosts.find((each) => each.name === place)?.address };
  }

  async verify(options: { readonly kept?: KeptEntry } = {}): Promise<ClusterVerdict> {
    const { kept } = takeOptions(options, 'verify', { kept: true });
    if (this.#closing !== undefined) throw closed();
    const entries = await this.#member.entries();
    return await verdictOf({ entries, tenants: await this.#ledgers(entries), kept, look: this.#look });
  }

  async *ledgers(): AsyncGenerator<ClusterLine, void> {
    if (this.#closing !== undefined) throw closed();
    yield* exported(await this.#ledgers(await this.#member.entries()), this.#look);
  }

  /** Returns the names of all tenants. Removed ones are known from their checkpoints in the merged chain. */
  async #ledgers(entries: readonly Entry[]): Promise<readonly string[]> {
    const { tenants } = await this.#member.look();
    return [...new Set([...tenants.map(({ name }) => name), ...entries.map(({ tenant }) => tenant)])].sort();
  }

  /** Adds a checkpoint of a tenant to the merged chain. */
  checkpoint(tenant: string, note: string): Promise<void> {
    return this.#member.checkpoint(tenant, note);
  }

  onChange(listener: () => void): () => void {
    const own = (): void => listener();
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  async close(): Promise<void> {
    this.#closing ??= this.#leave();
    await this.#closing;
  }

  readonly [Symbol.asyncDispose]: Cluster['close'] = () => this.close();

  async #leave(): Promise<void> {
    // First, so that the other hosts look for the tenants while they are closed here.
    const left = this.#member.leave();
    await Promise.all([...this.#tenants.values()].map((tenant) => tenant.close()));
    await left;
    await this.#member.close();
  }

  async #change(asked: Change): Promise<void> {
    if (this.#closing !== undefined) throw closed();
    await this.#member.change(asked);
  }

  #see(view: View): void {
    if (this.#closing !== undefined) return;
    const isBack = view.connected && !this.#view.connected;
    this.#view = view;
    if (view.connected) this.#place(view);
    for (const name of isBack ? this.#tenants.keys() : view.freed) this.#tenants.get(name)?.nudge();
    this.#changed();
  }

  /** Opens the tenants that the rows place here, and closes all others. */
  #place({ member, hosts, tenants }: View): void {
    const live = hosts.filter((each) => each.live).map((each) => each.name);
    this.#places = new Map(tenants.map((each) => [each.name, placeOf(each, live)]));
    const here = new Set(
      member ? tenants.flatMap(({ name }) => (this.#places.get(name) === this.name ? [name] : [])) : [],
    );
    for (const name of here) if (!this.#tenants.has(name)) this.#tenants.set(name, new Tenant(name, this.#powers));
    for (const [name, tenant] of this.#tenants) tenant.want(here.has(name));
  }

  #freed(name: string): void {
    void this.#member.freed(name);
  }

  #changed(): void {
    for (const [name, tenant] of this.#tenants)
      if (tenant.isOver && !this.#places.has(name)) this.#tenants.delete(name);
    for (const listener of this.#listeners) {
      try {
        listener();
      } catch {
        // An error of a listener must not stop the cluster.
      }
    }
  }
}
