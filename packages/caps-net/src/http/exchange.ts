/**
 * One request of a holder, with the redirects that follow, until the head of its answer.
 *
 * Promise: after the caller's signal fires, nothing more is sent and the connection is closed. A request that changes
 * something is sent once. If it has begun to leave and no head of an answer came, the error is `unknown-outcome`.
 */
import { CapError, type Clock } from '@hob/vat';
import { refusal } from '../base/errors.ts';
import { blankBytes } from '../secret/blank-stream.ts';
import { AnswerBody } from './body.ts';
import { ACCEPTED, inflater } from './drivers/inflate.ts';
import type { Flow, HttpPool, Outgoing, Sink } from './drivers/pool.ts';
import { type Grant, SAFE } from './grant.ts';
import { firstOf, type Headers, shownHeaders } from './headers.ts';
import type { HttpAnswer } from './http-cap.ts';
import type { Segments, Target } from './path.ts';
import { followed, isRedirect, madeBy, methodAfter } from './redirect.ts';

export interface World {
  readonly grant: Grant;
  readonly pool: HttpPool;
  readonly clock: Clock;
}

/** The paths and methods that one cap may use. Its attenuated caps have fewer. */
export interface Scope {
  readonly prefix: Segments;
  readonly methods: readonly string[];
}

export interface Wanted {
  readonly method: string;
  readonly target: Target;
  readonly headers: Headers;
  readonly body: Uint8Array | undefined;
}

/** The answer, and when the connection is free. */
export interface Exchanged {
  readonly answer: HttpAnswer;
  readonly body: AnswerBody;
}

const LONGEST_DRAIN = 64 * 1024;

export async function exchange(world: World, scope: Scope, wanted: Wanted, signal: AbortSignal): Promise<Exchanged> {
  const { grant, clock } = world;
  const ending = new AbortController();
  const end = (): void => ending.abort(signal.reason);
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  const stop = clock.after(grant.limits.totalMs, () => ending.abort(refusal('E_TIMEOUT')));
  const over = (): void => {
    signal.removeEventListener('abort', end);
    stop();
  };
  try {
    const exchanged = await hops(world, scope, wanted, ending.signal);
    void exchanged.body.over.then(over);
    return exchanged;
  } catch (error) {
    over();
    throw error;
  }
}

async function hops(world: World, scope: Scope, wanted: Wanted, signal: AbortSignal): Promise<Exchanged> {
  const { grant } = world;
  let now = wanted;
  for (let left = grant.limits.redirects; ; left -= 1) {
    const { status, headers, body } = await hop(world, now, signal);
    const location = firstOf(headers, 'location');
    if (!isRedirect(status) || location === undefined) return shown(world, scope, now, { status, headers, body });
    drain(body);
    if (left === 0) throw refusal('E_REDIRECT', `it redirects more than ${grant.limits.redirects} times`);
    const method = methodAfter(status, now.method);
    if (!scope.methods.includes(method)) throw refusal('E_REDIRECT', `${method} is not granted`);
    const target = followed(grant, scope.prefix, now.target.text, location);
    now = { ...now, method, target, ...(method === now.method ? {} : { body: undefined, headers: withoutContent(now.headers) }) }; // biome-ignore format: one line
  }
}

const withoutContent = (headers: Headers): Headers => headers.filter(([name]) => !name.startsWith('content-'));

function shown({ grant }: World, { prefix }: Scope, wanted: Wanted, { status, headers, body }: Hop): Exchanged {
  const { target } = wanted;
  const table = grant.injected?.secret.table;
  const blank = (text: string): string =>
    table === undefined ? text : blankBytes(table, Buffer.from(text, 'latin1')).toString();
  const made = status === 201 ? madeBy(grant, prefix, wanted, firstOf(headers, 'location')) : undefined;
  // A path with a secret in it would be another one when it is shown.
  const path = { path: blank(target.text), ...(made === undefined || blank(made) !== made ? {} : { made }) };
  const answer = { status, headers: shownHeaders(headers, blank), ...path, body: body.source };
  return { answer: Object.freeze(answer), body };
}

/** The rest of a redirect, so that its connection can be used again. */
function drain(body: AnswerBody): void {
  void (async () => {
    for (let bytes = 0; bytes < LONGEST_DRAIN; ) {
      const part = await body.source.next();
      if (part === undefined) return;
      bytes += part.length;
    }
    await body.source.return();
  })().catch(() => {});
}

interface Hop {
  readonly status: number;
  readonly headers: Headers;
  readonly body: AnswerBody;
}

