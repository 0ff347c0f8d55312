/**
 * One listener for several hosts of this process, and a door to hosts of other machines.
 *
 * The first part of a path names the host: `ws://127.0.0.1:7710/alpha`. The rest is the path that the host sees.
 */
import type { Duplex } from 'node:stream';
import { CapError } from '@hob/vat';

/** A route to the machine that serves a host. */
export interface HostElsewhere {
  /** Opens a stream to the front door there, which gets it with `take`. The relay ends it. */
  open(): Promise<Duplex>;
}

/** Options of `openFrontDoor`. */
export interface FrontOptions {
  /**
   * Called for a name that no host of this process has. Returns the route to the machine that serves it, or undefined if
   * there is no host of that name. It must be quick, because a stranger can ask for any name.
   */
  elsewhere?(name: string): HostElsewhere | undefined;
  /** Logs an error of ours. Nobody outside sees it. */
  fault?(error: unknown): void;
}

/** A door for several hosts: `host.serve({ front, name })` adds one. */
export interface FrontDoor {
  /** Its address. A host has this address and its name: `ws://127.0.0.1:7710/alpha`. */
  readonly url: string;
  /**
   * Serves a connection that the front door of another machine has relayed. That door has checked `Host` and `Origin`,
   * so pass only streams of machines that you trust. A host that is not in this process is `unavailable`, and the caller
   * tries again: nothing is relayed twice.
   */
  take(stream: Duplex): void;
  /**
   * Shows this certificate (PEM) to new connections. Those that are open go on. Errors: `invalid` (the door has no TLS,
   * or certificate and key do not belong together); then the door keeps its certificate.
   */
  renew(tls: { readonly cert: string; readonly key: string }): void;
  /** Ends all connections, those of its hosts and those that it relays, and frees the address. The hosts go on. */
  close(): Promise<void>;
}

/** Serves a host at a front door, under a name. */
export interface FrontPlace {
  readonly front: FrontDoor;
  /** A letter a-z, then at most 39 of a-z, 0-9 and `_`. */
  readonly name: string;
}

/** Checks the name of a host. Errors: `invalid`. */
export function checkHostName(name: unknown): string {
  if (typeof name === 'string' && wholeName.test(name)) return name;
  throw new CapError('invalid', 'the name of a host at a front door is a letter a-z and at most 39 of a-z, 0-9 and _');
}

/**
 * Splits the path of a request into the name of a host and the path that this host sees. Undefined if it begins with no
 * name. No character is decoded and no `..` is resolved, so one path is one host at every door.
 */
export function splitPath(path: string): { readonly name: string; readonly rest: string } | undefined {
  const [, name, rest = ''] = named.exec(path) ?? [];
  if (name === undefined) return undefined;
  return { name, rest: rest.startsWith('/') ? rest : `/${rest}` };
}

const wholeName = /^[a-z][a-z0-9_]{0,39}$/;
const named = /^\/([a-z][a-z0-9_]{0,39})((?:[/?].*)?)$/s;
