/**
 * The effects that the methods of an object have, as the package that makes the object declares them.
 *
 * Promise: a declaration gives no authority and takes none. It is for the layer that decides whether a permitted
 * call goes on now or waits for a person. Only the program that runs the host can ask for it.
 */

/** The effect of one method. */
export interface Effect {
  /**
   * `A` only reads. `B` changes something of this machine that its owner can change back. `C` has an effect outside
   * of this machine. `D` is critical: money, deployment, destruction, or the safety of a person.
   */
  readonly class: 'A' | 'B' | 'C' | 'D';
  /** How far the effect can be undone. `hard` if it is not said. It does not count for class `A`. */
  readonly undo?: 'easy' | 'hard' | 'impossible';
  /** It carries what it is called with to somebody outside. `false` if it is not said. */
  readonly outbound?: boolean;
  /**
   * Called again it does no more than once, so an equal result says that a caller goes round in circles. If it is not
   * said, methods of class `A` are. `false` for a method whose calls differ although they look alike, such as the
   * next part of a stream.
   */
  readonly idempotent?: boolean;
  /** Fields of its results that change by themselves, such as a time stamp. They are not compared. */
  readonly volatile?: readonly string[];
  /**
   * The things that it makes: for each kind of thing the field of the result that names it, or `''` for the result
   * itself. A name is a text or a number that the cap chose, and gives to nothing else later.
   */
  readonly makes?: Readonly<Record<string, string>>;
  /** The things that it changes: for each kind the place of the argument that names it, or a field of the first one. */
  readonly names?: Readonly<Record<string, number | string>>;
}

/** The effects of the methods of an object and of the objects that come out of it, by the name of the method. */
export type Effects = Readonly<Record<string, Effect>>;

const declared = new WeakMap<object, () => Effects>();

/** Declares the effects of `object`. `effects` is called each time somebody asks. Returns the object. */
export function withEffects<T extends object>(object: T, effects: () => Effects): T {
  declared.set(object, effects);
  return object;
}

/** The declared effects of an object of this process, or undefined. For the program that runs the host. */
export const effectsOf = (object: object): Effects | undefined => declared.get(object)?.();
