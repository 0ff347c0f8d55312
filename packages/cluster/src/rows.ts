/** The statements of a cluster. Each is complete by itself, so a host that is killed leaves nothing half done. */
import type { Connection } from '@hob/store-postgres/connection';
import { isTenantName } from './names.ts';
import type { HostRow, TenantRow } from './view.ts';

/** The interval at which a host writes its heartbeat, and reads the rows, in ms. */
export const BEAT_MS = 1000;
/** A host that was not heard for this time is not live, in ms. */
export const LIVE_MS = 3000;
/** The channel of the hints. */
export const CHANNEL = 'hob_cluster';

/** A process as a host of the cluster. */
export interface Self {
  readonly name: string;
  readonly address: string | undefined;
  /** A random name of this process. */
  readonly member: string;
}

/**
 * Writes the heartbeat of this host. Takes its name if the host of that name is not live. Returns false if another live
 * process has the name.
 */
export async function beat(connection: Connection, { name, address, member }: Self): Promise<boolean> {
  const rows = await connection.query(
    `INSERT INTO host AS h VALUES ($1, $2, $3, clock_timestamp())
    ON CONFLICT (name) DO UPDATE SET address = $2, member = $3, heard = clock_timestamp()
    WHERE h.member = $3 OR h.heard < clock_timestamp() - $4::int * interval '1 millisecond' RETURNING 1 AS ours`,
    [name, address ?? null, member, LIVE_MS],
  );
  return rows.length === 1;
}

/** Returns when the host of this name was last heard, as text of the database. */
export async function lastHeard(connection: Connection, name: string): Promise<string | undefined> {
  const [row] = await connection.query('SELECT heard::text FROM host WHERE name = $1', [name]);
  return row === undefined ? undefined : String(row['heard']);
}

/** Removes this host, unless another process has its name by now. Also removes hosts that were not heard for a week. */
export async function leave(connection: Connection, { name, member }: Self): Promise<void> {
  await connection.query(
    `DELETE FROM host WHERE (name = $1 AND member = $2) OR heard < clock_timestamp() - interval '1 week'`,
    [name, member],
  );
}

/** Returns all hosts. One that was heard `slackMs` before `LIVE_MS` still counts as live. */
export async function hostsIn(connection: Connection, slackMs: number): Promise<readonly HostRow[]> {
  const rows = await connection.query(
    'SELECT name, address, extract(epoch FROM clock_timestamp() - heard)::float8 * 1000 AS heard FROM host ORDER BY name',
  );
  return rows.map(({ name, address, heard }) => ({
    name: String(name),
    address: address === null ? undefined : String(address),
    heardMs: Math.max(0, Math.round(Number(heard))),
    live: Number(heard) < LIVE_MS + slackMs,
  }));
}

/** Returns all tenants. A row with another kind of name was not made by this program, and is left out. */
export async function tenantsIn(connection: Connection): Promise<readonly TenantRow[]> {
  const rows = await connection.query('SELECT name, pin FROM tenant ORDER BY name');
  return rows.flatMap(({ name, pin }) =>
    isTenantName(name) ? [{ name, pin: pin === null ? undefined : String(pin) }] : [],
  );
}

/** A change of the tenants that a person asks for. */
export type Change =
  | { readonly kind: 'add'; readonly tenant: string }
  | { readonly kind: 'remove'; readonly tenant: string }
  | { readonly kind: 'pin'; readonly tenant: string; readonly host: string | undefined };

/** Makes a change. Making it twice does no harm. Returns false if it needs a tenant that is not there. */
export async function change(connection: Connection, asked: Change): Promise<boolean> {
  const { tenant } = asked;
  if (asked.kind === 'add') {
    await connection.query('INSERT INTO tenant VALUES ($1, NULL) ON CONFLICT DO NOTHING', [tenant]);
    return true;
  }
  if (asked.kind === 'remove') {
    await connection.query('DELETE FROM tenant WHERE name = $1', [tenant]);
    return true;
  }
  const text = 'UPDATE tenant SET pin = $2 WHERE name = $1 RETURNING 1';
  return (await connection.query(text, [tenant, asked.host ?? null])).length === 1;
}

/** Tells the other hosts to read the rows. `freed`: a tenant whose store this host has closed. */
export async function hint(connection: Connection, self: Self | undefined, freed?: string): Promise<void> {
  await connection.query('SELECT pg_notify($1, $2)', [
    CHANNEL,
    freed === undefined ? '' : `free ${freed} ${self?.member ?? ''}`,
  ]);
}

/** The tenant that another host has freed, by its hint. Anybody who may connect to the database can send a hint. */
export function freedBy(text: string, self: Self | undefined): string | undefined {
  const [kind, name, by] = text.split(' ');
  return kind === 'free' && by !== self?.member && isTenantName(name) ? name : undefined;
}
