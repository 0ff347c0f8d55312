/** The interface of a cluster for the program that opens it. */
import type { Host } from '@hob/host';
import type { StoreHosts } from '@hob/store-postgres';
import type { Clock, Store } from '@hob/vat';
import type { KeptEntry } from './checkpoints.ts';
import type { ClusterLine } from './export.ts';
import type { ClusterVerdict } from './verify.ts';

/** The cluster passes these to `open`, which opens the host of a tenant. */
export interface TenantParts {
  readonly name: string;
  /** The store of this tenant. Give it to `openHost`, which closes it with the host. */
  readonly store: Store;
  /** A folder of this machine for this tenant: the `stateDir` of its host. */
  readonly stateDir: string;
  /** Give it to `openHost`: it adds the checkpoints of this tenant to the merged chain of the cluster. */
  readonly onCheckpoint: (note: string) => Promise<void>;
}

/** The host of a tenant: the part of `Host` that the cluster uses. */
export type TenantHost = Pick<Host, 'vats' | 'counts' | 'close'>;

/** How a process joins a cluster. */
export interface ClusterOptions {
  /** The database: see `postgresStore`. */
  readonly url: string;
  /** Default: the one in `url`, or none. The environment is not read. */
  readonly password?: string;
  /** The certificate of the private authority of the server (PEM). Default: the authorities that Node trusts. */
  readonly ca?: string;
  /** The name of this host: up to 40 letters, digits and `. _ -`. Each process of the cluster has its own. */
  readonly name: string;
  /** A folder of this machine. Each tenant has a folder in it. */
  readonly stateDir: string;
  /** Host and port at which the other machines of the cluster reach this one. They get it from `where`. */
  readonly address?: string;
  /** Opens the host of a tenant. It is closed by the cluster. */
  readonly open: (tenant: TenantParts) => Promise<TenantHost>;
  /** How long a host keeps the store of a tenant after it last renewed its lease, in ms. Default: 10,000. */
  readonly leaseMs?: number;
  /** A folder of this machine that records how far the stores have come: see `postgresStore`. */
  readonly sentinel?: string;
  readonly clock?: Clock;
}

/** How a process connects to a cluster to manage it. */
export type ManageOptions = Pick<ClusterOptions, 'url' | 'password' | 'ca' | 'clock'>;

/** Where a tenant is: in this process, or at another host of the cluster. */
export type Where = 'here' | { readonly name: string; readonly address: string | undefined };

/** A host of the cluster. */
export interface ClusterHost {
  readonly name: string;
  readonly address: string | undefined;
  /** How long ago it was last heard, by the clock of the database, in ms. */
  readonly heardMs: number;
  readonly live: boolean;
}

/** A tenant of the cluster. */
export interface ClusterTenant {
  readonly name: string;
  /** The host that it is pinned to. */
  readonly pin: string | undefined;
  /** The host that should serve it. Undefined if no host lives. */
  readonly place: string | undefined;
  /** The state of the tenant in this process. */
  readonly here: 'closed' | 'opening' | 'open' | 'closing';
  /** The code of the error with which its last opening here failed, or its store was lost. Undefined if it is open, or elsewhere. */
  readonly failure: string | undefined;
  /**
   * The hosts that use its store, as `storeHosts` returns them. Undefined if no host has opened the store yet, or if the
   * database does not answer.
   */
  readonly store: StoreHosts | undefined;
}

/** The cluster, as one host sees it. */
export interface ClusterStatus {
  /** Whether the database answers. If not, the rest is from the last answer. */
  readonly connected: boolean;
  /** Whether this process is the host of its name. If not, another process has taken the name, or this one only manages. */
  readonly member: boolean;
  readonly hosts: readonly ClusterHost[];
  readonly tenants: readonly ClusterTenant[];
}

/** A process as a host of a cluster. `await using` leaves it. */
export interface Cluster extends AsyncDisposable {
  readonly name: string;
  /** Adds a tenant. It is served from now on, with an empty store if it has none. Errors: `invalid`, `unavailable`. */
  addTenant(name: string): Promise<void>;
  /** No host serves the tenant any more. Its data stays in its schema. Errors: `invalid`, `unavailable`. */
  removeTenant(name: string): Promise<void>;
  /**
   * Moves a tenant to a host, for as long as that host lives. Without a host it goes back to its usual place. Errors:
   * `invalid`, `no-such-object`, `unavailable`.
   */
  pin(name: string, host?: string): Promise<void>;
  status(): Promise<ClusterStatus>;
  /**
   * Returns where a tenant is. It asks no database. `here` also while it is being opened here. Undefined if the cluster
   * has no such tenant, or no host for it.
   */
  where(name: string): Where | undefined;
  /** Calls `listener` after each change of the hosts, the tenants, or what is open here. Returns a function that stops it. */
  onChange(listener: () => void): () => void;
  /**
   * Verifies the ledgers of all tenants, also of removed ones, and that each agrees with the checkpoints that the merged
   * chain has of it. `kept` is an entry of the chain that was kept elsewhere. Errors: `invalid`, `unavailable`.
   */
  verify(options?: { readonly kept?: KeptEntry }): Promise<ClusterVerdict>;
  /**
   * Returns the ledgers of all tenants, also of removed ones, as one stream. The lines of a tenant are in the order of
   * their commits. Lines of different tenants are in the order in which the database got them. Errors: `unavailable`.
   */
  ledgers(): AsyncIterable<ClusterLine>;
  /** Leaves the cluster. Resolves when this process has closed all stores. */
  close(): Promise<void>;
}

/** A cluster, for a process that manages it and serves none of its tenants. `await using` closes it. */
export type ManagedCluster = Pick<
  Cluster,
  | 'addTenant'
  | 'removeTenant'
  | 'pin'
  | 'status'
  | 'verify'
  | 'ledgers'
  | 'onChange'
  | 'close'
  | typeof Symbol.asyncDispose
>;
