/**
 * Other protocols over HTTP, each at one path of a door: for sessions, and for callers from outside.
 *
 * Promise: a face is called only for a session that showed its secret, or for a caller that the face itself knows. The
 * request has passed the checks of the door: `Host`, `Origin`, a slot on the meter of the session, a body within the
 * limit of a frame. The face never sees the secret. Its connection to the session is one like any other: the meter
 * pays, grants decide, and it ends with the session.
 */
import { CapError, captp, type Dialect, type Duplex, memoryPair } from '@hob/vat';
import { type Connected, largestFrame } from '@hob/vat/wire';
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
  /**
   * Returns the name of the caller, which it finds in the headers, or undefined for a stranger. The door reads the body
   * afterwards. Of each caller it lets 32 requests at a time through.
   */
  know(headers: Headers): Promise<string | undefined>;
  /** Returns the response to a request of a caller that `know` has named. The request has no `authorization`. */
  answer(request: Request, caller: string): Promise<Response>;
  /**
   * For a face whose proof covers the body, such as a signature: `answer` checks it, and `know` says only that the
   * headers have the form of a proof. The door reads at most so many bytes. The connection counts among those of
   * strangers, which have 5 s and of which a new one closes the oldest. So nobody keeps another caller out.
   */
  readonly proofInBody?: number;
}

/** Faces by their paths, such as `/mcp`. */
export type HttpFaces = Readonly<Record<string, HttpFace | OutsideFace>>;

/** Paths of the door itself. */
const OWN = ['/object', '/beside'];

/** Checks faces that were given. Errors: `invalid`. */
export function checkFaces(faces: HttpFaces = {}): ReadonlyMap<string, HttpFace | OutsideFace> {
  for (const [path, face] of Object.entries(faces))
    if (!/^\/[a-z][a-z0-9-]{0,30}$/.test(path) || OWN.includes(path) || !isFace(face))
      throw new CapError(
        'invalid',
        'faces are functions, or {know, answer, proofInBody?}, by their paths, such as { "/mcp": face }',
      );
  return new Map(Object.entries(faces));
}

const isFace = (face: HttpFace | OutsideFace): boolean =>
  typeof face === 'function' ||
  (typeof face?.know === 'function' && typeof face.answer === 'function' && isBodyLimit(face.proofInBody));

const isBodyLimit = (bytes: unknown): boolean =>
  bytes === undefined || (Number.isInteger(bytes) && Number(bytes) > 0 && Number(bytes) <= largestFrame);

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
