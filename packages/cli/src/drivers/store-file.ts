/**
 * A state whose store lies in a PostgreSQL database, as a private file of a person names it:
 *
 *   url: postgres://hob@db.example.org/hob
 *   password: …
 *   ca: authority.pem       # beside this file
 *   schema: hob
 *   lease: 10s
 *
 * Promise: no other user may read the file, and nothing of it is printed.
 */
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { StoreHosts } from '@hob/store-postgres';
import type { Store } from '@hob/vat';
import { parse } from 'yaml';
import { durationOf } from '../line/limits.ts';
import { Mistake } from '../line/mistake.ts';
import { type Given, textOf } from '../line/verb.ts';
import { ownName } from './machine.ts';
import { readPrivate } from './private-file.ts';

/** How a store is opened. */
interface Opening {
  /** The folder of the sentinel. */
  readonly sentinel?: string | undefined;
  /** To read only, beside the host that has the store. */
  readonly look?: boolean;
  /** Waits for as long as another host has the store. */
  readonly standby?: boolean;
}

/** A store in a database. */
export interface NamedStore {
  /** The file that names it, and that of the authority. Whoever writes one of them chooses the server. */
  readonly files: readonly string[];
  /** Errors: `Mistake` (the package, the authority), those of `postgresStore`. */
  open(opening: Opening): Promise<Store>;
  /** Which hosts use the store that `open` opened. Errors: those of `storeHosts`. */
  hosts(store: Store): Promise<StoreHosts>;
}

const KEYS = ['url', 'password', 'ca', 'schema', 'lease'] as const;
type Named = Partial<Record<(typeof KEYS)[number], string>>;

/** The store that `--store` names, or undefined. Errors: `Mistake` (the file). */
export function storeOf(given: Given): NamedStore | undefined {
  const named = textOf(given, 'store');
  if (named === undefined) return undefined;
  const file = resolve(named);
  const fields = read(file);
  const ca = fields.ca === undefined ? undefined : resolve(dirname(file), fields.ca);
  const place = { ...fields, ca };
  return {
    files: ca === undefined ? [file] : [file, ca],
    open: (opening) => open(place, opening),
    hosts: async (store) => await (await library()).storeHosts(store),
  };
}

/** Which hosts use the store that `--store` names. Errors: `Mistake` (the file, none is named), those of a store. */
export async function hostsNamed(given: Given): Promise<StoreHosts> {
  const named = storeOf(given);
  if (named === undefined) throw new Mistake('--store FILE names the database', 2);
  const store = await named.open({ look: true });
  try {
    return await named.hosts(store);
  } finally {
    await store.close();
  }
}

async function open(
  { url = '', password, ca, schema, lease }: { readonly [Key in keyof Named]: string | undefined },
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
    throw new Mistake('the file of the store is no YAML: it has lines like url: postgres://user@host/database');
  }
  const fields = typeof found === 'object' && found !== null ? Object.entries(found) : [];
  const odd = fields.find(([key, value]) => !(KEYS as readonly string[]).includes(key) || typeof value !== 'string');
  if (odd !== undefined)
    throw new Mistake(
      `the file of the store has texts named ${KEYS.join(', ')}, and nothing else: look at “${odd[0]}”`,
    );
  if (!fields.some(([key]) => key === 'url')) throw new Mistake('the file of the store has no url');
  return Object.fromEntries(fields) as Named;
}

function authorityIn(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw new Mistake('the ca that the file of the store names cannot be read: it is a path beside that file');
  }
}

/** The package is optional, because a state in a folder does not need it. */
async function library(): Promise<typeof import('@hob/store-postgres')> {
  try {
    return await import('@hob/store-postgres');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new Mistake('--store needs one package more, beside this one: npm install -g @hob/store-postgres');
  }
}
