/**
 * The types that callers of `@hob/vat` use: near and far references, behaviours, portraits, messages.
 *
 * There is no code here. The brands exist only for the compiler: a far reference has no methods that could be
 * called by mistake, and a become token cannot be used as a value.
 */
declare const becomeBrand: unique symbol;
declare const portraitBrand: unique symbol;
declare const farBrand: unique symbol;
declare const answersBrand: unique symbol;

// `never[]` makes every function type assignable to this one.
type Fn = (...args: never[]) => unknown;

/**
 * A method returns this to change its actor. It has an effect only if the method that was given this `bcom`
 * returns it.
 */
export interface Become<R> {
  readonly [becomeBrand]: R;
}

/**
 * A definition with its arguments: the thing that is spawned, become and stored. It is checked and frozen
 * when made.
 */
export interface Portrait<T> {
  readonly [portraitBrand]: T;
}

/** An object of methods, or one function for an actor that is called without a method name. */
export type Behaviour<T> = T extends (...a: infer A) => infer R
  ? (...a: A) => R | Become<R>
  : { readonly [K in keyof T]: T[K] extends (...a: infer A) => infer R ? (...a: A) => R | Become<R> : never };

/** Makes become tokens for one actor. */
export interface Bcom<T> {
  (next: Portrait<T>): Become<void>;
  <const R>(next: Portrait<T>, value: R): Become<R>;
  /** Commits the next state and breaks the answer. Example: a wrong PIN uses up one try. */
  broken(next: Portrait<T>, error: Error): Become<never>;
  /** The actor itself, to hand out or to pass to `E.to`. */
  readonly self: T;
}

/** Makes portraits of one kind of actor. `label` names the kind in a store and in traces. */
export interface Definition<T, A extends readonly unknown[]> {
  (...args: A): Portrait<T>;
  readonly label: string;
}

/** A definition of whatever kind, as `openVats` takes them. */
export type AnyDefinition = { (...args: never): Portrait<unknown>; readonly label: string };

/** How stored actors of a definition are read back, also by later versions of it. */
export interface DefineOptions<A> {
  /** Version of the arguments' shape. Default: 0. */
  readonly version?: number;
  /** `upgrade[n]` converts stored arguments of version `n` to the current one, in one step. */
  readonly upgrade?: Readonly<Record<number, (...old: never[]) => A>>;
  /**
   * `migrations[n]` converts stored arguments of version `n - 1` to version `n`. They run one after another, so a
   * new version needs one more function and leaves the others as they are.
   */
  readonly migrations?: Readonly<Record<number, (...old: never[]) => readonly unknown[]>>;
  /** Checks stored arguments when a store is opened: a store is outside input. */
  readonly shape?: (args: readonly unknown[]) => boolean;
  /** Earlier labels of this definition. */
  readonly formerly?: readonly string[];
}

/** A reference outside its turn. It is opaque; only `E` can send messages to it. */
export interface Far<T> {
  readonly [farBrand]: T;
}

type HasMethods<R> = Extract<R[keyof R], Fn> extends never ? false : true;

/** The type of a turn's value outside the turn: objects with methods become far, data stays data. */
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

/** A value, a reference to it, or a promise for either: all that `E` accepts where a `T` is meant. */
export type Ref<T> = T | Far<T> | PromiseLike<T | Far<T>>;

type Arg<X> = X extends Fn ? X : X | Ref<X>;

/** The result of `E(x)`: every method of `x`, returning a promise. */
export type Sent<T> = (T extends (...a: infer A) => infer R
  ? (...a: { [I in keyof A]: Arg<A[I]> }) => Promise<Faraway<Awaited<R>>>
  : unknown) & {
  readonly [K in keyof T as T[K] extends Fn ? K : never]: T[K] extends (...a: infer A) => infer R
    ? (...a: { [I in keyof A]: Arg<A[I]> }) => Promise<Faraway<Awaited<R>>>
    : never;
} & (T extends Answers<infer S> ? S : unknown);

/**
 * For an interface with generic methods: what they are when they are sent. TypeScript cannot carry a type parameter
 * through `Sent` by itself. `interface Box extends Answers<{ get<T>(): Promise<Far<T>> }> { get<T>(): T }` lets a
 * caller write `E(box).get<Cup>()`.
 */
export interface Answers<S> {
  readonly [answersBrand]?: S;
}

/** How a promise was settled, as data that an actor can store. `E.to` delivers it. */
export type Outcome<T = unknown> =
  | { readonly ok: true; readonly value: T }
  | {
      readonly ok: false;
      readonly code: string;
      readonly message: string;
      /** The reason of the break, if it is data and no error. */
      readonly reason?: unknown;
    };

/** Sends messages that are delivered in later turns. */
export interface Eventual {
  <T>(x: Far<T> | PromiseLike<Far<T>>): Sent<T>;
  <T extends object>(x: PromiseLike<T>): Sent<T>;
  <T extends object>(x: T): Sent<T>;
  /** The same without a result. Only the turn observer sees errors. */
  sendOnly<T extends object>(x: Ref<T>): Sent<T>;
  /**
   * Runs `ok` or `broken` in a turn of its own once `x` is settled. Without a handler the value, or the break,
   * passes through. The promise may be ignored: its break ends no process.
   */
  when<T, U>(x: T | PromiseLike<T>, ok: (value: T) => U, broken?: (error: Error) => U): Promise<U>;
  when<T, U>(x: T | PromiseLike<T>, ok: undefined, broken: (error: Error) => U): Promise<T | U>;
  when<T>(x: T | PromiseLike<T>): Promise<T>;
  /** The durable way to wait. The result arrives later as a call `self[method](outcome, ...data)`. */
  to<S extends object>(
    self: S,
    method: keyof S & string,
    ...data: readonly unknown[]
  ): { on(promise: PromiseLike<unknown>): void };
}

/**
 * The record of a turn that an observer receives. `code` is `ok`, or the code of the error that rolled the
 * turn back.
 */
export interface TurnRecord {
  readonly seq: number;
  readonly vat: string;
  /** `seq` of the turn that sent the message; absent if the host sent it. */
  readonly cause?: number;
  /** Label of the sender; absent if the host sent it. */
  readonly from?: string;
  readonly to: string;
  readonly method: string;
  readonly code: 'ok' | (string & {});
  readonly ms: number;
}

/** A budget that deliveries are charged to. Each session has one. */
export interface Meter {
  readonly name: string;
  used(): Readonly<Record<string, number>>;
  limits(): Readonly<Record<string, number>>;
}

/**
 * A transactional keyed collection, ordered by UTF-8 bytes. Each key is one store row. Passed by reference.
 */
export interface Table<V> {
  get(key: string): V | undefined;
  set(key: string, value: V): void;
  delete(key: string): boolean;
  has(key: string): boolean;
  entries(from?: string, limit?: number): Iterable<readonly [string, V]>;
  readonly size: number;
}
