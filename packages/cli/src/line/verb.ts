/** A verb of `hob`: its words, its help, its exit codes and the function that does it. */

/** An option of a verb. It is given once, unless `many` says that it collects values. */
export interface VerbOption {
  /** As commander writes it: `--uses <n>`, `--all`. */
  readonly flags: string;
  readonly about: string;
  /** The option may be given several times. Its value is a list. */
  readonly many?: true;
}

/** The operands and options of one call. An option's name is in camel case: `secretTo` for `--secret-to`. */
export interface Given {
  readonly operands: readonly string[];
  readonly options: Readonly<Record<string, string | boolean | readonly string[] | undefined>>;
}

/** The outputs of a verb. */
export interface Output {
  /** One line for a person. With `--json` it writes nothing. */
  readonly line: (text: string) => void;
  /** One line to the standard error: advice, progress, warnings. */
  readonly say: (text: string) => void;
  /** The result as one line of JSON. Without `--json` it writes nothing. */
  readonly json: (value: unknown) => void;
  /** A table for a person: aligned columns on a terminal, columns divided by tabs elsewhere. */
  readonly table: (heads: readonly string[], rows: readonly (readonly string[])[]) => void;
  /** `--json` was given. */
  readonly isJson: boolean;
  /** The standard output is a terminal. */
  readonly isTerminal: boolean;
}

/** One verb. Its file loads at once; everything heavy it loads inside `run`, so that `hob --help` is fast. */
export interface Verb {
  /** `grant`, or `ledger verify`. */
  readonly name: string;
  /** As commander writes them: `<request>`, `[file]`, `<agent...>`. */
  readonly operands?: string;
  /** One line. */
  readonly about: string;
  readonly options?: readonly VerbOption[];
  /** Whole command lines, for `--help`. */
  readonly examples: readonly string[];
  /** The shape of what `--json` prints, as TypeScript. Undefined: the verb has no `--json`. */
  readonly json?: string;
  /** The meaning of each exit code, besides 0 (done) and 2 (the command line is wrong). */
  readonly codes: Readonly<Record<number, string>>;
  /**
   * The process holds caps: its intrinsics are hardened before anything else is loaded. Leave it out for verbs that
   * only read files.
   */
  readonly hardened?: true;
  /** Runs when its group is called without a verb: `hob ledger --grant G3` is `hob ledger show --grant G3`. */
  readonly isUsual?: true;
  /**
   * Runs the verb if it needs no cap, in a process that is not locked down. Returns undefined if the verb needs a cap;
   * then it has done nothing, and `run` is called.
   */
  alone?(given: Given, output: Output): Promise<number | undefined>;
  /** Returns the exit code. Errors of a user's are `Mistake` or `CapError`. */
  run(given: Given, output: Output): Promise<number>;
}

/** The value of an option that takes one value. */
export const textOf = ({ options }: Given, name: string): string | undefined => {
  const value = options[name];
  return typeof value === 'string' ? value : undefined;
};

/** The values of an option that may be given several times. */
export const listOf = ({ options }: Given, name: string): readonly string[] => {
  const value = options[name];
  return Array.isArray(value) ? (value as readonly string[]) : [];
};

/** Whether an option without a value was given. */
export const isGiven = ({ options }: Given, name: string): boolean => options[name] === true;
