/**
 * Definitions and portraits. An actor is a definition with its arguments, brought to life.
 *
 * Promise: a portrait is checked and frozen when it is made. All that it holds can be rolled back, saved and
 * printed. Functions, promises and class instances are refused.
 */
import { CapError } from '../core/errors.ts';
import { ActorKind, type Constructor } from '../core/kind.ts';
import { takeOptions } from '../core/options.ts';
import { isMethodName, sealed } from '../core/reference.ts';
import type { Bcom, Behaviour, DefineOptions, Definition, Portrait } from '../core/types.ts';
import { keepArgs } from './values.ts';

/** `NoInfer` does not work on an empty tuple as a whole, so it is applied item by item. */
type Exactly<A extends readonly unknown[]> = { [I in keyof A]: NoInfer<A[I]> };

/** The contents of a portrait. */
export interface PortraitContents {
  readonly kind: ActorKind;
  readonly args: readonly unknown[];
  readonly bytes: number;
}

/** A definition with checked arguments. Only the vat can open it. */
class Made {
  readonly #opened: PortraitContents;

  constructor(opened: PortraitContents) {
    this.#opened = opened;
  }

  static open(x: unknown): PortraitContents | undefined {
    return typeof x === 'object' && x !== null && #opened in x ? x.#opened : undefined;
  }
}
sealed(Made.prototype);

/** The contents of a portrait; undefined for any other value. */
export const openPortrait: (x: unknown) => PortraitContents | undefined = Made.open;

const kinds = new WeakMap<object, ActorKind>();
/** The kind behind a definition. */
export const kindOf = (definition: object): ActorKind | undefined => kinds.get(definition);

function checkLabel(label: unknown): asserts label is string {
  if (typeof label !== 'string' || label === '' || label.length > 128)
    throw new CapError('invalid', 'a definition needs a label of 1 to 128 characters');
}

function definition(label: string, construct: unknown, options: unknown, procedure = false): unknown {
  checkLabel(label);
  const kind = new ActorKind({
    label,
    procedure,
    construct: construct as Constructor,
    options: takeOptions(options as DefineOptions<never> | undefined, `define('${label}')`, {
      version: true,
      upgrade: true,
      migrations: true,
      shape: true,
      formerly: true,
    }),
  });
  const make = (...args: unknown[]): Made => {
    const kept = keepArgs(args);
    if (kept.mutable) kind.holdsBytes = true;
    const made = new Made({ kind, args: kept.args, bytes: kept.bytes });
    Object.freeze(made);
    return made;
  };
  Object.defineProperty(make, 'label', { value: kind.label, enumerable: true });
  Object.defineProperty(make, 'name', { value: kind.label });
  kinds.set(make, kind);
  return Object.freeze(make);
}

/**
 * Defines a kind of actor. `ctor` takes `bcom` and the portrait's arguments and returns the behaviour: an
 * object of synchronous methods, or one synchronous function. A method changes its actor only by returning
 * `bcom(next, value?)`.
 *
 * `label` names the definition in stores and records. It must be unique among the definitions of a store.
 * After `define-actor` of Spritely Goblins.
 */
export function define<T, A extends readonly unknown[]>(
  label: string,
  ctor: (bcom: Bcom<NoInfer<T>>, ...args: Exactly<A>) => Behaviour<NoInfer<T>>,
  options?: DefineOptions<A>,
): Definition<T, A> {
  return definition(label, ctor, options) as Definition<T, A>;
}

/**
 * Defines an actor whose methods are not known in advance. One procedure receives every call as `(method,
 * args)`. A call without a method name has the method `''`. For forwarders.
 */
export function defineProcedure<T, A extends readonly unknown[]>(
  label: string,
  ctor: (bcom: Bcom<NoInfer<T>>, ...args: Exactly<A>) => (method: string, args: readonly unknown[]) => unknown,
  options?: DefineOptions<A>,
): Definition<T, A> {
  return definition(label, ctor, options, true) as Definition<T, A>;
}

/** The checked method names of a behaviour. A reference to the actor shows them. */
export function methodsOf(behaviour: object, label: string): readonly string[] {
  const names: string[] = [];
  for (const key of Reflect.ownKeys(behaviour)) {
    const value: unknown = Object.getOwnPropertyDescriptor(behaviour, key)?.value;
    if (typeof key !== 'string' || typeof value !== 'function')
      throw new CapError(
        'invalid',
        `a behaviour of ${label} has a property that is not a method: behaviours hold methods only, state is in the portrait`,
      );
    if (!isMethodName(key))
      throw new CapError('invalid', `"${key}" cannot be a method of ${label}: choose another name`);
    names.push(key);
  }
  return names;
}

export type AnyPortrait = Portrait<unknown>;
