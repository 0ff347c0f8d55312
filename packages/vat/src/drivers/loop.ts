/** The event loop: how a vat lets the rest of the process run between turns. */

const now = Promise.resolve();
const reaction = Promise.prototype.then;

/**
 * Runs `then` after the current code and before timers and I/O. Uses a promise reaction: Node wraps each
 * `queueMicrotask` in an async resource, which costs more than many a turn.
 */
export const soon = (then: () => void): void => void Reflect.apply(reaction, now, [then]);

/** A browser has no `setImmediate`. A timer of 0 ms comes later, but no later than it must. */
const immediate: (then: () => void) => unknown =
  typeof setImmediate === 'undefined' ? (then) => setTimeout(then, 0) : setImmediate;

/** Runs `then` after sockets, files and timers have run. Keeps the process alive until then. */
export const afterOthers = (then: () => void): void => void immediate(then);

/** The same, but does not keep the process alive. */
export const onceOthersRan = (then: () => void): void =>
  void (immediate(then) as { readonly unref?: () => void }).unref?.();

/** Runs `then` after `ms`. Keeps the process alive until then. */
export const afterMs = (ms: number, then: () => void): void => void setTimeout(then, ms);
