/** The log of a program that names no other: standard error. */

/** Writes down an error of Hob itself, with its stack. */
export const logFault = (error: unknown): void =>
  console.error('hob: internal error:', error instanceof Error ? (error.stack ?? error.message) : String(error));

/** Tells whoever wrote an actor of a mistake in it. */
export const logWarning = (text: string): void => console.error(`hob: warning: ${text}`);
