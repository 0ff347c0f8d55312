/** The connections of one http cap, kept by undici. It decides nothing: path, headers and target are given. */
import type { Pool } from 'undici';
import type { Resolver } from '../../drivers/resolve.ts';
import type { Grant } from '../grant.ts';
import type { Headers } from '../headers.ts';
import { connectorOf } from './connect.ts';

/** How the reader holds the stream back. */
export interface Flow {
  pause(): void;
  resume(): void;
}

/** Told about one exchange. After `failed` or `end` nothing more comes. */
export interface Sink {
  /** The request begins to leave: from now on it may have its effect. */
  started(): void;
  head(status: number, headers: Headers, flow: Flow): void;
  data(chunk: Buffer): void;
  end(): void;
  failed(error: unknown): void;
}

export interface Outgoing {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: Uint8Array | undefined;
}

export interface HttpPool {
  /** Returns the way to abort it. */
  send(request: Outgoing, sink: Sink): (reason: Error) => void;
  close(): Promise<void>;
}

/** A connection is made anew after this time, so that a name that moved is followed. */
const LONGEST_LIFE_MS = 300_000;

export function openPool(grant: Grant, resolver: Resolver): HttpPool {
  let pool: Promise<Pool> | undefined;
  /** The library is loaded with the first request: loading takes 70 ms, and most hosts make no request. */
  const opened = async (): Promise<Pool> => {
    const { Pool } = await import('undici');
    return new Pool(grant.origin.text, {
      connect: connectorOf(grant, resolver),
      connections: 64,
      clientTtl: LONGEST_LIFE_MS,
      pipelining: 1,
      allowH2: false,
      headersTimeout: grant.limits.idleMs,
      bodyTimeout: grant.limits.idleMs,
      maxHeaderSize: 32 * 1024,
    });
  };
  const send = ({ method, path, headers, body }: Outgoing, sink: Sink): ((reason: Error) => void) => {
    let aborted: Error | undefined;
    let abort: ((reason: Error) => void) | undefined;
    const dispatch = (open: Pool): void => {
      if (aborted !== undefined) return sink.failed(aborted);
      open.dispatch(
        { method, path, headers: headers.flat(), body: body === undefined ? null : Buffer.from(body) },
        {
          onRequestStart: (controller) => {
            abort = (reason) => controller.abort(reason);
            if (aborted !== undefined) return controller.abort(aborted);
            sink.started();
          },
          onResponseStart: (controller, status, parsed) => {
            if (status >= 200) sink.head(status, Object.entries(parsed).flatMap(flat), controller);
          },
          onResponseData: (_controller, chunk) => sink.data(chunk),
          onResponseEnd: () => sink.end(),
          onResponseError: (_controller, error) => sink.failed(error),
        },
      );
    };
    pool ??= opened();
    pool.then(dispatch).catch((error: unknown) => sink.failed(error));
    return (reason) => {
      aborted = reason;
      abort?.(reason);
    };
  };
  return Object.freeze({ send, close: async () => await (await pool)?.destroy() });
}

const flat = ([name, value]: [string, string | string[] | undefined]): (readonly [string, string])[] =>
  value === undefined ? [] : [value].flat().map((one) => [name.toLowerCase(), one] as const);
