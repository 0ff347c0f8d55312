/**
 * `E` for a guest. Each call remembers the line that made it.
 *
 * The error of a rejected call is made where the frame is read, so its own stack does not lead to the
 * program.
 */
import { E, isReference } from '@hob/vat/peer';

type Sent = Record<string, (...args: unknown[]) => unknown> & ((...args: unknown[]) => unknown);

interface Site {
  readonly stack?: string;
}
const sites = new WeakMap<object, Site>();

/** The stack of the call that rejected with this error. */
export const siteOf = (error: object): string | undefined => sites.get(error)?.stack;

function noted(promise: unknown, called: (...args: never[]) => unknown): unknown {
  const site: Site = {};
  Error.captureStackTrace(site, called);
  (promise as Promise<unknown>).then(undefined, (error: unknown) => {
    if (typeof error === 'object' && error !== null && !sites.has(error)) sites.set(error, site);
  });
  return promise;
}

const callable = Object.freeze(() => {});

function eventual(x: unknown): unknown {
  if (!isReference(x) && !(x instanceof Promise))
    throw new TypeError(
      `E was given ${x === null ? 'null' : typeof x}: give it a cap or a promise of one, as in E(files).readText('a')`,
    );
  const sent = E(x as object) as unknown as Sent;
  return new Proxy(callable, {
    get(_target, method) {
      const send = sent[method as string];
      if (typeof send !== 'function') return undefined;
      const call = (...args: unknown[]): unknown => noted(send(...args), call);
      return call;
    },
    apply: (_target, _self, args: unknown[]) => noted(sent(...args), eventual),
    set: () => false,
  });
}

export const guestE: object = Object.assign(eventual, {
  sendOnly: (x: unknown): unknown => E.sendOnly(x as object),
});
