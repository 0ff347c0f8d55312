/** A mistake of the user's: one line that says what is wrong and what helps. No stack is printed. */
export class Mistake extends Error {
  /** The exit code: 2 for a command line that is wrong, 1 for what cannot be done now. */
  readonly exitCode: 1 | 2;

  constructor(message: string, exitCode: 1 | 2 = 1) {
    super(message);
    this.name = 'Mistake';
    this.exitCode = exitCode;
  }
}
