/** Native promises, as the host program holds them, and how the vat promise behind one is found. */
import { Given } from './reference.ts';

// Puts a private field on a promise made elsewhere. A WeakMap entry for each message costs twice as much as
// the rest of the message, mostly in the garbage collector (bench vat: 3.3 us a call with it, 1.6 us
// without).
class Minted extends Given {
  readonly #vatPromise: object;
  constructor(promise: object, vatPromise: object) {
    super(promise);
    this.#vatPromise = vatPromise;
  }
  static of(x: object): object | undefined {
    return #vatPromise in x ? x.#vatPromise : undefined;
  }
}

/**
 * Native promises of others that a vat promise follows. They may be frozen, and we must not put a field on
 * them.
 */
const followed = new WeakMap<object, object>();

/** Makes `promise`, a native promise that we just made, stand for `vatPromise`. */
export const mintNative = (promise: object, vatPromise: object): void => void new Minted(promise, vatPromise);

/** Makes `promise`, a native promise of somebody else, stand for `vatPromise`. */
export const followNative = (promise: object, vatPromise: object): void => void followed.set(promise, vatPromise);

/** The vat promise behind a native one. Runs no code of a Proxy. */
export const behindNative = (promise: object): object | undefined => Minted.of(promise) ?? followed.get(promise);

const noop = (): void => {};
const then = Promise.prototype.then;
/** Marks the rejection as handled, so that it does not end the process. */
export const quieten = (promise: Promise<unknown>): void => void then.call(promise, undefined, noop);

let convert = (value: unknown, _isShared: boolean): unknown => value;

/** A value in the form that the host program receives. With `isShared` bytes are copied: others may hold the value. */
export const forHost = (value: unknown, isShared: boolean): unknown => convert(value, isShared);

let convertError = (_answer: object, error: unknown): unknown => error;

/** The error of an answer in the form that the host program receives. */
export const errorForHost = (answer: object, error: unknown): unknown => convertError(answer, error);

/** Sets how errors are converted for the host program. Called once. */
export const convertErrorsForHost = (how: typeof convertError): void => {
  convertError = how;
};

/**
 * Sets how values are converted for the host program. Called once, by the module that knows the conversion.
 */
export const convertForHost = (how: typeof convert): void => {
  convert = how;
};
