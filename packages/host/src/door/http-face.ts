/**
 * Other protocols over HTTP, each at one path of a door: for sessions, and for callers from outside.
 *
 * Promise: a face is called only for a session that showed its secret, or for a caller that the face itself knows, over
 * a request that passed the checks of the
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

/** A face for callers that have no session here. It knows them by something of their own, such as a signed token. */
export interface OutsideFace {
  /** The name of the caller, by the headers of its request. None of the body is read before. Undefined: a stranger. */
  know(headers: Headers): Promise<string | undefined>;
  /** Answers a request of a caller that it knows. Its headers are without `authorization`. */
  answer(request: Request, caller: string): Promise<Response>;
}

/** Faces by their paths, such as `/mcp`. */
export type HttpFaces = Readonly<Record<string, HttpFace | OutsideFace>>;

/** Paths of the door itself. */
const OWN = ['/object', '/beside'];

/** Checks faces that were given. Errors: `invalid`. */
export function checkFaces(faces: HttpFaces = {}): ReadonlyMap<string, HttpFace | OutsideFace> {
  for (const [path, face] of Object.entries(faces))
    if (!/^\/[a-z][a-z0-9-]{0,30}$/.test(path) || OWN.includes(path) || !isFace(face))
      throw new CapError('invalid', 'faces are functions, or {know, answer}, by their paths, such as { "/mcp": face }');
  return new Map(Object.entries(faces));
}

const isFace = (face: HttpFace | OutsideFace): boolean =>
  typeof face === 'function' || (typeof face?.know === 'function' && typeof face.answer === 'function');

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
