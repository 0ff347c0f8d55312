/**
 * Where a host listens: on loopback, on a Unix socket, or on an address of the machine with TLS.
 *
 * Promise: without TLS nothing outside this machine can connect. A request has to name the host by one of its
 * names, so a web page that binds its own name to the address cannot enter.
 */
import { CapError } from '@hob/vat';
import { type OptionNames, takeOptions } from '@hob/vat/forwarder';

/**
 * Where `serve` listens.
 *
 * - `{ port }`: on 127.0.0.1. Port 0, the default, is any free port.
 * - `{ path }`: on a Unix socket of mode 0600, for programs of the same user and for containers.
 * - `{ host, port, tls }`: on an address of this machine, with TLS. `names` are further names that clients
 *   use. They are required if `host` is `0.0.0.0` or `::`.
 */
export type ServeOptions =
  | { readonly port?: number }
  | { readonly path: string }
  | {
      readonly host: string;
      readonly port?: number;
      /** A certificate chain and its private key, in PEM. */
      readonly tls: { readonly cert: string; readonly key: string };
      readonly names?: readonly string[];
    };

const serveOptions: OptionNames<ServeOptions> = { port: true, path: true, host: true, tls: true, names: true };

/** The names of a host in the headers of a request. */
export interface HostNames {
  /** Values of `Host`. */
  readonly authorities: readonly string[];
  /** Values of `Origin`: the host's own pages. */
  readonly origins: readonly string[];
}

export interface ListenPlace {
  readonly at: { readonly host: string; readonly port: number } | { readonly path: string };
  /** A second address with the same names. Without it another program could listen there and pass for this host. */
  readonly besideHost?: string;
  readonly tls?: { readonly cert: string; readonly key: string };
  url(port: number): string;
  names(port: number): HostNames;
}

/** The kernel takes 108 bytes, the last of which is NUL. */
const LONGEST_PATH = 107;

/** Checks the options of `serve`. Errors: `invalid`. */
export function placeOf(options?: ServeOptions): ListenPlace {
  const given = takeOptions(options, 'serve', serveOptions);
  const { port = 0, path, host, tls, names = [] } = given as Partial<Record<keyof typeof serveOptions, unknown>>;
  if (path !== undefined) {
    if (Object.keys(given).length > 1)
      throw invalid('path stands alone: a Unix socket has no port, host, tls or names');
    return unixPlace(path);
  }
  if (!Number.isInteger(port) || (port as number) < 0 || (port as number) > 65_535)
    throw invalid('port is a whole number from 0 to 65535');
  if (host === undefined) {
    if (tls !== undefined || Object.hasOwn(given, 'names'))
      throw invalid('tls and names need host: the address to listen on');
    return loopback(port as number);
  }
  if (typeof host !== 'string' || host === '') throw invalid('host is an address or a name of this machine');
  return tlsPlace(host, port as number, tlsOf(tls), namesOf(names, host));
}

const invalid = (text: string): CapError => new CapError('invalid', text);

function loopback(port: number): ListenPlace {
  return {
    at: { host: '127.0.0.1', port },
    besideHost: '::1',
    url: (now) => `ws://127.0.0.1:${now}`,
    names: (now) => namesAt('http', ['127.0.0.1', 'localhost', '[::1]'], now, 80),
  };
}

function unixPlace(path: unknown): ListenPlace {
  if (typeof path !== 'string' || !path.startsWith('/') || /[\0:]/.test(path))
    throw invalid('path is the absolute path of a Unix socket, without a colon');
  if (Buffer.byteLength(path) > LONGEST_PATH)
    throw invalid(`path is longer than ${LONGEST_PATH} bytes, which no system takes: use a shorter folder`);
  // Clients of Unix sockets send this name. No web page can reach one.
  const names = { authorities: ['localhost'], origins: [] };
  return { at: { path }, url: () => `ws+unix:${path}:/`, names: () => names };
}

function tlsPlace(
  host: string,
  port: number,
  tls: NonNullable<ListenPlace['tls']>,
  names: readonly string[],
): ListenPlace {
  const [first = host] = names;
  return {
    at: { host, port },
    tls,
    url: (now) => `wss://${first}:${now}`,
    names: (now) => namesAt('https', names, now, 443),
  };
}

/** Browsers leave the port out where it is the usual one. */
function namesAt(scheme: 'http' | 'https', names: readonly string[], port: number, usual: number): HostNames {
  const authorities = names.flatMap((name) => [`${name}:${port}`, ...(port === usual ? [name] : [])]);
  return { authorities, origins: authorities.map((authority) => `${scheme}://${authority}`) };
}

function tlsOf(tls: unknown): NonNullable<ListenPlace['tls']> {
  const { cert, key } = takeOptions<{ cert?: unknown; key?: unknown }>(tls ?? undefined, 'tls', {
    cert: true,
    key: true,
  });
  if (typeof cert === 'string' && typeof key === 'string') return { cert, key };
  throw invalid(
    'a host outside loopback needs tls: { cert, key } in PEM. Without it use { path }, or a tunnel to loopback',
  );
}

function namesOf(given: unknown, host: string): readonly string[] {
  const isName = (name: unknown): name is string =>
    typeof name === 'string' && /^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$|^\[[0-9a-f:]+\]$/.test(name);
  if (!Array.isArray(given) || !given.every(isName)) throw invalid('names are host names, like "hob.example.org"');
  const everywhere = host === '0.0.0.0' || host === '::';
  if (everywhere && given.length === 0)
    throw invalid('a host that listens on every address needs names: those that clients use in its URL');
  const own = everywhere ? [] : [host.includes(':') ? `[${host}]` : host];
  return [...new Set([...given, ...own])].map((name) => name.toLowerCase());
}
