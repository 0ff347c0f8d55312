/** Makes what a model wrote into the body that a compartment evaluates. */

/** From 1, both. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

export interface Prepared {
  /** An expression: an async function without parameters, whose answer is the value of the program. */
  readonly code: string;
  /** Where in the model's source a position of `code` is. */
  where(line: number, column: number): Place;
}

/** The first line of `code` holds nothing of the model's. */
export function prepare(source: string): Prepared {
  return { code: `(async () => {\n${source}\n})`, where: (line, column) => ({ line: line - 1, column }) };
}
