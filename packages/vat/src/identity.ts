/**
 * Who is who: what a forwarder has to know of references, and their holders must not.
 *
 * A reference tells its holder nothing. These two tell more to who has more: the vat's own programs, and who holds the very
 * definition that an actor was made of. Neither can be asked by a message.
 */
import { Actor } from './actor.ts';
import { CapError } from './errors.ts';
import { kindOf } from './portrait.ts';
import { targetOf } from './reference.ts';
import { turnFor } from './turn.ts';
import type { AnyDefinition } from './types.ts';
import { Vow } from './vow.ts';

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
  const target = targetOf(reference);
  const at = target instanceof Vow && target.settled === 'fulfilled' ? targetOf(target.value) : target;
  return kind !== undefined && at instanceof Actor ? at.argumentsOf(kind) : undefined;
}
