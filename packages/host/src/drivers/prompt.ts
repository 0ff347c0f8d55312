/** Asks a person at a terminal for a secret or a yes. */
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { terminalLine } from '../text/safe-text.ts';
import { endPrompt, prompt } from './terminal.ts';

/**
 * Reads a secret from the terminal without showing it, or the first line of standard input if that is no
 * terminal.
 */
export function askSecret(text: string): Promise<string> {
  const { stdin } = process;
  const terminal = stdin.isTTY === true;
  // Typed text is echoed to nowhere.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: stdin, output: nowhere, terminal });
  // Only from here on does the terminal not echo by itself.
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

/** Returns true for a typed yes. Any other input is a no, and so is its end. */
export function confirm(text: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: true });
  return new Promise((resolve) => {
    let yes = false;
    lines.once('close', () => {
      process.stdin.unref?.();
      resolve(yes);
    });
    lines.question(terminalLine(text), (line) => {
      yes = /^y(?:es)?$/i.test(line.trim());
      lines.close();
    });
  });
}
