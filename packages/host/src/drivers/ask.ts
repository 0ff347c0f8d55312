/** Asks a person at a terminal: for a secret, for a yes. */
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { onScreen } from '../words/words.ts';
import { endPrompt, prompt } from './terminal.ts';

/** From the terminal, without showing it; the first line of standard input where that is no terminal. */
export function askSecret(text: string): Promise<string> {
  const { stdin } = process;
  const terminal = stdin.isTTY === true;
  // What is typed is echoed into nothing.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: stdin, output: nowhere, terminal });
  // Only now does the terminal no longer echo by itself.
  if (terminal) prompt(text);
  return new Promise((resolve) => {
    let answer = '';
    lines.once('line', (line) => {
      answer = line.trim();
      lines.close();
    });
    lines.once('close', () => {
      if (terminal) endPrompt();
      stdin.unref?.();
      resolve(answer);
    });
  });
}

/** Whether a person is there to be asked. */
export const atTerminal = (): boolean => process.stdin.isTTY === true && process.stderr.isTTY === true;

/** A yes from the terminal. Everything else is a no, the end of the input too. */
export function askYes(text: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: true });
  return new Promise((resolve) => {
    let yes = false;
    lines.once('close', () => {
      process.stdin.unref?.();
      resolve(yes);
    });
    lines.question(onScreen(text), (line) => {
      yes = /^y(?:es)?$/i.test(line.trim());
      lines.close();
    });
  });
}
