/**
 * Serves tenants of a cluster on this machine, each from the manifest that this machine has for it.
 *
 * Promise: a tenant that cannot be served stops no other tenant. A reason that repeats is logged once. No root of a
 * tenant holds a state, a key, a certificate or the file of this machine, or the manifest of a tenant in that file.
 */
import type { ClusterStatus, TenantParts } from '@hob/cluster';
import type { FrontDoor, Host } from '@hob/host';
import { readStopOrder } from '@hob/host/programs';
import { CapError } from '@hob/vat';
import { takeState } from '../daemon/drivers/serve.ts';
import {
  checkedRoots,
  checkServed,
  openServedHost,
  type RootsChoice,
  type ServedHost,
} from '../daemon/drivers/served-host.ts';
import type { TellChoice } from '../daemon/drivers/tell.ts';
import { hidesMore } from '../daemon/served.ts';
import { readManifest } from '../drivers/manifest-file.ts';
import { usualPlaces } from '../drivers/places.ts';
import { Mistake } from '../line/mistake.ts';
import type { StoreNow } from '../line/store-lines.ts';
import type { ClusterFile } from './drivers/file.ts';

interface TenantsParts {
  readonly tenants: ClusterFile['tenants'];
  /** Files and folders of this machine that no root of a manifest may hold. */
  readonly own: readonly string[];
  readonly tell: TellChoice;
  readonly front: FrontDoor;
  /** Writes a line of the log. */
  readonly write: (line: string) => void;
  /** Returns the status of the cluster; undefined until this machine has joined it. */
  readonly status: () => Promise<ClusterStatus | undefined>;
}

type HostCounts = Awaited<ReturnType<Host['counts']>>;

/** Opens tenants, and keeps those that are open here. */
export class Tenants {
  readonly #parts: Omit<TenantsParts, 'tenants' | 'own'>;
  #tenants: TenantsParts['tenants'];
  #own: TenantsParts['own'];
  readonly #open = new Map<string, Host>();
  /** The roots of each tenant that is open or being opened, and the files that no root may hold. */
  readonly #served = new Map<string, RootsChoice>();
  /** The last reason why a tenant could not be served. The tenant is tried again and again: a reason is logged once. */
  readonly #said = new Map<string, string>();

  constructor({ tenants, own, ...parts }: TenantsParts) {
    this.#parts = parts;
    this.#tenants = tenants;
    this.#own = own;
  }

  /** Checks that no root of a tenant that is open or being opened holds one of these files. Errors: `Mistake`. */
  check(own: readonly string[]): void {
    for (const [name, choice] of this.#served)
      try {
        checkedRoots({ ...choice, files: own });
      } catch (error) {
        throw new Mistake(`tenant ${name}: ${(error as Error).message}`);
      }
  }

  /** Tenants are opened with these from now on. Tenants that are open already do not change. */
  take(tenants: ClusterFile['tenants'], own: readonly string[]): void {
    this.#tenants = tenants;
    this.#own = own;
  }

  /** Opens the host of a tenant. Errors: `invalid` (no manifest for it, or one with mistakes), those of a host. */
  async open(parts: TenantParts): Promise<Pick<Host, 'vats' | 'counts' | 'close'>> {
    const { name, stateDir } = parts;
    const { write } = this.#parts;
    try {
      const { host, close, stop } = await this.#serve(parts);
      this.#open.set(name, host);
      this.#said.delete(name);
      write(`tenant ${name} is served here`);
      return {
        vats: host.vats,
        counts: () => host.counts(),
        close: async () => {
          this.#open.delete(name);
          this.#served.delete(name);
          await (readStopOrder(stateDir) === undefined ? close() : stop());
          write(`tenant ${name} is not served here any more`);
        },
      };
    } catch (error) {
      this.#served.delete(name);
      const why = (error as Error).message;
      if (this.#said.get(name) !== why) write(`tenant ${name} is not served: ${why}`);
      this.#said.set(name, why);
      throw typeof (error as { code?: unknown }).code === 'string' ? error : new CapError('invalid', why);
    }
  }

  /** The numbers of the open tenants, by name. */
  async counts(): Promise<ReadonlyMap<string, HostCounts>> {
    const all = [...this.#open].map(async ([name, host]) => [name, await host.counts()] as const);
    const done = await Promise.allSettled(all);
    return new Map(done.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : [])));
  }

  async #serve({ name, store, stateDir, onCheckpoint }: TenantParts): Promise<ServedHost> {
    const { tell, front, write } = this.#parts;
    const tenant = Object.hasOwn(this.#tenants, name) ? this.#tenants[name] : undefined;
    if (tenant === undefined)
      throw new CapError('invalid', 'this machine has no manifest for it: name one under tenants in its file');
    const log = (line: string): void => write(`${name}: ${line}`);
    const read = readManifest(usualPlaces(tenant.manifest));
    for (const line of [...read.warnings, ...hidesMore(read.plan)]) log(line);
    const choice = {
      ...{ read, files: this.#own, tell, log, say: log },
      ...{ state: stateDir, secretsKey: `${stateDir}.secrets.key` },
    };
    this.#served.set(name, choice);
    const roots = await checkServed(choice);
    takeState(stateDir);
    return await openServedHost(
      {
        ...choice,
        tenant: name,
        open: async () => ({ options: { store }, hosts: () => this.#hostsOf(name) }),
        more: { onCheckpoint, most: tenant.most },
        listen: (host, faces, pages) => host.serve({ front, name }, faces, pages),
      },
      roots,
    );
  }

  /** Returns which hosts use the store of a tenant. */
  async #hostsOf(name: string): Promise<StoreNow> {
    const status = await this.#parts.status();
    const store = status?.tenants.find((each) => each.name === name)?.store;
    return store ?? { wrong: 'the database does not answer, or this machine has not joined the cluster yet' };
  }
}
