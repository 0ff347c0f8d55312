/** The event loop: how a vat lets the rest of the process breathe between turns. */

const now = Promise.resolve();
const reaction = Promise.prototype.then;

/**
 * Runs `then` before anything else that waits, but not within the caller. As a promise's reaction: Node wraps each
 * `queueMicrotask` in a resource of its own, which costs more than many a turn.
 */
export const soon = (then: () => void): void => void Reflect.apply(reaction, now, [then]);

/** Runs `then` after sockets, files and timers had their turn. Keeps the process alive until then. */
export const afterOthers = (then: () => void): void => void setImmediate(then);

/** The same without keeping the process alive. */
export const onceOthersRan = (then: () => void): void => void setImmediate(then).unref();
