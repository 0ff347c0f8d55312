/**
 * Who is who: what a forwarder has to know of references, and their holders must not.
 *
 * A reference tells its holder nothing. These tell more to who has more: the vat's own programs, and who holds the very
 * definition that an actor was made of. None of them can be asked by a message.
 */
import { CapError } from '../core/errors.ts';
import { VatPromise } from '../core/promise.ts';
import { targetOf } from '../core/reference.ts';
import type { AnyDefinition } from '../core/types.ts';
import { kindOf } from '../turn/portrait.ts';
import { turnFor } from '../turn/turn.ts';
import { Actor } from './actor.ts';

/**
 * What `reference` is called in the store of the running vat: the same text in every process, so it can be a key of a table. Undefined
 * for what ends with the process, and in a vat that lives in memory.
 */
export function lastingName(reference: object): string | undefined {
  const { keeper } = turnFor('lastingName').home;
  if (keeper === undefined) return undefined;
  try {
    return keeper.encode(reference);
  } catch (error) {
    if (error instanceof CapError) return undefined;
    throw error;
  }
}

/**
 * The arguments that an actor of exactly this definition has now; undefined for everything else. Who holds the definition sees
 * through its actors, as who holds an unsealer sees into its boxes.
 */
export function argumentsOf(reference: unknown, definition: AnyDefinition): readonly unknown[] | undefined {
  const kind = kindOf(definition);
  const at = targetOf(became(reference));
  return kind !== undefined && at instanceof Actor ? at.argumentsOf(kind) : undefined;
}

/** Of a reference that `farOf` made of a promise: what that has become, where it has; everything else is itself. */
export function became<X>(reference: X): X {
  const target = targetOf(reference);
  if (!(target instanceof VatPromise) || target.settled !== 'fulfilled') return reference;
  return (targetOf(target.value) === undefined ? reference : target.value) as X;
}

/** The same; a promise of it where it has not become anything yet. For a host program. */
export function becomes<X>(reference: X): X | Promise<X> {
  const target = targetOf(reference);
  if (!(target instanceof VatPromise) || target.settled === 'fulfilled') return became(reference);
  return new Promise<X>((resolve, reject) => target.watchOutside(() => resolve(became(reference)), reject));
}
