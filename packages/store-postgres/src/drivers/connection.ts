/**
 * One connection to a PostgreSQL server.
 *
 * Promise: all queries of a connection run in one session of the server, in the order of the calls. A lost connection
 * stays lost, because a new session would have none of its locks and settings. No error names the address, the user or
 * the password.
 */
import { once } from 'node:events';
import { isIP, connect as openSocket, type Socket } from 'node:net';
import { CapError } from '@hob/vat/errors';
import postgres from 'postgres';
import type { Server } from '../address.ts';

/** A row of a result, by the names of its columns. */
export type Row = Readonly<Record<string, unknown>>;

/** One session of a server. */
export interface Connection {
  /** Rejects with `Lost` if the connection ends before the result, or after `limitMs` (default: 5 s). */
  query(text: string, parameters?: readonly Parameter[], limitMs?: number): Promise<readonly Row[]>;
  readonly lost: boolean;
  close(): Promise<void>;
}

/** A value for a placeholder of a statement. */
export type Parameter = string | number | null;

/** The connection ended. Its last statement may or may not have been carried out. */
export class Lost extends Error {}

/** An error of the server, with its SQLSTATE. */
export class ServerError extends Error {
  readonly state: string;
  constructor(state: string) {
    super(`the server said ${state}`);
    this.state = state;
  }
}

const CONNECT_MS = 2000;
/** A server that does not answer for this time counts as gone. */
const SLOW_MS = 5000;

const connections = new Set<() => void>();

/** Ends every connection. The client throws some errors that do not tell which connection they belong to. */
export function loseAll(): void {
  for (const end of connections) end();
}

/**
 * Opens a connection. `heard` gets the text of each notification on a channel for which the session has said LISTEN.
 * Errors: `Lost` (nobody answers), `invalid` (the server refuses the user or the database).
 */
export async function connect(server: Server, heard: (text: string) => void = () => {}): Promise<Connection> {
  const { host, port, database, user, password, tls, name } = server;
  const state = { lost: false, given: false };
  let tell: (why: Lost) => void = () => {};
  const over = new Promise<never>((_, reject) => {
    tell = reject;
  });
  over.catch(() => {});
  const lose = (): void => {
    state.lost = true;
    tell(new Lost());
  };
  const socket = await dial(host, port);
  socket.once('close', lose); // it may close before the client listens
  const sql = postgres({
    ...{ host: [host], port: [port], database, user, pass: password ?? '' },
    ssl: tls === undefined ? false : { ca: tls.ca, host, servername: isIP(host) === 0 ? host : undefined, rejectUnauthorized: true }, // biome-ignore format: one line
    // Otherwise the client connects again and again to a server that accepts a connection and closes it.
    socket: () => {
      if (state.given) throw new Lost();
      state.given = true;
      return socket;
    },
    ...{ max: 1, idle_timeout: null, max_lifetime: null, connect_timeout: CONNECT_MS / 1000 },
    ...{ fetch_types: false, keep_alive: 2, backoff: 0, onclose: lose },
    // The warning 01000 tells that somebody cancelled a wait for a standby of the server.
    onnotice: ({ code }: { readonly code?: string }) => code === '01000' && lose(),
    onnotify: (_channel: string, text: string) => heard(text),
    connection: { application_name: name === undefined ? 'hob' : `hob ${name}` },
  } as unknown as postgres.Options<Record<string, never>>);
  const end = async (): Promise<void> => {
    connections.delete(lose);
    lose();
    await sql.end({ timeout: 0 }).catch(() => {});
    socket.destroy();
  };
  connections.add(lose);
  // With `max: 1` there is one session. This first query opens it.
  await within(CONNECT_MS, Promise.race([sql.unsafe('SELECT 1'), over])).catch(async (error) => {
    await end();
    throw connectError(error);
  });
  return {
    get lost(): boolean {
      return state.lost;
    },
    async query(text, parameters = [], limitMs = SLOW_MS) {
      if (state.lost) throw new Lost();
      const result = sql.unsafe(text, parameters as never, { prepare: parameters.length > 0 });
      result.catch(() => {});
      try {
        return (await within(limitMs, Promise.race([result, over]))) as readonly Row[];
      } catch (error) {
        const known = stateOf(error);
        if (known !== undefined && !ENDS.test(known)) throw new ServerError(known);
        await end();
        throw new Lost();
      }
    },
    close: end,
  };
}

/** SQLSTATEs with which the server ends a session: a connection error, a shut-down, a start. */
const ENDS = /^(?:08...|57P0[1-5])$/;

/** The SQLSTATE of an error; undefined if it did not come from the server. */
const stateOf = (error: unknown): string | undefined =>
  error instanceof postgres.PostgresError ? String(error.code) : undefined;

/** Codes of Node for a certificate that it refuses, and for a server without TLS. */
const UNTRUSTED = /CERT|SIGNATURE|^ERR_TLS/;
const NO_TLS = /^ERR_SSL|^EPROTO$/;

function connectError(error: unknown): Error {
  const state = stateOf(error);
  const code = String((error as { readonly code?: unknown }).code);
  if (state === undefined && UNTRUSTED.test(code))
    return new CapError(
      'invalid',
      "the database server's certificate is not valid for this name, or its authority is not known: give the authority's certificate as ca",
    );
  if (state === undefined && NO_TLS.test(code))
    return new CapError('invalid', 'the database server offers no TLS: turn ssl on in its configuration');
  if (state === undefined || ENDS.test(state) || state === '53300') return new Lost();
  if (/^28/.test(state))
    return new CapError('invalid', 'the database server refuses this user or its password: check both');
  if (state === '3D000')
    return new CapError('invalid', 'there is no database of this name: create it with createdb, or name another');
  return new ServerError(state);
}

/** Opens a socket to the server. Nothing is sent yet. */
async function dial(host: string, port: number): Promise<Socket> {
  const socket = host.startsWith('/') ? openSocket(`${host}/.s.PGSQL.${port}`) : openSocket(port, host);
  try {
    await within(CONNECT_MS, once(socket, 'connect'));
    return socket;
  } catch {
    socket.destroy();
    throw new Lost();
  }
}

function within<T>(limitMs: number, result: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Lost()), limitMs);
  });
  return Promise.race([result, late]).finally(() => clearTimeout(timer));
}
