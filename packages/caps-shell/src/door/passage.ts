/**
 * A way out of a job, as the package that makes the cap describes it to the door.
 *
 * Promise: a passage is no property and no method of its cap. No message names it, and a session that holds the cap
 * cannot open a connection with it; only a job that the cap was handed to can.
 */
import type { Socket } from 'node:net';

/** The limits of a passage, in numbers, bytes and milliseconds. */
interface PassageLimits {
  /** The bytes that one job may send and receive together. */
  readonly bytes: number;
  /** From the request of the program until the connection may carry bytes. */
  readonly connectMs: number;
  /** A connection without a byte in either direction for so long ends. */
  readonly idleMs: number;
}

/** One host and port, or one Unix socket. */
export interface Passage {
  /** `registry.example:443`, or a text for a socket. */
  readonly name: string;
  /** The one spelling of the host that a program has to ask for, in lower case. Undefined: a Unix socket. */
  readonly at: { readonly host: string; readonly port: number } | undefined;
  readonly limits: PassageLimits;
  /**
   * Judges the first bytes of the program, all that have come so far. Returns whether that was enough. Until it
   * returned true no byte goes to the server. Throws if they are refused. Undefined: any bytes may pass.
   */
  readonly judge: ((first: Uint8Array) => boolean) | undefined;
  /** Opens a connection. `signal` aborts the attempt. It rejects with a `CapError` that tells no address. */
  connect(signal: AbortSignal): Promise<Socket>;
  /** The host itself sends the requests of programs on. It opens no connection for a program. */
  readonly forward?: Forward;
}

/**
 * Requests of programs for one prefix, as a proxy gets them, that the host sends on by itself. So it can add a secret or
 * a certificate that no program sees.
 */
export interface Forward {
  /** `https://git.example/acme`, and the same as programs ask for it: `http://git.example:443/acme`. No slash at the end. */
  readonly from: string;
  readonly inside: string;
  /** Whether the path of a request is in the prefix. It chooses among several; `serve` checks by itself. */
  takes(path: string): boolean;
  /**
   * Sends the one request that `client` has begun, and writes the answer. `signal` ends it. `count` is told the bytes of bodies, and returns
   * whether more may pass. Resolves when the connection is closed.
   */
  serve(client: Socket, signal: AbortSignal, count: (sent: number, received: number) => boolean): Promise<void>;
}

const passages = new WeakMap<object, Passage>();

/** Says which passage `cap` is. Returns the cap. Called once for each cap, when it is made. */
export function withPassage<T extends object>(cap: T, passage: Passage): T {
  passages.set(cap, Object.freeze({ ...passage }));
  return cap;
}

/** The passage of a cap of this process, or undefined. */
export const passageOf = (cap: object): Passage | undefined => passages.get(cap);
