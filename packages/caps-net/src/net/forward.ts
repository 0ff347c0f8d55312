/**
 * A forward cap: requests of sandboxed programs to one prefix, which the host sends.
 *
 * Promise: a program asks the proxy of its job in plain HTTP, on the loopback that only this job has. The host sends the
 * request through an http cap: so origin, prefix, methods, headers, redirects and addresses are as there, the host ends
 * TLS, and a secret or a client certificate is put in here. Neither ever enters the job, and answers that echo the secret
 * are blanked. A program's own `authorization` is dropped. Closing the cap ends its requests.
 */
import { type Passage, withPassage } from '@hob/caps-shell/door';
import type { CapError } from '@hob/vat';
import { withEffects, withPlace } from '@hob/vat/forwarder';
import { takeOrigin } from '../address/origin.ts';
import { takeList, takeRecord } from '../base/arguments.ts';
import { refusal } from '../base/errors.ts';
import { type Resolver, systemResolver } from '../drivers/resolve.ts';
import { openHttpCap } from '../http/cap.ts';
import type { HttpCap, HttpOptions } from '../http/http-cap.ts';
import { prefixText, resolvePath, takePrefix } from '../http/path.ts';
import { BodyRoom } from './body-room.ts';
import { type Asked, serveOne, type Told } from './drivers/one-request.ts';
import { takeLimits } from './limits.ts';
import type { ForwardCap } from './net-cap.ts';

/** Programs send these, and servers of git look at them. */
const OF_PROGRAMS = ['user-agent', 'git-protocol', 'pragma'];
const MiB = 2 ** 20;
/** A push is one body. Answers of a program are as long as the bytes of its job allow. */
const LIMITS = { bodyBytes: 64 * MiB, answerBytes: 1024 * MiB, totalMs: 3_600_000, idleMs: 300_000, concurrent: 64 };

/** A forward cap. `await using` closes it. Errors: those of `makeHttpCap`. */
export function makeForwardCap(options: HttpOptions): ForwardCap & AsyncDisposable {
  return openForwardCap(options, systemResolver);
}

/** For tests, which pass their own names. */
export function openForwardCap(options: HttpOptions, resolver: Resolver): ForwardCap & AsyncDisposable {
  const { headers = [], limits, ...rest } = options;
  const listed = [...new Set([...takeList(headers, 'headers', 64), ...OF_PROGRAMS])] as readonly string[];
  const most = { ...LIMITS, ...takeRecord(limits, 'limits', Object.keys(limits ?? {})) };
  const http = openHttpCap({ ...rest, headers: listed, limits: most }, resolver);
  const origin = takeOrigin(options.origin, 'origin');
  const prefix = takePrefix(options.prefix ?? '/');
  const path = prefixText(prefix).replace(/\/$/, '');
  const from = `${origin.text}${path}`;
  const host = origin.host.address?.family === 6 ? `[${origin.host.text}]` : origin.host.text;
  const cap: ForwardCap & AsyncDisposable = Object.freeze({
    describe: () => http.describe(),
    [Symbol.asyncDispose]: async () => await http[Symbol.asyncDispose](),
  });
  withPlace(cap, () => ({ kind: 'address', name: from }));
  withEffects(cap, () => ({ describe: { class: 'A' } }));
  const wide = takeLimits(undefined);
  const room = new BodyRoom(most.bodyBytes);
  const passage: Passage = {
    name: from,
    at: { host: origin.host.text, port: origin.port },
    limits: wide,
    judge: undefined,
    connect: () => Promise.reject(refusal('E_UNREACHABLE')),
    forward: {
      from,
      inside: `http://${host}:${origin.port}${path}`,
      takes: (asked) => lies(prefix, asked),
      serve: (client, signal, count) =>
        serveOne(client, {
          most: most.bodyBytes,
          room: room.body(),
          idleMs: wide.idleMs,
          count,
          answer: (asked) => answer(http, asked, signal),
        }),
    },
  };
  return withPassage(cap, passage);
}

function lies(prefix: readonly string[], path: string): boolean {
  try {
    return resolvePath(prefix, path) !== undefined;
  } catch {
    return false;
  }
}

async function answer(http: HttpCap, { method, target, headers, body }: Asked, signal: AbortSignal): Promise<Told> {
  const { headers: allowed } = await http.describe();
  const sent = Object.fromEntries(Object.entries(headers).filter(([name]) => allowed.includes(name)));
  try {
    return await http.fetch(target, { method, headers: sent, ...(body.length === 0 ? {} : { body }), signal });
  } catch (error) {
    const { code, message } = error as CapError;
    return { status: STATUS[code] ?? 502, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: `Hob: ${message}.\n` }; // biome-ignore format: one line
  }
}

/** Nothing was sent. Every other error is one of the way to the server. */
const STATUS: Readonly<Record<string, number>> = {
  E_PATH: 403,
  E_METHOD: 405,
  E_HEADER: 400,
  E_ADDRESS: 403,
  invalid: 400,
  limit: 429,
};
