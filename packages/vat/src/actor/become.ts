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
import { openPortrait, type PortraitContents } from '../turn/portrait.ts';
import { current, turnFor } from '../turn/turn.ts';
import { thrown } from '../turn/values.ts';

/** An actor that can become something else. */
interface Becoming extends Target {
  /** Undefined while the actor is being made. */
  readonly reference: object | undefined;
  /**
   * The name in error messages. Errors may reach peers, and the number in `label` reveals how many objects
   * were made in total.
   */
  readonly kindLabel: string;
  become(next: PortraitContents): void;
}

/** The token that a method returns to change its actor. Opaque to everybody else. */
export class Become {
  readonly #actor: Becoming;
  readonly #frame: number;
  readonly #next: PortraitContents;
  readonly #value: unknown;
  readonly #breaks: { readonly error: unknown } | undefined;

  constructor(
    actor: Becoming,
    frame: number,
    next: PortraitContents,
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
  static accept(token: Become, actor: Becoming, frame: number): unknown {
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
    const turn = turnFor('bcom.broken');
    // A near caller sees the break as an error. Only the call that the message made breaks the answer.
    if (frame !== turn.messageFrame) throw token.#breaks.error;
    turn.breaks = token.#breaks;
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

/** Nobody could call it near: references to it are objects. */
export const uncallable = (label: string): CapError =>
  new CapError(
    'become-failure',
    `${label} is a function, and an actor that was made with methods cannot become one: use defineProcedure`,
  );

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
      `${actor.kindLabel} can become only a portrait, such as Counter(1), not a reference or a plain behaviour`,
    );
  if (current === undefined || current.actor !== actor)
    throw new CapError(
      'become-failure',
      `bcom of ${actor.kindLabel} was called outside its own call: return bcom(…) from the method`,
    );
  current.token = current.frame;
  return new Become(actor, current.frame, opened, value, breaks);
}
