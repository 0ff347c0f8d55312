/**
 * `@hob/vat/peer`: the part of `@hob/vat` for a process that only talks to another one. It has a connection,
 * `E`, and objects of its own.
 *
 * It runs in a browser: no file below it imports anything of Node. It is also small, because a guest's
 * process loads it each time it starts.
 */
export { captp, type PeerOptions } from './captp/hob-only.ts';
export type { Connected } from './captp/open-session.ts';
export type { Duplex } from './captp/session/duplex.ts';
export { type BrowserSocket, fromBrowserSocket } from './captp/transport/browser-socket.ts';
export { fromChild } from './captp/transport/child.ts';
export { CapError } from './core/errors.ts';
export { isReference } from './core/reference.ts';
export type { Far } from './core/types.ts';
export { E } from './eventual/eventual.ts';
export { driver } from './turn/driver.ts';
export { driverOf } from './turn/driver-of.ts';
