/**
 * Where an object of this host really is: which directory, which program, which address.
 *
 * Promise: only the program that runs the host can ask. A place is no property and no method of the object,
 * so no message names it, and code that holds the object does not find it. It is for the screen of a granter.
 */

/** Text for a granter. The words of `kind` and `readOnly` are the package's, `name` is text of the system. */
export interface Place {
  readonly kind: 'directory' | 'program' | 'shell' | 'address';
  /** A path or an address of this machine, as the system gives it. Absent where it cannot be told. */
  readonly name?: string;
  readonly readOnly?: true;
  /** The directories that a program or shell reaches, by their paths inside. */
  readonly mounts?: Readonly<Record<string, Place>>;
}

const places = new WeakMap<object, () => Place | undefined>();

/** Says where `object` is. `place` is called each time somebody asks. Returns the object. */
export function withPlace<T extends object>(object: T, place: () => Place | undefined): T {
  places.set(object, place);
  return object;
}

/** The place of an object of this process, or undefined. For the program that runs the host. */
export const placeOf = (object: object): Place | undefined => places.get(object)?.();
