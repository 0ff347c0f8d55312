/** The hosts of a store, and the standbys of its database server, as lines for a person. */
import type { Replication, StoreHosts } from '@hob/store-postgres';

/** Which hosts use a store, or why that is not known. */
export type StoreNow = StoreHosts | { readonly wrong: string };

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

/** The lines of `hob status`. */
export function storeLines(now: StoreNow): readonly string[] {
  if ('wrong' in now) return [`store: ${now.wrong}`];
  const { epoch, versions, holder, standbys, replication } = now;
  const opened = `it was opened ${epoch === 1 ? 'once' : `${epoch} times`}`;
  return [
    holder === undefined
      ? `store: no host has it; ${opened}`
      : `store: ${holderText(holder)} has it for ${seconds(holder.leaseMs)} unless it renews that; ${opened}`,
    `tables: version ${versions.tables}, which programs of version ${versions.serves} and later serve`,
    ...standbys.map(
      ({ name, heardMs }) =>
        `standby: ${name ?? 'a host without a name'}${heardMs === undefined ? '' : `, heard of ${seconds(heardMs)} ago`}`,
    ),
    ...replicationLines(replication),
  ];
}

const holderText = ({ name, connected }: NonNullable<StoreHosts['holder']>): string =>
  connected ? (name ?? 'a host without a name') : 'a host that is not connected';

/** Says how commits that were reported may be lost with the database server. Undefined if they cannot. */
export function lossText({ mode }: Replication): string | undefined {
  if (mode === 'synchronous') return undefined;
  return mode === 'none'
    ? 'the database server has no standby: if its disk is lost, everything since its last backup is lost'
    : 'the standbys of the database server follow later: a failover may lose the last commits. Set synchronous_standby_names of the server';
}

function replicationLines(replication: Replication): readonly string[] {
  const { mode, standbys, hidden } = replication;
  const isAlone = mode === 'synchronous' && standbys.length + hidden === 0;
  return [
    `replication: ${mode}${isAlone ? ', and no standby is connected: commits wait for one' : ''}`,
    ...standbys.map(
      ({ name, state, sync, unflushedBytes, flushMs }) =>
        `  ${name} (${state}, ${sync}): ${unflushedBytes} bytes behind${flushMs === undefined ? '' : `, ${seconds(flushMs)}`}`,
    ),
    ...(hidden === 0
      ? []
      : [`  ${hidden} more, which this user of the database sees only with GRANT pg_read_all_stats`]),
    ...[lossText(replication)].filter((text) => text !== undefined).map((text) => `  ${text}`),
  ];
}
