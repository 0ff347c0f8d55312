/** The event loop: how a vat lets the rest of the process run between turns. */

const now = Promise.resolve();
const reaction = Promise.prototype.then;

/**
 * Runs `then` after the current code and before timers and I/O. Uses a promise reaction: Node wraps each
 * `queueMicrotask` in an async resource, which costs more than many a turn.
 */
export const soon = (then: () => void): void => void Reflect.apply(reaction, now, [then]);

/** Runs `then` after sockets, files and timers have run. Keeps the process alive until then. */
export const afterOthers = (then: () => void): void => void setImmediate(then);

/** The same, but does not keep the process alive. */
export const onceOthersRan = (then: () => void): void => void setImmediate(then).unref();
