/**
 * Checks whether commits on a server last.
 *
 * Promise: a server that may forget a commit is refused at each connection. Such are a standby, a server with
 * `fsync` off, and one whose `synchronous_commit` is neither `on` nor `remote_apply`.
 */
import { CapError } from '@hob/vat/errors';
import type { Connection } from './drivers/connection.ts';

const OLDEST = 150_000;

const CHECK = `
  SELECT current_setting('server_version_num')::int AS version, pg_is_in_recovery() AS standby,
    current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS sync`;

/** Refuses a server whose commits may not last, and fixes what this session relies on. Errors: `invalid`. */
export async function checkServer(connection: Connection, schema: string): Promise<void> {
  const [row] = await connection.query(CHECK);
  const refuse = (why: string): never => {
    throw new CapError('invalid', why);
  };
  if (Number(row?.['version']) < OLDEST) refuse('the database server is older than PostgreSQL 15: use a newer one');
  if (row?.['standby'] === true) refuse('this database server is a standby: give the address of the primary');
  if (row?.['fsync'] !== 'on')
    refuse('this database server has fsync off, so a power cut would damage the store: turn it on');
  const sync = String(row?.['sync']);
  if (sync !== 'on' && sync !== 'remote_apply')
    refuse(
      `this database server has synchronous_commit ${sync}, so a crash or a failover would lose commits: turn it on`,
    );
  // A session keeps what it has set, also when the server's configuration changes later.
  await connection.query(`
    SET synchronous_commit = '${sync}'; SET search_path = "${schema}"; SET default_transaction_read_only = off;
    SET default_transaction_isolation = 'read committed'; SET statement_timeout = 0; SET lock_timeout = 0;
    SET idle_in_transaction_session_timeout = 0; SET bytea_output = 'hex'`);
}
