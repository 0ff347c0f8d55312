/**
 * The store of a state in a PostgreSQL database. A private file of a person names the database:
 *
 *   url: postgres://hob@db.example.org/hob
 *   password: …
 *   ca: authority.pem       # beside this file
 *   schema: hob
 *   lease: 10s
 *
 * Promise: a file that other users may read is refused, and no value in it is printed.
 */
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { StoreHosts } from '@hob/store-postgres';
import type { Store } from '@hob/vat';
import { parse } from 'yaml';
import { durationOf } from '../line/limits.ts';
import { Mistake } from '../line/mistake.ts';
import { type Given, textOf } from '../line/verb.ts';
import { loadBeside } from './beside.ts';
import { ownName } from './machine.ts';
import { readPrivate } from './private-file.ts';

/** How a store is opened. */
interface Opening {
  /** The folder of the sentinel. */
  readonly sentinel?: string | undefined;
  /** Only reads. A host may have the store meanwhile. */
  readonly look?: boolean;
  /** Waits while another host has the store. */
  readonly standby?: boolean;
}

/** A store in a database. */
export interface NamedStore {
  /** The file that names the database, and the file of the authority. Who can write one of them chooses the server. */
  readonly files: readonly string[];
  /** Errors: `Mistake` (the package, the authority), those of `postgresStore`. */
  open(opening: Opening): Promise<Store>;
  /** Returns which hosts use a store that `open` opened. Errors: those of `storeHosts`. */
  hosts(store: Store): Promise<StoreHosts>;
}

const KEYS = ['url', 'password', 'ca', 'schema', 'lease'] as const;
type Named = Partial<Record<(typeof KEYS)[number], string>>;
/** The fields of the file. `ca` is the whole path of the certificate. */
type Place = { readonly [Key in keyof Named]: string | undefined };

/** The store that `--store` names. Undefined without that option. Errors: `Mistake` (the file). */
export function storeOf(given: Given): NamedStore | undefined {
  const named = textOf(given, 'store');
  if (named === undefined) return undefined;
  const { files, place } = placeIn(resolve(named));
  return {
    files,
    open: (opening) => open(place, opening),
    hosts: async (store) => await (await library()).storeHosts(store),
  };
}

/** The database of a cluster. Each tenant has a schema of its own in it. */
interface ClusterDatabase {
  /** See `NamedStore`. */
  readonly files: readonly string[];
  readonly at: { readonly url: string; readonly password?: string; readonly ca?: string };
  readonly leaseMs: number | undefined;
}

/** Reads a file of the form of `--store` for a cluster. Errors: `Mistake`. */
export function clusterDatabase(file: string): ClusterDatabase {
  const { files, place } = placeIn(file);
  const { url = '', password, ca, schema, lease } = place;
  if (schema !== undefined)
    throw new Mistake(
      'the database of a cluster has a schema for each tenant: take schema out of the file of the store',
    );
  const at = { url, ...(password !== undefined && { password }), ...(ca !== undefined && { ca: authorityIn(ca) }) };
  return { files, at, leaseMs: lease === undefined ? undefined : durationOf('lease', lease) };
}

function placeIn(file: string): { readonly files: readonly string[]; readonly place: Place } {
  const fields = read(file);
  const ca = fields.ca === undefined ? undefined : resolve(dirname(file), fields.ca);
  return { files: ca === undefined ? [file] : [file, ca], place: { ...fields, ca } };
}

/** Returns which hosts use the store that `--store` names. Errors: `Mistake` (the file, or none), those of a store. */
export async function hostsNamed(given: Given): Promise<StoreHosts> {
  const named = storeOf(given);
  if (named === undefined)
    throw new Mistake('--store is missing: give the file that names the database, --store FILE', 2);
  const store = await named.open({ look: true });
  try {
    return await named.hosts(store);
  } finally {
    await store.close();
  }
}

async function open(
  { url = '', password, ca, schema, lease }: Place,
  { sentinel, look = false, standby = false }: Opening,
): Promise<Store> {
  const { postgresStore } = await library();
  return await postgresStore({
    // Each machine that serves the state has a sentinel of its own.
    ...{ url, look, standby, shared: true, name: ownName() },
    ...(password !== undefined && { password }),
    ...(ca !== undefined && { ca: authorityIn(ca) }),
    ...(schema !== undefined && { schema }),
    ...(lease !== undefined && { leaseMs: durationOf('lease', lease) }),
    ...(sentinel !== undefined && { sentinel }),
  });
}

function read(file: string): Named {
  const text = readPrivate(file, 'the file of the store');
  if (text === undefined) throw new Mistake('there is no such file of a store: name it with --store FILE');
  let found: unknown;
  try {
    found = parse(text, { maxAliasCount: 0 });
  } catch {
    throw new Mistake('the file of the store is not YAML: write lines such as url: postgres://user@host/database');
  }
  const fields = typeof found === 'object' && found !== null ? Object.entries(found) : [];
  const odd = fields.find(([key, value]) => !(KEYS as readonly string[]).includes(key) || typeof value !== 'string');
  if (odd !== undefined)
    throw new Mistake(
      `the file of the store may have the texts ${KEYS.join(', ')}, and nothing else: look at “${odd[0]}”`,
    );
  if (!fields.some(([key]) => key === 'url'))
    throw new Mistake('the file of the store has no url: add a line such as url: postgres://user@host/database');
  return Object.fromEntries(fields) as Named;
}

function authorityIn(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw new Mistake(
      'the ca that the file of the store names cannot be read: give a path from the folder of that file',
    );
  }
}

/** A state in a folder does not need the package. */
const library = (): Promise<typeof import('@hob/store-postgres')> =>
  loadBeside('@hob/store-postgres', '--store', () => import('@hob/store-postgres'));
