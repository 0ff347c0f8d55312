/**
 * A call on an object by its URL: `POST /object/<id>` with a session's secret. `{"method", "args"}` returns
 * `{"value"}` or `{"code", "message"}`.
 *
 * Promise: it is a call of that session like any other: its meter pays, and its grants decide. A caller
 * that does not hold the object gets the same bytes whether the object exists or not.
 */
import { CapError, captp, E, type Far, isReference, type Meter, memoryPair } from '@hob/vat';
import type { SessionFace } from '../sessions/sessions.ts';
import { storeFailed } from './admission.ts';

export interface ObjectCall {
  readonly method: string;
  readonly args: readonly unknown[];
}
/** Stands for a request that is no call. It is looked up and recorded like a call. */
export const noCall: ObjectCall = Object.freeze({ method: '', args: [] });
export interface HttpReply {
  readonly status: number;
  readonly body: string;
}

const reply = (status: number, value: unknown): HttpReply => Object.freeze({ status, body: JSON.stringify(value) });

/** For an id of another session, a dead or random id, and every method but POST. */
export const noObject: HttpReply = reply(404, { code: 'no-such-object', message: 'this names no object here' });
/** For an unknown secret, with any id. */
export const unknownSecret: HttpReply = reply(401, {
  code: 'denied',
  message: 'the host does not know this secret: ask for a new one',
});
/** For every request while the store fails. */
export const storeFails: HttpReply = reply(503, { code: 'unavailable', message: storeFailed });
const badCall: HttpReply = reply(400, {
  code: 'invalid',
  message: 'a call is {"method": "name", "args": [...]}, of at most 256 KiB',
});

/** Undefined where it is none. */
export function parseCall(body: string): ObjectCall | undefined {
  try {
    const { method, args = [] } = JSON.parse(body) as { readonly method?: unknown; readonly args?: unknown };
    return typeof method === 'string' && Array.isArray(args) ? { method, args } : undefined;
  } catch {
    return undefined;
  }
}

/** Calls the object. `face` and `meter` are those of the calling session. */
export async function callObject(
  { face, meter }: { readonly face: Far<object>; readonly meter: Meter },
  url: string,
  call: ObjectCall | undefined,
  gone: AbortSignal,
): Promise<HttpReply> {
  if (call === undefined) return badCall;
  // The call has a CapTP session of its own, so budgets, method names and error texts are as in any other.
  const [ours, theirs] = memoryPair();
  const inside = captp(ours, { bootstrap: face, meter });
  const outside = captp<SessionFace>(theirs);
  const hangUp = (): void => outside.close();
  gone.addEventListener('abort', hangUp);
  try {
    let cap: object;
    try {
      cap = await E(outside.bootstrap).resolve(url);
    } catch (error) {
      return isStoreFailure(error) ? storeFails : noObject;
    }
    const method = (
      E(cap) as Readonly<Record<string, ((...args: readonly unknown[]) => Promise<unknown>) | undefined>>
    )[call.method];
    if (typeof method !== 'function') throw new CapError('no-such-method', 'that cannot be the name of a method');
    return reply(200, { value: toJson(await method(...call.args)) });
  } catch (error) {
    const { code, message } = error as CapError;
    // The grant may have ended after the id was looked up.
    if (endCodes.has(code) && !(await resolves(outside.bootstrap, url))) return noObject;
    return typeof code === 'string' && error instanceof CapError
      ? reply(200, { code, message })
      : reply(200, { code: 'error', message: 'the call failed' });
  } finally {
    gone.removeEventListener('abort', hangUp);
    outside.close();
    await Promise.all([inside.closed, outside.closed]);
  }
}

/** The codes of a turn that could not read or write the store. */
const isStoreFailure = (error: unknown): boolean =>
  /^(?:unavailable|unknown-outcome|vat-halted|error)$/.test(String((error as { readonly code?: unknown }).code));

/** The error codes of a grant that has ended. */
const endCodes: ReadonlySet<unknown> = new Set(['revoked', 'expired', 'exhausted']);

const resolves = (face: Far<SessionFace>, url: string): Promise<boolean> =>
  E(face)
    .resolve(url)
    .then(
      () => true,
      () => false,
    );

/** Returns the value if JSON can carry it. Errors: `invalid`. */
function toJson(value: unknown, depth = 0): unknown {
  const refuse = (): never => {
    throw new CapError('invalid', 'JSON cannot represent the result: call this object over CapTP');
  };
  if (value === undefined && depth === 0) return null;
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : refuse();
  if (typeof value !== 'object' || isReference(value) || depth > 64) return refuse();
  if (Array.isArray(value)) return value.map((item) => toJson(item, depth + 1));
  if (Object.getPrototypeOf(value) !== Object.prototype) return refuse();
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, toJson(item, depth + 1)]));
}
