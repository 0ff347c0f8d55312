/** The cluster as one host sees it: the rows of the database, as it last read them. */

/** A host of the cluster. */
export interface HostRow {
  readonly name: string;
  /** Where other machines reach it. */
  readonly address: string | undefined;
  /** How long ago it was last heard, by the clock of the database, in ms. */
  readonly heardMs: number;
  readonly live: boolean;
}

/** A tenant of the cluster. */
export interface TenantRow {
  readonly name: string;
  /** The host that should serve it while that host lives. */
  readonly pin: string | undefined;
}

export interface View {
  /** Grows with each view that differs from the one before. */
  readonly version: number;
  /** Whether the database answered. If not, the rows are those of the last answer. */
  readonly connected: boolean;
  /** Whether this process is the host of its name. Another process may have taken the name meanwhile. */
  readonly member: boolean;
  readonly hosts: readonly HostRow[];
  readonly tenants: readonly TenantRow[];
  /** Tenants whose stores other hosts have closed since the view before. */
  readonly freed: readonly string[];
}

export const NOTHING_SEEN: View = {
  ...{ version: 0, connected: false, member: false },
  ...{ hosts: [], tenants: [], freed: [] },
};

/** Returns the same text for two views that differ only in the times at which hosts were heard. */
export const meaningOf = ({ connected, member, hosts, tenants }: Omit<View, 'version' | 'freed'>): string =>
  JSON.stringify([connected, member, hosts.map(({ name, address, live }) => [name, address, live]), tenants]);
