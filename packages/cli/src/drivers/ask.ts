/**
 * Asks a person at a terminal for lines of text.
 *
 * Questions go to the standard error, so the standard output stays the result of the verb. `node:readline` is enough
 * for a line of text, and it works with screen readers and with terminals that cannot move the cursor.
 */
import { createInterface } from 'node:readline';
import { Mistake } from '../line/mistake.ts';

/** Asks one question. Errors: `Mistake` (Ctrl-C, or the input ended). */
export type Ask = (question: string) => Promise<string>;

/** Calls `act` with a way to ask, and gives the terminal back after it. */
export async function asking<R>(act: (ask: Ask) => Promise<R>): Promise<R> {
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: true });
  let isOver = false;
  const over = new Promise<never>((_resolve, reject) => {
    lines.once('close', () => {
      isOver = true;
      reject(new Mistake('nothing was written: the questions were not answered'));
    });
  });
  // It is looked at only while a question waits.
  over.catch(() => {});
  try {
    return await act((question) =>
      isOver ? over : Promise.race([new Promise<string>((resolve) => lines.question(question, resolve)), over]),
    );
  } finally {
    lines.close();
    process.stdin.unref?.();
  }
}
