/** The two sides of the wrapper: each is a peer that sends and takes messages of JSON-RPC. */

/** Bytes to and from a peer. */
export interface Pipe {
  readonly input: ReadableStream<Uint8Array>;
  readonly output: WritableStream<Uint8Array>;
}

/** A peer, as messages are sent to it. */
export interface Peer {
  /** Errors: `Refusal`, also when the peer has gone or the signal has fired. */
  request(method: string, params: unknown, signal?: AbortSignal): Promise<unknown>;
  notify(method: string, params: unknown): void;
  readonly closed: Promise<void>;
  close(): void;
}

/** The messages of a peer. */
export interface Handlers {
  /** Errors: `Refusal`. Any other error reaches the peer without its text. */
  request(method: string, params: unknown, signal: AbortSignal): Promise<unknown>;
  notified(method: string, params: unknown): void;
}

/** An error of JSON-RPC, whose text goes to the peer. */
export class Refusal extends Error {
  readonly code: number;
  readonly data: unknown;
  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

export const isRefusal = (error: unknown): error is Refusal => error instanceof Refusal;

/** The codes of JSON-RPC and ACP that are used. */
export const notFound = (what: string): Refusal => new Refusal(-32002, `Resource not found: ${what}`);
export const noMethod = (method: string): Refusal => new Refusal(-32601, `Method not found: ${method.slice(0, 100)}`);
export const wrongParams = (why: string): Refusal => new Refusal(-32602, `Invalid params: ${why}`);
export const gone = (): Refusal =>
  new Refusal(-32000, 'the agent of this session has ended: load the session, or begin another');

/** Data of a message. */
export type Fields = Readonly<Record<string, unknown>>;

/** The params of a message. Errors: `Refusal`. */
export function fieldsOf(params: unknown): Fields {
  if (typeof params !== 'object' || params === null || Array.isArray(params)) throw wrongParams('an object is wanted');
  return params as Fields;
}

/** Errors: `Refusal`. */
export function textIn(fields: Fields, name: string): string {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (typeof value !== 'string') throw wrongParams(`${name} is a text`);
  return value;
}

/** A whole number from 0, if it is there. Errors: `Refusal`. */
export function countIn(fields: Fields, name: string): number | undefined {
  const value = Object.hasOwn(fields, name) ? (fields[name] ?? undefined) : undefined;
  if (value === undefined) return undefined;
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
    throw wrongParams(`${name} is a whole number`);
  return value;
}
