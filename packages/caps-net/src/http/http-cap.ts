/** The interface of an http cap, and its options. */
import type { ByteSource } from '@hob/vat';
import type { Secret } from '../secret/secret.ts';

/** One origin and the paths beneath one prefix, with some methods. */
export interface HttpCap {
  /**
   * Sends one request. A path that begins with a slash counts from the root of the origin, another from the prefix.
   *
   * Errors: `E_PATH`, `E_METHOD`, `E_HEADER`, `invalid`, `limit`: nothing was sent. `E_ADDRESS`, `E_UNREACHABLE`, `E_TLS`:
   * no connection. `E_REDIRECT`, `E_ENCODING`, `E_PROTOCOL`: the server answered so. `E_TIMEOUT` for GET and HEAD;
   * `unknown-outcome` for every other method once the request has begun to leave.
   */
  fetch(path: string, options?: FetchOptions): Promise<HttpAnswer>;
  /** Like `fetch`, and reads the whole answer as UTF-8 text, up to 448 KiB or `limits.answerBytes`. */
  fetchText(path: string, options?: FetchOptions): Promise<HttpText>;
  /** Like `fetch` with GET: it has no body, and is a method of its own so that a grant can ask about changes only. */
  get(path: string, options?: GetOptions): Promise<HttpAnswer>;
  /** Like `fetchText` with GET. */
  getText(path: string, options?: GetOptions): Promise<HttpText>;
  /** The same with a longer prefix. It lasts as long as this one. */
  subpath(path: string): Promise<HttpCap>;
  /** The same with GET and HEAD only. */
  readOnly(): Promise<HttpCap>;
  /** The limits of what may be sent. It names no secret and no address. */
  describe(): Promise<HttpDescription>;
}

/** The options of a GET. */
export interface GetOptions {
  readonly headers?: Readonly<Record<string, string>>;
}

/** The options of a request. */
export interface FetchOptions extends GetOptions {
  /** Default GET. */
  readonly method?: string;
  /** Text is sent as UTF-8. */
  readonly body?: string | Uint8Array;
  /** Ends the request and its answer. For the program that made the cap: a call under a grant ends with its grant. */
  readonly signal?: AbortSignal;
}

interface AnswerHead {
  readonly status: number;
  /** Names in lower case. Several values of a name are joined by a comma. */
  readonly headers: Readonly<Record<string, string>>;
  /** Where the answer came from, after redirects. */
  readonly path: string;
  /**
   * The path of what a POST made: the server answered 201, and its `location` is a place of this cap. Under a grant with
   * `own: true` a call of exactly this path goes on without a question.
   */
  readonly made?: string;
}

/** An answer whose body is a stream. */
export interface HttpAnswer extends AnswerHead {
  /** Decoded. Read it to its end, or call `return`: it holds a connection. Over a wire it is a reference. */
  readonly body: ByteSource;
}

/** An answer that was read as text. */
export interface HttpText extends AnswerHead {
  readonly text: string;
  /** Whether the answer was longer. */
  readonly truncated: boolean;
}

/** The limits of an http cap. */
export interface HttpDescription {
  readonly origin: string;
  readonly prefix: string;
  readonly methods: readonly string[];
  readonly headers: readonly string[];
}

/** Where a secret goes. */
export type Injection =
  | { readonly secret: Secret; readonly header: string; readonly format?: 'bearer' | 'raw' }
  | { readonly secret: Secret; readonly format: 'basic'; readonly user: string }
  | { readonly secret: Secret; readonly query: string };

/** The limits of an http cap, in bytes, milliseconds and numbers. */
export interface HttpLimits {
  /** The bytes of a request body. Default 1 MiB. */
  readonly bodyBytes: number;
  /** The bytes of an answer after decoding. Default 64 MiB. */
  readonly answerBytes: number;
  /** Until the connection stands. Default 10 s. */
  readonly connectMs: number;
  /** Until the head of the answer is there, and between two parts of the body. Default 30 s. */
  readonly idleMs: number;
  /** From the call to the end of the answer. Default 120 s. */
  readonly totalMs: number;
  /** Redirects that are followed. Default 5. */
  readonly redirects: number;
  /** Answers that one holder may have open. Default 8. */
  readonly concurrent: number;
}

/** A proxy that opens a tunnel (CONNECT). */
export interface HttpProxy {
  /** `http://proxy.example:3128`. Its address is not judged: the granter names it. */
  readonly origin: string;
  /** The header `proxy-authorization`. */
  readonly authorization?: Secret;
  /**
   * `here` (default): the name is resolved and judged here, and the proxy is told the address. `proxy`: the proxy is told
   * the name. Then this package judges no address.
   */
  readonly names?: 'here' | 'proxy';
}

/** The options of `makeHttpCap`: what is granted. */
export interface HttpOptions {
  /** `https://api.example.com`, as a URL parser writes it: no path, no user. */
  readonly origin: string;
  /** Default `/`. */
  readonly prefix?: string;
  /** Default GET and HEAD. */
  readonly methods?: readonly string[];
  /** Headers that a holder may send beside the usual ones. */
  readonly headers?: readonly string[];
  /** Headers that are sent with each request. */
  readonly set?: Readonly<Record<string, string>>;
  readonly inject?: Injection;
  /** Addresses and ranges that are reached although they are not public: `127.0.0.1`, `10.1.0.0/16`. */
  readonly addresses?: readonly string[];
  readonly limits?: Partial<HttpLimits>;
  readonly proxy?: HttpProxy;
  /** Certificates (PEM) that are trusted instead of those that Node knows. A secret is read for each connection. */
  readonly ca?: string | Secret;
  /** A certificate of the client (PEM), with its private key. Secrets are read for each connection. */
  readonly client?: { readonly cert: string | Secret; readonly key: Secret };
}
