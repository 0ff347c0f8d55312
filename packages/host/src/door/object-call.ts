/**
 * A call on an object by its URL: `POST /object/<id>` with a session's secret, `{"method", "args"}` -> `{"value"}` or `{"code", "message"}`.
 *
 * Promise: it is a call of that session like any other: its meter pays, its grants decide. Who does not hold the object gets the same bytes
 * whether there is one or not.
 */
import { CapError, captp, E, type Far, isReference, type Meter, memoryPair } from '@hob/vat';
import type { SessionFace } from '../sessions/sessions.ts';
import { storeFailed } from './entry.ts';

export interface Asked {
  readonly method: string;
  readonly args: readonly unknown[];
}
export interface Said {
  readonly status: number;
  readonly body: string;
}

const said = (status: number, value: unknown): Said => Object.freeze({ status, body: JSON.stringify(value) });

/** For an id that is foreign, dead or chance, and for every request that is no POST. */
export const noObject: Said = said(404, { code: 'no-such-object', message: 'this names no object here' });
/** Without a secret that is known, whatever the id. */
export const strangersCall: Said = said(401, { code: 'denied', message: 'this secret opens nothing' });
/** For every request that needs the store while the store fails, whatever the secret and the id. */
export const storeFails: Said = said(503, { code: 'unavailable', message: storeFailed });
const noCall: Said = said(400, {
  code: 'invalid',
  message: 'a call is {"method": "name", "args": [...]}, of at most 256 KiB',
});

/** Undefined where it is none. */
export function readCall(body: string): Asked | undefined {
  try {
    const { method, args = [] } = JSON.parse(body) as { readonly method?: unknown; readonly args?: unknown };
    return typeof method === 'string' && Array.isArray(args) ? { method, args } : undefined;
  } catch {
    return undefined;
  }
}

/** Who calls, what it bootstraps as, and who pays. */
export async function callObject(
  { face, meter }: { readonly face: Far<object>; readonly meter: Meter },
  url: string,
  call: Asked | undefined,
  gone: AbortSignal,
): Promise<Said> {
  if (call === undefined) return noCall;
  // Over a wire of its own: budgets, names of methods and texts of errors are as on any other.
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
      return isOfTheStore(error) ? storeFails : noObject;
    }
    const act = (E(cap) as Readonly<Record<string, ((...args: readonly unknown[]) => Promise<unknown>) | undefined>>)[
      call.method
    ];
    if (typeof act !== 'function') throw new CapError('no-such-method', 'that is no name of a method');
    return said(200, { value: plain(await act(...call.args)) });
  } catch (error) {
    const { code, message } = error as CapError;
    // It may have ended since the id was looked up.
    if (endings.has(code) && !(await resolves(outside.bootstrap, url))) return noObject;
    return typeof code === 'string' && error instanceof CapError
      ? said(200, { code, message })
      : said(200, { code: 'error', message: 'the call failed' });
  } finally {
    gone.removeEventListener('abort', hangUp);
    outside.close();
    await Promise.all([inside.closed, outside.closed]);
  }
}

/** The codes that a turn breaks with when the store can be neither read nor written. */
const isOfTheStore = (error: unknown): boolean =>
  /^(?:unavailable|unknown-outcome|vat-halted|error)$/.test(String((error as { readonly code?: unknown }).code));

/** What a grant ends with. */
const endings: ReadonlySet<unknown> = new Set(['revoked', 'expired', 'exhausted']);

const resolves = (face: Far<SessionFace>, url: string): Promise<boolean> =>
  E(face)
    .resolve(url)
    .then(
      () => true,
      () => false,
    );

/** What JSON can say; nothing is lost on the way without a word. */
function plain(value: unknown, depth = 0): unknown {
  const refuse = (): never => {
    throw new CapError('invalid', 'the answer is more than JSON can say: call this object over CapTP');
  };
  if (value === undefined && depth === 0) return null;
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : refuse();
  if (typeof value !== 'object' || isReference(value) || depth > 64) return refuse();
  if (Array.isArray(value)) return value.map((item) => plain(item, depth + 1));
  if (Object.getPrototypeOf(value) !== Object.prototype) return refuse();
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item, depth + 1)]));
}
