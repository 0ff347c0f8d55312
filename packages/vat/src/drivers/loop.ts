/** The event loop: how a vat lets the rest of the process breathe between turns. */

/** Runs `then` before anything else that waits, but not within the caller. */
export const soon = (then: () => void): void => queueMicrotask(then);

/** Runs `then` after sockets, files and timers had their turn. Keeps the process alive until then. */
export const afterOthers = (then: () => void): void => void setImmediate(then);

/** The same without keeping the process alive. */
export const onceOthersRan = (then: () => void): void => void setImmediate(then).unref();
