/** Reads the address of a server. A server on another machine is reached over TLS, and its certificate is checked. */
import { CapError } from '@hob/vat/errors';

/** The address of a server and of a database on it, and who connects. */
export interface Server {
  /** A name or an address, or the folder of a Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
  readonly password?: string | undefined;
  /** Undefined: no TLS. `ca`: the certificate of the authority (PEM). Default: the authorities that Node trusts. */
  readonly tls?: { readonly ca?: string | undefined } | undefined;
  /** The server lists the sessions of this host under this name. */
  readonly name?: string | undefined;
}

/** `postgres://user:password@host:port/database`, or `postgres:///database?host=/run/postgresql&user=hob`. */
export function serverAt(url: string, { password, ca }: { password?: string; ca?: string }): Server {
  const at = URL.canParse(url) ? new URL(url) : undefined;
  if (at === undefined || !/^postgres(?:ql)?:$/.test(at.protocol))
    throw new CapError('invalid', 'url is postgres://user@host:port/database');
  const { host: folder, user: name, ...others } = Object.fromEntries(at.searchParams);
  if (Object.keys(others).length > 0)
    throw new CapError(
      'invalid',
      'the url may have the options host (the folder of a Unix socket) and user: remove the others',
    );
  const text = (part: string): string => {
    try {
      return decodeURIComponent(part);
    } catch {
      throw new CapError(
        'invalid',
        'a % in the url must stand before two hexadecimal digits: write %25 for the sign itself',
      );
    }
  };
  const host = folder ?? at.hostname.replace(/^\[|\]$/g, '');
  const database = text(at.pathname.slice(1));
  const user = name ?? text(at.username);
  if (host === '' || database === '' || user === '')
    throw new CapError('invalid', 'url names a user, a host and a database: postgres://user@host:port/database');
  const given = password ?? (at.password === '' ? undefined : text(at.password));
  const tls = isHere(host) && ca === undefined ? undefined : { ca };
  return { host, port: Number(at.port || 5432), database, user, password: given, tls };
}

/** Whether the server is on this machine. No other machine can read such a connection. */
const isHere = (host: string): boolean =>
  host.startsWith('/') || host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