function hop({ grant, pool }: World, wanted: Wanted, signal: AbortSignal): Promise<Hop> {
  const { promise, resolve, reject } = Promise.withResolvers<Hop>();
  let abort: (reason: Error) => void = () => {};
  const secret = grant.injected?.secret;
  const body = new AnswerBody(grant.limits.answerBytes, secret && (() => secret.table), (reason) => abort(reason));
  let started = false;
  let decoded: Pick<Sink, 'data' | 'end' | 'failed'> = {
    data: (chunk) => body.push(chunk),
    end: () => body.finish(),
    failed: (error) => body.fail(outward(error)),
  };
  let stop = (): void => {};
  const fail = (error: unknown): void => {
    const known = outward(error);
    reject(
      started && !SAFE.includes(wanted.method) && known.code !== 'E_ENCODING' ? refusal('unknown-outcome') : known,
    );
    decoded.failed(known);
  };
  const cut = (): void => {
    fail(signal.reason);
    body.cancel(signal.reason as Error);
    stop();
    abort(signal.reason as Error);
  };
  void body.over.then(() => signal.removeEventListener('abort', cut));
  const sink: Sink = {
    started: () => {
      started = true;
    },
    head: (status, headers, flow) => {
      const encoding = wanted.method === 'HEAD' || status === 204 || status === 304 ? '' : encodingOf(headers);
      const inflated = encoding === '' ? undefined : inflater(encoding, flow, decoded);
      if (encoding !== '' && inflated === undefined) {
        const error = refusal('E_ENCODING');
        fail(error);
        return abort(error);
      }
      if (inflated !== undefined) [decoded, stop] = [inflated.sink, inflated.stop];
      begin(body, inflated?.flow ?? flow);
      resolve({ status, headers, body });
    },
    data: (chunk) => decoded.data(chunk),
    end: () => decoded.end(),
    failed: fail,
  };
  const request = outgoing(grant, wanted);
  if (signal.aborted) {
    reject(signal.reason);
    return promise;
  }
  signal.addEventListener('abort', cut, { once: true });
  abort = pool.send(request, sink);
  return promise;
}

const begin = (body: AnswerBody, flow: Flow): void => body.begin(flow);

const encodingOf = (headers: Headers): string => {
  const encoding = (firstOf(headers, 'content-encoding') ?? '').trim().toLowerCase();
  return encoding === 'identity' ? '' : encoding;
};

/** Puts the headers of the host to those of the holder. Errors: `E_SECRET`. */
function outgoing({ injected, fixed }: Grant, { method, target, headers, body }: Wanted): Outgoing {
  const own: Headers = [['accept-encoding', ACCEPTED], ...fixed];
  const value = injected?.write(injected.secret.use());
  const secret: Headers = injected?.header === undefined || value === undefined ? [] : [[injected.header, value]];
  if (secret.some(([, text]) => !/^[\x20-\x7e]+$/.test(text)))
    throw refusal('E_SECRET', 'it has characters that a header cannot carry');
  const set = new Set([...own, ...secret].map(([name]) => name));
  return {
    method,
    path: injected?.query === undefined ? target.text : withQuery(target.text, injected.query, value ?? ''),
    headers: [
      ...headers.filter(([name]) => !set.has(name)),
      ...own.filter(([name]) => name !== injected?.header),
      ...secret,
    ],
    body,
  };
}

/** A parameter of that name that came with the path, or with a redirect, gives way. */
function withQuery(path: string, name: string, value: string): string {
  const [before = '', query = ''] = path.split('?', 2);
  const others = query.split('&').filter((part) => part !== '' && decoded(part.split('=')[0] ?? '') !== name);
  return `${before}?${[...others, `${name}=${value}`].join('&')}`;
}

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** An error of undici or zlib tells of the machine: a holder gets ours. */
function outward(error: unknown): CapError {
  if (error instanceof CapError) return error;
  const { code: given, name } = error as { readonly code?: unknown; readonly name?: unknown };
  const code = String(given ?? name);
  if (/TIMEOUT/.test(code)) return refusal('E_TIMEOUT');
  if (/^(?:Z_|ERR_.*(?:BROTLI|ZSTD)|ERR__ERROR|ZSTD_)/.test(code)) return refusal('E_ENCODING', 'it does not decode');
  if (/^(?:HPE_|HTTPParserError|UND_ERR_(?:HEADERS_OVERFLOW|RES_|INVALID|REQ_))/.test(code))
    return refusal('E_PROTOCOL');
  return refusal('E_UNREACHABLE', 'the connection ended');
}
