/**
 * The part of `@hob/vat` that a process needs which only talks to another one: a connection, `E`, objects of its own.
 *
 * It is a face of its own because such a process is started often, and everything else takes time to load.
 */
export { type Connected, captp } from './captp/captp.ts';
export type { Duplex } from './captp/duplex.ts';
export { driver, driverOf } from './driver.ts';
export { fromChild } from './drivers/child.ts';
export { CapError } from './errors.ts';
export { E } from './eventual.ts';
export { isReference } from './reference.ts';
export type { Far } from './types.ts';
