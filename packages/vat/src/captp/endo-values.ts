/**
 * Values on their way between our turns and the Endo wire.
 *
 * Promise: a reference that leaves can be sent messages and nothing else: no property, prototype or method name of the object
 * behind it can be reached. Bytes travel as `makeTagged('bytes', base64)`, errors as `CODE: text` without stack or host detail.
 */
import { HandledPromise } from '@endo/eventual-send';
import { getTag, makeTagged, passStyleOf, Remotable } from '@endo/pass-style';
import { noChain } from '../causes.ts';
import { CapError } from '../errors.ts';
import { Foreign, type Seam } from '../foreign.ts';
import type { Account } from '../meter.ts';
import { isMethodName, procedureReference, targetOf } from '../reference.ts';
import { sendNow } from '../send.ts';
import { type Vow, vowOf } from '../vow.ts';

/** What an error says on the wire. An error that is not ours may name paths and people: it says only that it was one. */
export function errorText(error: unknown): string {
  return error instanceof CapError
    ? `${error.code}: ${error.message}`
    : 'error: the call failed at its target, which gives no reason';
}

/** The error that a peer's text stands for. */
export function errorFrom(reason: unknown): unknown {
  const text = reason instanceof Error ? reason.message : typeof reason === 'string' ? reason : '';
  const match = /^([A-Za-z][\w-]{0,63}): ([\s\S]*)$/.exec(text);
  return match === null
    ? new CapError('error', text === '' ? 'the call failed at its target' : text.slice(0, 1000))
    : new CapError(match[1] as string, (match[2] as string).slice(0, 1000));
}

export class EndoValues {
  /** Messages of this connection are charged to it. */
  readonly #account: Account;
  readonly #presences = new WeakMap<object, object>();
  /** The reference behind a presence that we made, for when it comes home. */
  readonly #references = new WeakMap<object, object>();
  /** One reference for each presence of the peer's. */
  readonly #theirs = new WeakMap<object, object>();
  readonly #seam: Seam = Object.freeze({
    accept: (value: unknown) => this.in(value),
    give: (value: unknown) => this.out(value),
    reason: errorFrom,
  });

  constructor(account: Account) {
    this.#account = account;
  }

  /** For the peer. */
  out(value: unknown): unknown {
    if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return value;
    const target = targetOf(value);
    // Only what is the peer's own comes home bare. Another peer's presence would carry that peer's meter, and an object of this
    // process the names that it inherits.
    if (target instanceof Foreign && this.#theirs.get(target.object) === value) return target.object;
    if (target !== undefined) return this.#presence(value);
    const vow = vowOf(value);
    if (vow !== undefined) return this.#promise(vow);
    if (value instanceof Uint8Array) return makeTagged('bytes', Buffer.from(value).toString('base64'));
    if (value instanceof Error) return Object.freeze({ error: errorText(value) });
    if (Array.isArray(value)) return Object.freeze(value.map((item) => this.out(item)));
    return Object.freeze(Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.out(item)])));
  }

  /** From the peer. What it may not send is refused here, before a turn sees it. */
  in(value: unknown): unknown {
    if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return value;
    const home = this.#references.get(value);
    if (home !== undefined) return home;
    switch (passStyleOf(value as never) as string) {
      case 'tagged':
        return bytesOf(value);
      case 'copyArray':
        return (value as unknown[]).map((item) => this.in(item));
      case 'copyRecord':
        return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.in(item)]));
      case 'promise':
        return this.#promised(value as Promise<unknown>);
      case 'error':
        return errorFrom(value);
      case 'remotable':
        return this.theirs(value);
      default:
        throw new CapError(
          'invalid',
          'a value of this kind is not understood: send data, bytes, references and promises',
        );
    }
  }

  #promised(theirs: Promise<unknown>): Promise<unknown> {
    const promised = Promise.resolve(theirs).then(
      (settled) => this.in(settled),
      (reason: unknown) => {
        throw errorFrom(reason);
      },
    );
    // If what it came with is refused, nobody will ever look at it: its breaking must not end this process.
    promised.catch(() => {});
    return promised;
  }

  /** A reference to an object, or a promise of an object, at the peer's. */
  theirs(presence: object): object {
    let reference = this.#theirs.get(presence);
    if (reference === undefined) {
      reference = procedureReference(new Foreign(presence, this.#seam));
      this.#theirs.set(presence, reference);
    }
    return reference;
  }

  /** A promise whose reason is only ever the text of an error. */
  #promise(vow: Vow): Promise<unknown> {
    // Not through the promise of a host program: that gets foreign objects as they are, and we must not hand those on.
    const out = new Promise<unknown>((resolve, reject) => {
      // A frame leaves the store.
      vow.watchOutside(
        (value) => {
          try {
            resolve(this.out(value));
          } catch (error) {
            reject(errorText(error));
          }
        },
        // A string: an Error object would be written to the host's console by marshal, once for each call a peer lets fail.
        (error) => reject(errorText(error)),
      );
    });
    out.catch(() => {});
    return out;
  }

  #presence(reference: object): object {
    let presence = this.#presences.get(reference);
    if (presence === undefined) {
      presence = this.#makePresence(reference);
      this.#presences.set(reference, presence);
      this.#references.set(presence, reference);
    }
    return presence;
  }

  #makePresence(reference: object): object {
    const call = (method: unknown, args: readonly unknown[]): Promise<unknown> =>
      this.#deliver(reference, method, args);
    const handler = Object.freeze({
      get: (): Promise<never> => refuse('invalid: a reference has no properties, only methods'),
      applyMethod: (_self: unknown, method: unknown, args: readonly unknown[]): Promise<unknown> => call(method, args),
      applyFunction: (_self: unknown, args: readonly unknown[]): Promise<unknown> => call('', args),
    });
    let presence: object | undefined;
    const made = new HandledPromise<unknown>((_resolve, _reject, resolveWithPresence) => {
      presence = resolveWithPresence(handler as never) as object;
    }, handler as never);
    void made;
    return Remotable('Alleged: Cap', undefined, presence as never) as object;
  }

  #deliver(reference: object, method: unknown, args: readonly unknown[]): Promise<unknown> {
    const target = targetOf(reference);
    if (target === undefined || typeof method !== 'string' || !isMethodName(method))
      return refuse('no-such-method: a method is called by a name that is a string');
    try {
      const vow = sendNow(
        target,
        method,
        args.map((arg) => this.in(arg)),
        this.#account,
        noChain,
        true,
      );
      return vow === undefined ? Promise.resolve() : this.#promise(vow);
    } catch (error) {
      return refuse(errorText(error));
    }
  }
}

function refuse(text: string): Promise<never> {
  const refused = Promise.reject<never>(text);
  refused.catch(() => {});
  return refused;
}

function bytesOf(tagged: object): Uint8Array {
  const { payload } = tagged as { payload: unknown };
  if (getTag(tagged as never) !== 'bytes' || typeof payload !== 'string' || !/^[\w+/]*={0,2}$/.test(payload))
    throw new CapError('invalid', 'the one tagged value that is understood is "bytes" with base64 text');
  return new Uint8Array(Buffer.from(payload, 'base64'));
}
