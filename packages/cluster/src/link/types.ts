/** The link between the machines of a cluster: streams of bytes between machines that have pinned each other. */
import type { Duplex } from 'node:stream';

/** The machine of a tenant, as `cluster.where` returns it. */
export interface LinkPeer {
  readonly name: string;
  /** `HOST:PORT`, or `[IPv6]:PORT`, of its link. */
  readonly address: string | undefined;
}

/** The certificates of the other machines (PEM), by their names in the cluster. */
export type LinkPins = Readonly<Record<string, string>>;

/** Options of `openLink`. */
export interface LinkOptions {
  /** Port 0 is any free one. */
  readonly at: { readonly host: string; readonly port: number };
  /** The private key and the certificate of this machine, in PEM. Without them it is plain TCP, on loopback only. */
  readonly key?: string;
  readonly cert?: string;
  readonly peers?: LinkPins;
  /**
   * Called with each stream that another machine has opened. `peer` is the name under which its certificate is pinned,
   * and undefined over plain TCP.
   */
  take(stream: Duplex, peer: string | undefined): void;
  /** Logs an error of ours. */
  fault?(error: unknown): void;
}

/** The link of one machine. `await using` closes it. */
export interface Link extends AsyncDisposable {
  readonly port: number;
  /** Opens a stream to a machine. Errors: `unavailable`. */
  dial(peer: LinkPeer): Promise<Duplex>;
  /** Replaces the pinned certificates. Ends the streams of machines whose certificate is not pinned any more. */
  pin(peers: LinkPins): void;
  /** Ends all streams, and frees the address. */
  close(): Promise<void>;
}
