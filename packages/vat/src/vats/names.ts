/** Names of references in a store, and stand-ins for references that have no name there any more. */
import { Actor } from '../actor/actor.ts';
import { nameOfTable } from '../actor/table.ts';
import { CapError } from '../core/errors.ts';
import { Account } from '../core/meter.ts';
import { VatPromise, vatPromiseOf } from '../core/promise.ts';
import { procedureReference, targetOf } from '../core/reference.ts';
import type { Name } from '../durable/codec.ts';
import type { ObjectStore } from '../durable/object-store.ts';
import { nameOfDriver } from '../turn/named-driver.ts';

/**
 * A reference that belongs to another store has no name in this one, where that name may mean something else.
 */
export function nameOf(reference: object, objectStore: ObjectStore): Name | undefined {
  const target = targetOf(reference);
  if (target instanceof Actor)
    return target.home.objectStore === objectStore ? ['a', target.home.name, target.id] : undefined;
  const driver = nameOfDriver(target);
  if (driver !== undefined) return ['d', driver];
  const table = target === undefined ? nameOfTable(reference) : undefined;
  return table?.[0].objectStore === objectStore ? ['t', table[0].name, table[1]] : undefined;
}

/** A stand-in for something that ended with an earlier process. Messages to it break. */
export function lostReference(): object {
  const vatPromise = new VatPromise(new Account('lost'));
  vatPromise.break(new CapError('restarted', 'this ended with the process that held it: ask for a new one'));
  return procedureReference(vatPromise);
}

export function fulfilled(promise: object): { readonly value: unknown } | undefined {
  const vatPromise = vatPromiseOf(promise);
  return vatPromise?.settled === 'fulfilled' ? { value: vatPromise.value } : undefined;
}
