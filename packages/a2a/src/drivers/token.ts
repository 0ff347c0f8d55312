/**
 * How a peer shows who it is: a token that it signs with the key of its card, for one request (RFC 7519, RFC
 * 6750).
 *
 * Promise: a token is taken once, within a minute of its signing, at the address that it was signed for, and
 * only if it was signed after the host began. It names its key by thumbprint (RFC 7638), and no key that a
 * token brings along is looked at.
 */
import { randomUUID } from 'node:crypto';
import { CapError } from '@hob/vat';
import type { importJWK, JWK } from 'jose';
import { cardKey, signingKey } from './sign.ts';

const LASTS_S = 60;
/** Clocks of two machines may differ by so much. */
const TOLERANCE_S = 5;
const LONGEST = 4096;
const LONGEST_ID = 200;
/** So many tokens of a peer are remembered, and those that have not expired in any case. */
const MOST_REMEMBERED = 4096;

/** The agents whose tokens are taken. */
export interface KnownPeers {
  /** Their public keys, by name. */
  readonly keys: Readonly<Record<string, object>>;
  /** The address that tokens are signed for. */
  readonly audience: string;
  /** In ms since 1970. */
  readonly now: () => number;
}

/** Returns the name of the peer that has signed the token of this value of `authorization`. */
export type Know = (authorization: string | null) => Promise<string | undefined>;

interface KnownKey {
  readonly name: string;
  readonly key: Awaited<ReturnType<typeof importJWK>>;
  readonly alg: string;
  /** The ids of its tokens, each with the time when it expires, oldest first. */
  readonly taken: Map<string, number>;
}

/** Errors: `invalid` (a key). */
export async function knowPeers({ keys, audience, now }: KnownPeers): Promise<Know> {
  const { calculateJwkThumbprint, decodeProtectedHeader, importJWK, jwtVerify } = await import('jose');
  const known = new Map<string, KnownKey>();
  const since = now();
  for (const [name, jwk] of Object.entries(keys)) {
    const { kty, crv, x, y } = jwk as JWK;
    const own = { kty, crv, x, ...(y === undefined ? {} : { y }) } as JWK;
    const alg = crv === 'Ed25519' ? 'EdDSA' : crv === 'P-256' ? 'ES256' : 'ES384';
    try {
      known.set(await calculateJwkThumbprint(own), { name, key: await importJWK(own, alg), alg, taken: new Map() });
    } catch {
      throw new CapError('invalid', `a2a.peers.${name}.key is no public key: copy what hob card --public-key prints`);
    }
  }
  return async (authorization) => {
    const token = /^Bearer ([\w-]+\.[\w-]+\.[\w-]+)$/i.exec(authorization?.slice(0, LONGEST) ?? '')?.[1] ?? '';
    try {
      const by = known.get(decodeProtectedHeader(token).kid ?? '');
      if (by === undefined) return undefined;
      const at = now();
      const { payload } = await jwtVerify(token, by.key, {
        ...{ algorithms: [by.alg], audience, currentDate: new Date(at), clockTolerance: TOLERANCE_S },
        ...{ maxTokenAge: LASTS_S, requiredClaims: ['exp', 'iat', 'jti'] },
      });
      const { jti = '', iat = 0 } = payload;
      if (iat * 1000 < since || typeof jti !== 'string' || jti === '' || jti.length > LONGEST_ID) return undefined;
      return takeOnce(by.taken, jti, { expires: (iat + LASTS_S + TOLERANCE_S) * 1000, at }) ? by.name : undefined;
    } catch {
      // Whatever is wrong with a token, its sender reads the same.
      return undefined;
    }
  };
}

/** An id is forgotten when it has expired and many newer ones came. A clock that is set back makes no token new. */
function takeOnce(taken: Map<string, number>, id: string, { expires, at }: { expires: number; at: number }): boolean {
  if (taken.has(id)) return false;
  const [oldest] = taken;
  if (taken.size >= MOST_REMEMBERED) {
    if (oldest === undefined || oldest[1] > at) return false;
    taken.delete(oldest[0]);
  }
  taken.set(id, expires);
  return true;
}

/** The request of a token: the private key in PEM, and the address that the other agent's card has. */
export interface TokenRequest {
  readonly pem: string;
  readonly audience: string;
  /** In ms since 1970. */
  readonly now: () => number;
}

/** Signs a token for one request, in the next minute. It goes into `authorization: Bearer …`. Errors: `invalid`. */
export async function peerToken({ pem, audience, now }: TokenRequest): Promise<string> {
  const { SignJWT } = await import('jose');
  const { key, alg } = signingKey(pem);
  const { kid } = await cardKey(pem);
  // Whole seconds would be before the beginning of a host that began within this second.
  const iat = now() / 1000;
  return await new SignJWT({ jti: randomUUID() })
    .setProtectedHeader({ alg, kid: kid as string, typ: 'JWT' })
    .setAudience(audience)
    .setIssuedAt(iat)
    .setExpirationTime(iat + LASTS_S)
    .sign(key);
}
