/**
 * The part of `@hob/vat` that a process needs which only talks to another one: a connection, `E`, objects of its own.
 *
 * It is a face of its own because such a process is started often, and everything else takes time to load.
 */
export { type Connected, captp } from './captp/captp.ts';
export type { Duplex } from './captp/session/duplex.ts';
export { fromChild } from './captp/transport/child.ts';
export { CapError } from './core/errors.ts';
export { isReference } from './core/reference.ts';
export type { Far } from './core/types.ts';
export { E } from './eventual/eventual.ts';
export { driver, driverOf } from './turn/driver.ts';
