/** A cluster as lines for a person: its machines, its tenants, and the standbys of its database server. */
import type { ClusterLine, ClusterStatus, ClusterVerdict } from '@hob/cluster';
import { storeLines } from '../line/store-lines.ts';

/** A table: its column heads and its rows. */
type Table = readonly [heads: readonly string[], rows: readonly (readonly string[])[]];

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

/** The machines, with the time since each was last heard. */
export const machineTable = ({ hosts }: ClusterStatus): Table => [
  ['MACHINE', 'STATE', 'HEARD', 'LINK'],
  hosts.map(({ name, live, heardMs, address = '-' }) => [name, live ? 'lives' : 'gone', `${seconds(heardMs)} ago`, address]), // biome-ignore format: one line
];

/** The tenants: the machine that each is placed at, and the machine that has its store. */
export const tenantTable = ({ tenants }: ClusterStatus): Table => [
  ['TENANT', 'PLACE', 'PINNED TO', 'STORE', 'LEASE'],
  tenants.map(({ name, place = '-', pin = '-', store }) => {
    const holder = store?.holder;
    const has = holder === undefined ? (store === undefined ? 'never opened' : 'no machine') : (holder.name ?? 'a machine without a name'); // biome-ignore format: one line
    return [name, place, pin, has, holder === undefined ? '-' : seconds(holder.leaseMs)];
  }),
];

/** How far the standbys of the database server are behind. All tenants are on one server, so one store tells it. */
export function replicationLines({ tenants }: ClusterStatus): readonly string[] {
  const store = tenants.find((each) => each.store !== undefined)?.store;
  if (store === undefined) return [];
  const lines = storeLines(store);
  return lines.slice(lines.findIndex((line) => line.startsWith('replication:')));
}

/** Adds the name of the tenant to each line. The bytes of the line itself are not changed. */
export async function* exportLines(lines: AsyncIterable<ClusterLine>): AsyncGenerator<string, void> {
  for await (const { tenant, line } of lines) yield `{"tenant":"${tenant}","line":${line}}`;
}

/** The result of `verify` as text: a line for the merged chain, then a line for each tenant. */
export const verdictLines = ({ why, entries, last, tenants }: ClusterVerdict): readonly string[] => [
  why === undefined
    ? `the merged chain is whole: ${entries} checkpoints${last === undefined ? '' : `, the last one is ${last.n}:${last.hash}`}`
    : `the merged chain is not whole: ${why}`,
  ...Object.entries(tenants).map(([name, verdict]) => {
    if (verdict === 'missing') return `${name}: its ledger is gone`;
    return verdict.ok
      ? `${name}: whole, ${verdict.lines} lines`
      : `${name}: not whole, ${verdict.why ?? 'for an unknown reason'}`;
  }),
];
