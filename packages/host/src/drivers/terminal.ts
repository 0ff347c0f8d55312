/**
 * Writes everything that a terminal shows.
 *
 * Promise: whatever the text, the terminal gets no control character, no change of direction, nothing of no
 * width, no line break but our own, and no half of a character. Each is written by its number, `⟦U+202E⟧`.
 * A pipe gets the same, because it may lead to a terminal. A test fails if a command-line program of this
 * package writes in another way.
 */
import { terminalJson, terminalLine } from '../text/safe-text.ts';

/** One line, whatever is in it. */
export const out = (line: string): void => void process.stdout.write(`${terminalLine(line)}\n`);
/** The same to the standard error. */
export const say = (line: string): void => void process.stderr.write(`${terminalLine(line)}\n`);

const lines = (text: string): string => `${text.replace(/\n$/, '').split('\n').map(terminalLine).join('\n')}\n`;
/** Several lines: for text whose line breaks are ours, or of who is shown it. */
export const outText = (text: string): void => void process.stdout.write(lines(text));
/** The same to the standard error. */
export const sayText = (text: string): void => void process.stderr.write(lines(text));

/** One line of JSON text. It parses to the same data: escapes are those of JSON. */
export const outJson = (json: string): void => void process.stdout.write(`${terminalJson(json)}\n`);

/** Without an end of line. */
export const prompt = (text: string): void => void process.stderr.write(terminalLine(text));
export const endPrompt = (): void => void process.stderr.write('\n');

/**
 * Takes the whole screen, without a visible cursor. Long rows do not wrap, since they would move all rows below. Text
 * that is pasted comes between marks, so no part of it is taken for a key.
 */
export const enterScreen = (): void => void process.stdout.write('\u001b[?1049h\u001b[?25l\u001b[?7l\u001b[?2004h');
/** Gives the screen back as it was. */
export const leaveScreen = (): void => void process.stdout.write('\u001b[?2004l\u001b[?7h\u001b[?25h\u001b[?1049l');
/** Shows these rows and nothing else, whatever is in them. They are no more than the screen has. */
export const drawScreen = (rows: readonly string[]): void =>
  void process.stdout.write(`\u001b[H${rows.map((row) => `${terminalLine(row)}\u001b[K`).join('\r\n')}\u001b[J`);
