/**
 * The identity of references: forwarders need to know it, and holders must not.
 *
 * A reference reveals nothing to its holder. These functions reveal more to code with more authority:
 * programs of the vat, and holders of the definition that an actor was made from. None of them can be called
 * by message.
 */
import { CapError } from '../core/errors.ts';
import { VatPromise } from '../core/promise.ts';
import { targetOf } from '../core/reference.ts';
import type { AnyDefinition } from '../core/types.ts';
import { actualOf } from '../turn/named-driver.ts';
import { kindOf } from '../turn/portrait.ts';
import { turnFor } from '../turn/turn.ts';
import { Actor } from './actor.ts';

/**
 * The name of `reference` in the store of the running vat. It is the same text in every process, so it can be
 * a key of a table. Undefined for a reference that ends with the process, and in a vat in memory.
 */
export function lastingName(reference: object): string | undefined {
  const { objectStore } = turnFor('lastingName').home;
  if (objectStore === undefined) return undefined;
  try {
    return objectStore.encode(reference);
  } catch (error) {
    if (error instanceof CapError) return undefined;
    throw error;
  }
}

/**
 * The current arguments of an actor that was made from exactly this definition; undefined for anything else.
 * A holder of the definition can look into its actors, as a holder of an unsealer can look into its boxes.
 */
export function argumentsOf(reference: unknown, definition: AnyDefinition): readonly unknown[] | undefined {
  const kind = kindOf(definition);
  const at = targetOf(became(reference));
  return kind !== undefined && at instanceof Actor ? at.argumentsOf(kind) : undefined;
}

/**
 * For a reference that `farOf` made from a promise: the reference that the promise resolved to, if any.
 * Others are returned unchanged.
 */
export function became<X>(reference: X): X {
  const target = targetOf(reference);
  if (!(target instanceof VatPromise) || target.settled !== 'fulfilled') return reference;
  return (targetOf(target.value) === undefined ? reference : target.value) as X;
}

/**
 * Like `became`, but returns a promise while the promise behind the reference is pending. For a host program.
 */
export function becomes<X>(reference: X): X | Promise<X> {
  const target = targetOf(reference);
  if (!(target instanceof VatPromise) || target.settled === 'fulfilled') return became(reference);
  return new Promise<X>((resolve, reject) => target.watchOutside(() => resolve(became(reference)), reject));
}

/**
 * The actor behind a reference that a program has named (`named`), or that was a promise. Others are returned
 * unchanged.
 */
export function actorBehind(reference: object): object {
  const actual = actualOf(reference);
  const at = actual instanceof VatPromise && actual.settled === 'fulfilled' ? targetOf(actual.value) : actual;
  return (at instanceof Actor ? at.reference : undefined) ?? reference;
}

/** The error of every call of this reference from now on; undefined as long as one may succeed. */
export const endOf = (reference: object): CapError | undefined => actualOf(became(reference))?.ended;

/** The error of a call of this reference that is sent now, if nothing of it would happen. A later one may succeed. */
export const refusalOf = (reference: object): CapError | undefined => targetOf(became(reference))?.refusal;
