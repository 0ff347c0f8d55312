/** What things are called in a store, and what stands for those that have no name there any more. */
import { Actor } from '../actor/actor.ts';
import { nameOfTable } from '../actor/table.ts';
import { CapError } from '../core/errors.ts';
import { Account } from '../core/meter.ts';
import { VatPromise, vatPromiseOf } from '../core/promise.ts';
import { procedureReference, targetOf } from '../core/reference.ts';
import type { Name } from '../durable/codec.ts';
import type { ObjectStore } from '../durable/object-store.ts';
import { nameOfDriver } from '../turn/driver.ts';

/** What has a name in another store has none in this one, where the same name is somebody else's. */
export function nameOf(reference: object, keeper: ObjectStore): Name | undefined {
  const target = targetOf(reference);
  if (target instanceof Actor) return target.home.keeper === keeper ? ['a', target.home.name, target.id] : undefined;
  const driver = nameOfDriver(target);
  if (driver !== undefined) return ['d', driver];
  const table = target === undefined ? nameOfTable(reference) : undefined;
  return table?.[0].keeper === keeper ? ['t', table[0].name, table[1]] : undefined;
}

/** What ended with an earlier process: messages to it break. */
export function lostReference(): object {
  const vow = new VatPromise(new Account('lost'));
  vow.break(new CapError('restarted', 'this ended with the process that held it: ask for a new one'));
  return procedureReference(vow);
}

export function fulfilled(promise: object): { readonly value: unknown } | undefined {
  const vow = vatPromiseOf(promise);
  return vow?.settled === 'fulfilled' ? { value: vow.value } : undefined;
}
