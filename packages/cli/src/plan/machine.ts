/** The powers of a machine that sessions of a plan use. `drivers/machine.ts` has those of this machine. */

/** Finds a program of this machine by its name. Returns its absolute path, or undefined. */
export type FindProgram = (name: string) => string | undefined;

/** Powers that this machine gives to sessions. */
export interface Machine {
  readonly findProgram: FindProgram;
  /** Makes an empty folder for one session. */
  readonly scratch: () => { readonly path: string; remove(): void };
  /** In ms since 1970. */
  readonly now: () => number;
  /** The value of a stored secret; undefined if there is none that can be opened. */
  readonly secret: (name: string) => string | undefined;
  /** Takes the values of all secrets out of a text. */
  readonly blank: (text: string) => string;
}
