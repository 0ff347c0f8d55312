/**
 * The file that describes one machine of a cluster. Paths in it begin at its folder.
 *
 *   name: alpha
 *   store: store.yaml                      # the database, as for --store, without a schema
 *   state: state                           # a folder of this machine; each tenant gets a folder in it
 *   door: { host: 0.0.0.0, port: 7710, cert: door.pem, key: door.key, names: [alpha.example.org] }
 *   link: { host: 10.0.0.1, port: 7711, cert: alpha.pem, key: alpha.key, peers: { beta: beta.pem } }
 *   tenants:                               # the manifest of each tenant, and its limits
 *     acme: acme.yaml
 *     globex: { manifest: globex.yaml, sessions: 100, connections: 50 }
 *
 * Promise: a key that other users may read is refused, and no error has the text of a key.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { HostMost, ServeOptions } from '@hob/host';
import { parse } from 'yaml';
import * as z from 'zod';
import { fromHome, usualCluster } from '../../drivers/places.ts';
import { readPrivate } from '../../drivers/private-file.ts';
import { clusterDatabase } from '../../drivers/store-file.ts';
import { Mistake } from '../../line/mistake.ts';
import { type Given, textOf } from '../../line/verb.ts';

const path = z.string().min(1);
const port = z.int().min(0).max(65_535);
const count = z.int().min(1);
const tenant = z.strictObject({
  manifest: path,
  sessions: count.optional(),
  connections: count.max(10_000).optional(),
});
const pair = { cert: path.optional(), key: path.optional() };
const schema = z.strictObject({
  name: z.string(),
  store: path,
  state: path,
  door: z.strictObject({ host: z.string().optional(), port, ...pair, names: z.array(z.string()).optional() }),
  link: z.strictObject({
    host: z.string().default('127.0.0.1'),
    port,
    /** Host and port at which the other machines reach the link. Default: `host` and `port`. */
    address: z.string().optional(),
    ...pair,
    peers: z.record(z.string(), path).default({}),
  }),
  tenants: z.record(z.string(), z.union([path, tenant])).default({}),
});

/** The file of one machine, with the files that it names. */
export interface ClusterFile {
  readonly file: string;
  readonly name: string;
  readonly database: ReturnType<typeof clusterDatabase>;
  readonly state: string;
  readonly door: ServeOptions & { readonly tls?: { readonly cert: string; readonly key: string } };
  readonly link: {
    readonly at: { readonly host: string; readonly port: number };
    readonly address: string | undefined;
    readonly key?: string;
    readonly cert?: string;
    readonly peers: Readonly<Record<string, string>>;
  };
  /** The path of the manifest of each tenant, and its limits, by the name of the tenant. */
  readonly tenants: Readonly<Record<string, { readonly manifest: string; readonly most: HostMost }>>;
  /** No root of a manifest may hold these files. Whoever can write them decides what this machine trusts. */
  readonly files: readonly string[];
}

/** Returns the path that `--cluster` names, or the usual one. */
export const clusterFileOf = (given: Given): string => resolve(textOf(given, 'cluster') ?? usualCluster());

/** Reads the file of a machine, and the keys and certificates that it names. Errors: `Mistake`. */
export function readCluster(file: string): ClusterFile {
  const { name, store, state, door, link, tenants } = checked(textIn(file, 'the file of the machine'));
  const at = (named: string): string => resolve(dirname(file), fromHome(named));
  const database = clusterDatabase(at(store));
  const files: string[] = [file, ...database.files];
  const read = (named: string, what: string): string => {
    files.push(at(named));
    return textIn(at(named), what);
  };
  const pairOf = (
    part: 'door' | 'link',
    { cert, key }: { readonly cert?: string | undefined; readonly key?: string | undefined },
  ): { readonly cert: string; readonly key: string } | undefined => {
    if (cert === undefined && key === undefined) return undefined;
    if (cert === undefined || key === undefined) throw new Mistake(`${part}: cert and key go together`);
    const text = readPrivate(at(key), `${part}.key`);
    if (text === undefined) throw new Mistake(`${part}.key: there is no such file`);
    files.push(at(key));
    return { key: text, cert: read(cert, `${part}.cert`) };
  };
  const tls = pairOf('door', door);
  if (door.host === undefined && (tls !== undefined || door.names !== undefined))
    throw new Mistake('door: cert, key and names need host: the address on which the door listens');
  const names = door.names === undefined ? {} : { names: door.names };
  return {
    ...{ file, name, database, state: at(state) },
    door:
      door.host === undefined
        ? { port: door.port }
        : ({ host: door.host, port: door.port, ...(tls && { tls }), ...names } as ServeOptions),
    link: {
      at: { host: link.host, port: link.port },
      address: link.address ?? (link.port === 0 ? undefined : addressOf(link)),
      ...pairOf('link', link),
      peers: Object.fromEntries(
        Object.entries(link.peers).map(([peer, cert]) => [peer, read(cert, `link.peers.${peer}`)]),
      ),
    },
    tenants: Object.fromEntries(
      Object.entries(tenants).map(([name, given]) => {
        const { manifest, ...most } = typeof given === 'string' ? { manifest: given } : given;
        files.push(at(manifest));
        return [name, { manifest: at(manifest), most: most as HostMost }];
      }),
    ),
    files,
  };
}

/** An IPv6 address stands in brackets. */
const addressOf = ({ host, port }: { readonly host: string; readonly port: number }): string =>
  `${host.includes(':') ? `[${host}]` : host}:${port}`;

function checked(text: string): z.infer<typeof schema> {
  let data: unknown;
  try {
    data = parse(text, { maxAliasCount: 0 });
  } catch {
    throw new Mistake('the file of the machine is not YAML: write lines such as name: alpha');
  }
  const found = schema.safeParse(data ?? {});
  if (found.success) return found.data;
  const [issue] = found.error.issues;
  const wrong = issue?.code === 'unrecognized_keys' ? [...issue.path, issue.keys[0]] : (issue?.path ?? []);
  const why = issue?.code === 'unrecognized_keys' ? 'there is no such part' : `${issue?.message}`;
  throw new Mistake(
    `the file of the machine: ${wrong.join('.') || 'all of it'}: ${why}; the README of @hob/cli shows an example`,
  );
}

/** A larger file is refused. Files of machines, keys and certificates are far smaller. */
const LARGEST = 1_048_576;

function textIn(file: string, what: string): string {
  try {
    return textOfFile(file);
  } catch (error) {
    throw new Mistake(
      `${what} cannot be read (${(error as NodeJS.ErrnoException).code}): check the path; a path in the file of the machine begins at its folder`,
    );
  }
}

/** An agent may have made the file. A FIFO or an endless device must not hold up the tenants of the machine. */
function textOfFile(file: string): string {
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) throw Object.assign(new Error('not a file'), { code: 'not a file' });
    if (stat.size > LARGEST) throw Object.assign(new Error('too large'), { code: 'too large' });
    return readFileSync(descriptor, 'utf8');
  } finally {
    closeSync(descriptor);
  }
}
