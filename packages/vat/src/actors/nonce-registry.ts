/**
 * Objects by unguessable numbers (swiss numbers), for passing a reference to somebody as text. After Goblins'
 * nonce registry.
 *
 * Promise: only a holder of the number gets the object. The registry stores only hashes, so neither its
 * portrait nor its rows reveal a number. Unknown, ended and malformed numbers give the same error, which does
 * not repeat the number. The locator can only fetch.
 *
 * Two differences from Goblins: an object that is registered twice gets two numbers, because with one number
 * two holders could find out that they have the same object; and a number can be ended. A number is not bound
 * to a session; the host's Object URLs are.
 */
import { spawn } from '../actor/actor.ts';
import { table } from '../actor/table.ts';
import { CapError } from '../core/errors.ts';
import type { Definition, Far, Table } from '../core/types.ts';
import { E } from '../eventual/eventual.ts';
import { driver } from '../turn/driver.ts';
import { define } from '../turn/portrait.ts';
import { base32, hashSecret } from '../vats/sturdyrefs.ts';
import { callOrSend } from './opportunistic.ts';

/** A source of unpredictable bytes. It is a power, so it comes from outside. */
export interface RandomSource {
  bytes(count: number): Uint8Array;
}

/** Looks objects up by number. Errors: `no-such-object`, also for a number that has ended or is malformed. */
export interface NonceLocator {
  fetch(swissNumber: string): object;
}

/** Registers objects and ends their numbers. After Goblins' nonce registry. */
export interface NonceRegistry extends NonceLocator {
  /** Resolves with a new number of 52 characters, once the random bytes have arrived. */
  register(object: object): Promise<string>;
  /** Ends a number. Returns whether it existed. */
  unregister(swissNumber: string): boolean;
}

const numberBytes = 32;

export const NonceRegistry: Definition<NonceRegistry, [random: Far<RandomSource>, rows: Table<object>]> = define(
  'NonceRegistry',
  (_bcom, random, rows) => ({
    register: (object) =>
      E.when(E(random).bytes(numberBytes), (bytes) => {
        if (!(bytes instanceof Uint8Array) || bytes.length !== numberBytes) {
          throw new CapError('unavailable', 'the source of random bytes returned something else: look at it');
        }
        const swissNumber = base32(bytes);
        rows.set(hashSecret(swissNumber), object);
        return swissNumber;
      }),
    unregister: (swissNumber) => typeof swissNumber === 'string' && rows.delete(hashSecret(swissNumber)),
    fetch(swissNumber) {
      const found = typeof swissNumber === 'string' ? rows.get(hashSecret(swissNumber)) : undefined;
      if (found === undefined) throw new CapError('no-such-object', 'this number is not registered: ask for a new one');
      return found;
    },
  }),
);

export const NonceLocator: Definition<NonceLocator, [registry: NonceLocator]> = define(
  'NonceLocator',
  (_bcom, registry) => ({ fetch: (swissNumber) => callOrSend(registry, 'fetch', [swissNumber]) as object }),
);

/** Makes a registry and its locator. `random` is a driver such as `makeRandomSource` makes. In a turn. */
export function makeNonceRegistry(random: Far<RandomSource>): {
  readonly registry: NonceRegistry;
  readonly locator: NonceLocator;
} {
  const registry = spawn(NonceRegistry(random, table()));
  return { registry, locator: spawn(NonceLocator(registry)) };
}

/** Makes a driver from a source such as `systemRandom`. */
export const makeRandomSource = (random: (bytes: number) => Uint8Array): Far<RandomSource> =>
  driver<RandomSource>({ bytes: ([count]) => random(count) }, { reads: ['bytes'] });
