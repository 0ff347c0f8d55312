/**
 * Become tokens: the only way in which an actor changes.
 *
 * Promise: a token has an effect only if it is returned by the same call in which `bcom` made it. A token of
 * another actor, call or turn throws an error and changes nothing. So does a token for anything but a
 * portrait.
 */
import { CapError } from '../core/errors.ts';
import type { Target } from '../core/message.ts';
import { sealed } from '../core/reference.ts';
import { type Opened, openPortrait } from '../turn/portrait.ts';
import { current, turnFor } from '../turn/turn.ts';
import { thrown } from '../turn/values.ts';

/** An actor that can become something else. */
export interface Becoming extends Target {
  /** Undefined while the actor is being made. */
  readonly reference: object | undefined;
  /**
   * The name in error messages. Errors may reach peers, and the number in `label` reveals how many objects
   * were made in total.
   */
  readonly kindLabel: string;
  become(next: Opened): void;
}

/** The token that a method returns to change its actor. Opaque to everybody else. */
export class Become {
  readonly #actor: Becoming;
  readonly #frame: number;
  readonly #next: Opened;
  readonly #value: unknown;
  readonly #breaks: { readonly error: unknown } | undefined;

  constructor(
    actor: Becoming,
    frame: number,
    next: Opened,
    value: unknown,
    breaks: { readonly error: unknown } | undefined,
  ) {
    this.#actor = actor;
    this.#frame = frame;
    this.#next = next;
    this.#value = value;
    this.#breaks = breaks;
  }

  static is(x: object): x is Become {
    return #actor in x;
  }

  /** Applies the token: `actor` becomes `next`. Returns the value. */
  static accept(token: Become, actor: Becoming, frame: number, outermost: boolean): unknown {
    if (token.#actor !== actor)
      throw new CapError(
        'become-failure',
        `${actor.kindLabel} returned a become token of another actor: return what its own bcom made`,
      );
    if (token.#frame !== frame)
      throw new CapError(
        'become-failure',
        `${actor.kindLabel} returned a become token of another call: call bcom in the method that returns it`,
      );
    actor.become(token.#next);
    if (token.#breaks === undefined) return token.#value;
    if (!outermost) throw token.#breaks.error;
    turnFor('bcom.broken').breaks = token.#breaks;
    return undefined;
  }
}
sealed(Become.prototype);

// `bcom.self` and `bcom.broken` pass these to `bcom`. Kept on the shared prototype, the two properties cost
// no memory per actor.
const askSelf = Symbol('self');
const askBroken = Symbol('broken');

const bcomPrototype = Object.freeze(
  Object.create(Function.prototype, {
    self: {
      get(this: (ask: symbol) => unknown): unknown {
        return this(askSelf);
      },
    },
    broken: {
      value(this: (ask: symbol, next: unknown, error: unknown) => unknown, next: unknown, error: unknown): unknown {
        return this(askBroken, next, error);
      },
    },
  }),
);

/** Makes the `bcom` of one actor. */
export function makeBcom(actor: Becoming): unknown {
  const bcom = (next: unknown, value: unknown, error: unknown): unknown => {
    if (next === askSelf) return self(actor);
    return next === askBroken
      ? token(actor, value, undefined, { error: thrown(error) })
      : token(actor, next, value, undefined);
  };
  Object.setPrototypeOf(bcom, bcomPrototype);
  return bcom;
}

function self(actor: Becoming): object {
  if (actor.reference === undefined)
    throw new CapError(
      'not-callable',
      `bcom.self of ${actor.kindLabel} while it is being made: ask for it in a method`,
    );
  return actor.reference;
}

function token(
  actor: Becoming,
  next: unknown,
  value: unknown,
  breaks: { readonly error: unknown } | undefined,
): Become {
  const opened = openPortrait(next);
  if (opened === undefined)
    throw new CapError(
      'become-failure',
      `${actor.kindLabel} can only become a portrait, as Counter(1) is: a reference or a plain behaviour is none`,
    );
  if (current === undefined || current.actor !== actor)
    throw new CapError(
      'become-failure',
      `bcom of ${actor.kindLabel} was called outside its own call: return bcom(…) from the method`,
    );
  return new Become(actor, current.frame, opened, value, breaks);
}
