/** Asks a person for a secret. */
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';

/** From the terminal, without showing it; the first line of standard input where that is no terminal. */
export function askSecret(prompt: string): Promise<string> {
  const { stdin, stderr } = process;
  const terminal = stdin.isTTY === true;
  if (terminal) stderr.write(prompt);
  // What is typed is echoed into nothing.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: stdin, output: nowhere, terminal });
  return new Promise((resolve) => {
    let answer = '';
    lines.once('line', (line) => {
      answer = line.trim();
      lines.close();
    });
    lines.once('close', () => {
      if (terminal) stderr.write('\n');
      stdin.unref?.();
      resolve(answer);
    });
  });
}
