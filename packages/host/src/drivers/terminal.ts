/**
 * The one writer of what a terminal shows.
 *
 * Promise: whatever the text, no character reaches a terminal that it does not show as itself: no control, no change of direction, nothing of no
 * width, no line or paragraph break but those that end our lines, no half of a character. Each stands there by its number, `⟦U+202E⟧`. A pipe gets
 * the same, for it may lead to a terminal. A test fails where a command-line program of this package writes in another way.
 */
import { jsonOnScreen, onScreen } from '../words/words.ts';

/** One line, whatever is in it. */
export const out = (line: string): void => void process.stdout.write(`${onScreen(line)}\n`);
/** The same to the standard error. */
export const say = (line: string): void => void process.stderr.write(`${onScreen(line)}\n`);

const lines = (text: string): string => `${text.replace(/\n$/, '').split('\n').map(onScreen).join('\n')}\n`;
/** Several lines: for text whose line breaks are ours, or of who is shown it. */
export const outText = (text: string): void => void process.stdout.write(lines(text));
/** The same to the standard error. */
export const sayText = (text: string): void => void process.stderr.write(lines(text));

/** One line of JSON text. It parses to the same data: escapes are those of JSON. */
export const outJson = (json: string): void => void process.stdout.write(`${jsonOnScreen(json)}\n`);

/** Without an end of line. */
export const prompt = (text: string): void => void process.stderr.write(onScreen(text));
export const endPrompt = (): void => void process.stderr.write('\n');
