/**
 * How every program of Hob reads its command line.
 *
 * Promise: an option that a command does not take is an error, and is never ignored, since it could be a limit. This
 * file loads nothing of a host, so a program that only reads a file starts fast.
 */
import { Command, InvalidArgumentError } from 'commander';
import { outText, sayText } from '../drivers/terminal.ts';
import { version } from '../version.ts';

/** A command that writes to the terminal only through `terminal.ts`, and throws where it would end the process. */
export const newCommand = (name: string): Command =>
  new Command(name)
    .version(`hob ${version}`, '--version', 'prints the version')
    .helpOption('--help', 'prints this')
    .exitOverride()
    // Our texts have no colours. To look for them, commander loads `node:util`, which takes 2 ms.
    .configureHelp({ displayWidth: (text) => text.length })
    .configureOutput({
      stripColor: (text) => text,
      writeOut: (text) => outText(text),
      writeErr: (text) => sayText(text),
      outputError: (text, write) => write(`hob: ${oneLine(text.replace(/^error: /, ''))}\n`),
    });

const oneLine = (text: string): string => text.trim().replaceAll(/\s*\n\s*/g, ' ');

/** After a mistake: the usage of that command alone. */
export function showUsage(command: Command, path: string = command.name()): void {
  command.showHelpAfterError(`usage: ${path} ${command.usage()}\n       ${path} --help says more`);
  command.helpCommand(false);
  for (const child of command.commands) showUsage(child, `${path} ${child.name()}`);
}

/** A value that is given once. What begins with a dash is the next option: the value was forgotten. */
export function once(value: string, earlier: string | undefined): string {
  if (earlier !== undefined) throw new InvalidArgumentError('It is given twice.');
  return given(value);
}

/** A value. A dash at its beginning means that it was forgotten: it is the next option. */
export function given(value: string): string {
  if (value === '' || value.startsWith('-')) throw new InvalidArgumentError('It needs a value.');
  return value;
}

/** A whole number. */
export const count =
  (least: number, most: number) =>
  (text: string, earlier: number | undefined): number => {
    const number = /^\d{1,15}$/.test(once(text, earlier === undefined ? undefined : '')) ? Number(text) : -1;
    if (number < least || number > most)
      throw new InvalidArgumentError(`Give a whole number from ${least} to ${most}.`);
    return number;
  };
