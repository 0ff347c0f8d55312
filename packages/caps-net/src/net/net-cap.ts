/** The interfaces of a net cap, a socket cap and a forward cap, and their options. */
import type { HttpDescription } from '../http/http-cap.ts';
import type { Secret } from '../secret/secret.ts';

/**
 * One host and port that programs of a sandboxed job reach, if this cap is in the `net` of their world. Its holder
 * opens no connection with it by itself.
 */
export interface NetCap {
  describe(): Promise<NetDescription>;
}

/** Where a net cap leads. */
export interface NetDescription {
  readonly host: string;
  readonly port: number;
  /** Whether connections must be TLS that names this host. With a client certificate the host speaks TLS: false. */
  readonly tls: boolean;
}

/**
 * One origin and path prefix that programs of a job reach in plain HTTP through their proxy, if this cap is in the `net`
 * of their world. The host sends their requests, with a secret or a certificate that no program sees.
 */
export interface ForwardCap {
  describe(): Promise<HttpDescription>;
}

/** One Unix socket of this machine that programs of a job reach, if this cap is in the `sockets` of their world. */
export interface SocketCap {
  /** It has no path of the machine. */
  describe(): Promise<{ readonly kind: 'socket' }>;
}

/** The limits of a net cap or a socket cap, in numbers, bytes and milliseconds. */
export interface NetLimits {
  /** Connections that are open at once, of all jobs. Default 64. */
  readonly connections: number;
  /** The bytes that one job sends and receives together. Default 1 GiB. */
  readonly bytes: number;
  /** From the request until the connection may carry bytes. Default 10 s. */
  readonly connectMs: number;
  /** A connection without a byte for so long ends. Default 5 min. */
  readonly idleMs: number;
}

/** The options of `makeNetCap`: what is granted. */
export interface NetOptions {
  /** `registry.example`, `192.0.2.1` or `[2001:db8::1]`, written the one way that it is written. */
  readonly host: string;
  readonly port: number;
  /** `false`: any bytes may pass, and no name in them is looked at. Default true. */
  readonly tls?: boolean;
  /** Addresses and ranges that are reached although they are not public: `127.0.0.1`, `10.1.0.0/16`. */
  readonly addresses?: readonly string[];
  readonly limits?: Partial<NetLimits>;
  /**
   * The host speaks TLS to the server, and shows this certificate (PEM). Programs send plain bytes. Secrets are read for
   * each connection.
   */
  readonly client?: { readonly cert: string | Secret; readonly key: Secret };
  /** With `client`: certificates (PEM) that are trusted instead of those that Node knows. */
  readonly ca?: string | Secret;
}

/** The options of `makeSocketCap`. */
export interface SocketOptions {
  /** The path on this machine. It is looked up for each connection. */
  readonly path: string;
  readonly limits?: Partial<NetLimits>;
}
