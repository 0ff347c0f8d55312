/**
 * The types a caller of `@hob/vat` follows: near and far, behaviours, portraits, messages.
 *
 * They hold no code. The brands exist only for the compiler, so that a far reference has no methods to call by mistake
 * and a become token is no answer.
 */
declare const becomeBrand: unique symbol;
declare const portraitBrand: unique symbol;
declare const farBrand: unique symbol;

// `never[]` is what makes every function type assignable to it.
type Fn = (...args: never[]) => unknown;

/** What a method returns to change its actor. Counts only when returned by the method that was given this `bcom`. */
export interface Become<R> {
  readonly [becomeBrand]: R;
}

/** A definition with its arguments: what is spawned, become and stored. Checked and frozen when it is made. */
export interface Portrait<T> {
  readonly [portraitBrand]: T;
}

/** Methods, or one function for an actor that is called without a method name. */
export type Behaviour<T> = T extends (...a: infer A) => infer R
  ? (...a: A) => R | Become<R>
  : { readonly [K in keyof T]: T[K] extends (...a: infer A) => infer R ? (...a: A) => R | Become<R> : never };

/** Makes become tokens for one actor. */
export interface Bcom<T> {
  (next: Portrait<T>): Become<void>;
  <const R>(next: Portrait<T>, value: R): Become<R>;
  /** Commits the next state and answers with a break: a wrong PIN costs a try. */
  broken(next: Portrait<T>, error: Error): Become<never>;
  /** The actor itself, for handing out or for `E.to`. */
  readonly self: T;
}

export interface Definition<T, A extends readonly unknown[]> {
  (...args: A): Portrait<T>;
  readonly label: string;
}

export type AnyDefinition = { (...args: never): Portrait<unknown>; readonly label: string };

export interface DefineOptions<A> {
  /** Version of the arguments' shape; 0 where none is given. */
  readonly version?: number;
  /** From stored arguments of an older version to this one's. */
  readonly upgrade?: Readonly<Record<number, (...old: never[]) => A>>;
  /** Checks stored arguments at restore: a store is input from outside. */
  readonly shape?: (args: readonly unknown[]) => boolean;
  /** Earlier labels of this definition. */
  readonly formerly?: readonly string[];
}

/** Outside a turn nothing is near: opaque, only `E` opens it. */
export interface Far<T> {
  readonly [farBrand]: T;
}

type HasMethods<R> = Extract<R[keyof R], Fn> extends never ? false : true;

/** How a value of a turn looks outside it: objects with methods are far, data stays data. */
export type Faraway<R> = R extends string | number | bigint | boolean | symbol | null | undefined | Uint8Array
  ? R
  : R extends Fn
    ? Far<R>
    : R extends Far<unknown>
      ? R
      : R extends PromiseLike<infer P>
        ? Promise<Faraway<Awaited<P>>>
        : R extends readonly unknown[]
          ? { readonly [I in keyof R]: Faraway<R[I]> }
          : R extends object
            ? HasMethods<R> extends true
              ? Far<R>
              : { readonly [K in keyof R]: Faraway<R[K]> }
            : R;

export type Ref<T> = T | Far<T> | PromiseLike<T | Far<T>>;

type Arg<X> = X extends Fn ? X : X | Ref<X>;

/** What `E(x)` gives: every method of `x`, answered by a promise. */
export type Sent<T> = (T extends (...a: infer A) => infer R
  ? (...a: { [I in keyof A]: Arg<A[I]> }) => Promise<Faraway<Awaited<R>>>
  : unknown) & {
  readonly [K in keyof T as T[K] extends Fn ? K : never]: T[K] extends (...a: infer A) => infer R
    ? (...a: { [I in keyof A]: Arg<A[I]> }) => Promise<Faraway<Awaited<R>>>
    : never;
};

export type Outcome<T = unknown> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly code: string; readonly message: string };

/** A message that is delivered in a later turn. */
export interface Eventual {
  <T>(x: Far<T> | PromiseLike<Far<T>>): Sent<T>;
  <T extends object>(x: PromiseLike<T>): Sent<T>;
  <T extends object>(x: T): Sent<T>;
  /** The same without an answer: errors are seen only by the turn's observer. */
  sendOnly<T extends object>(x: Ref<T>): Sent<T>;
  /** Runs `ok` or `broken` as a turn of its own once `x` is settled. */
  when<T, U>(x: T | PromiseLike<T>, ok: (value: T) => U, broken?: (error: Error) => U): Promise<U>;
  /** The durable way to wait: arrives later as `self[method](outcome, ...data)`. */
  to<S extends object>(
    self: S,
    method: keyof S & string,
    ...data: readonly unknown[]
  ): { on(promise: PromiseLike<unknown>): void };
}

/** What an observer is told of each turn. `code` is `ok`, or that of the error which undid it. */
export interface TurnRecord {
  readonly seq: number;
  readonly vat: string;
  /** `seq` of the turn that sent the message; absent where the host did. */
  readonly cause?: number;
  /** Label of the sender; absent where the host did. */
  readonly from?: string;
  readonly to: string;
  readonly method: string;
  readonly code: 'ok' | (string & {});
  readonly ms: number;
}

/** A budget that deliveries are charged to: one per session. */
export interface Meter {
  readonly name: string;
  used(): Readonly<Record<string, number>>;
  limits(): Readonly<Record<string, number>>;
}

/** A transactional keyed collection, one store row per key, passed by reference; ordered by UTF-8 bytes. */
export interface Table<V> {
  get(key: string): V | undefined;
  set(key: string, value: V): void;
  delete(key: string): boolean;
  has(key: string): boolean;
  entries(from?: string, limit?: number): Iterable<readonly [string, V]>;
  readonly size: number;
}
