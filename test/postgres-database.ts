/** A database of its own for each cluster of a test, on the server of the file. */
import type { Sql } from 'postgres';
import postgres from 'postgres';
import { onTestFinished } from 'vitest';
import { type Cluster as Server, urlOf } from './postgres-cluster.ts';

export interface Database {
  readonly url: string;
  readonly name: string;
  readonly sql: Sql;
}

let databases = 0;

export async function databaseOn(server: Server): Promise<Database> {
  const name = `d${(databases += 1)}`;
  await server.sql.unsafe(`CREATE DATABASE ${name}`);
  const given = { host: server.socket, port: server.port, user: 'hob', database: name, max: 1, max_lifetime: null };
  const sql = postgres({ ...given, onnotice: () => {}, fetch_types: false });
  onTestFinished(() => sql.end({ timeout: 0 }));
  return { name, sql, url: urlOf(server.socket, name) };
}
