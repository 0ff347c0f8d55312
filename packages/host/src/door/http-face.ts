/**
 * Other protocols over HTTP, each at one path of a door, for sessions.
 *
 * Promise: a face is called only for a session that showed its secret, over a request that passed the checks of the
 * door: `Host`, `Origin`, a slot on the meter of the session, a body within the limit of a frame. It never sees the
 * secret. Its connection to the session is one like any other: the meter pays, grants decide, and it ends with the
 * session.
 */
import { CapError, captp, type Dialect, type Duplex, memoryPair } from '@hob/vat';
import type { Connected } from '@hob/vat/wire';
import type { SessionFace } from '../sessions/sessions.ts';
import type { EnteredPeer } from './presence.ts';

/** A session that showed its secret over HTTP. */
export interface HttpSession {
  readonly id: string;
  /** Connects to the session, beside its other programs. Close it when nobody needs it any more. */
  connect(): Connected<SessionFace>;
}

/**
 * Answers one request. Its headers are as they came, without the secret. Its `signal` is aborted when the response was
 * sent or the client has gone.
 */
export type HttpFace = (request: Request, session: HttpSession) => Promise<Response>;

/** Faces by their paths, such as `/mcp`. */
export type HttpFaces = Readonly<Record<string, HttpFace>>;

/** Paths of the door itself. */
const OWN = ['/object', '/beside'];

/** Checks faces that were given. Errors: `invalid`. */
export function checkFaces(faces: HttpFaces = {}): ReadonlyMap<string, HttpFace> {
  for (const [path, face] of Object.entries(faces))
    if (!/^\/[a-z][a-z0-9-]{0,30}$/.test(path) || OWN.includes(path) || typeof face !== 'function')
      throw new CapError('invalid', 'faces are functions by their paths, such as { "/mcp": face }');
  return new Map(Object.entries(faces));
}

/** The session of a peer. Undefined for a granter and a sturdyref: they have no face over HTTP. */
export function httpSession(
  peer: EnteredPeer,
  welcome: (peer: EnteredPeer, duplex: Duplex, dialect: Dialect) => void,
): HttpSession | undefined {
  const { session: id } = peer;
  if (id === undefined) return undefined;
  return {
    id,
    connect() {
      const [ours, theirs] = memoryPair();
      welcome({ ...peer, beside: true }, ours, 'hob.1');
      return captp<SessionFace>(theirs);
    },
  };
}
