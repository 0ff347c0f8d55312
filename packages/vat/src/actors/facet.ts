/**
 * A facet of an object: the named methods and no others.
 *
 * Promise: any other method is `denied`, whether the object has it or not, and the object itself cannot be
 * reached. A call is synchronous if the object is near. After Goblins' `facet`.
 */
import { spawn } from '../actor/actor.ts';
import { CapError } from '../core/errors.ts';
import type { Definition } from '../core/types.ts';
import { defineProcedure } from '../turn/portrait.ts';
import { callOrSend } from './opportunistic.ts';

/** The definition behind `facet`. Every method that is not listed is `denied`. */
export const Facet: Definition<object, [inner: object, methods: readonly string[]]> = defineProcedure(
  'Facet',
  (_bcom, inner, methods) => (method, args) => {
    if (!methods.includes(method)) {
      throw new CapError('denied', 'access to this method is denied: ask whoever gave you the facet for a wider one');
    }
    return callOrSend(inner, method, args);
  },
);

/** Example: `facet(file, 'read', 'stat')` is a file that can be read and not written. */
export const facet = <T extends object, M extends keyof T & string>(inner: T, ...methods: readonly M[]): Pick<T, M> =>
  spawn(Facet(inner, methods)) as Pick<T, M>;
