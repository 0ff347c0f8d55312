/**
 * How every program of Hob ends when its command line, or anything else, fails.
 *
 * Promise: a mistake of the user's is one line that says what is wrong and what helps, without a stack; an internal
 * error has its stack.
 */
import { CapError } from '@hob/vat';
import { CommanderError } from 'commander';
import { say, sayText } from '../drivers/terminal.ts';

/** The codes with which the system refuses what a person asked for. */
const refusals: Readonly<Record<string, string>> = {
  EACCES: 'it may not be read or written by this user',
  EPERM: 'it may not be read or written by this user',
  EROFS: 'its file system is read-only',
  ENOENT: 'it is not there',
  ENOTDIR: 'a part of its path is a file',
  EISDIR: 'it is a folder',
  ENOSPC: 'its disk is full',
  EDQUOT: 'the quota of its disk is used up',
  ENAMETOOLONG: 'its name is too long',
  ELOOP: 'its links lead in a circle',
  EIO: 'its disk fails',
};

/** Says why a program ends, and returns its exit code: 2 for a command line that is wrong, 1 for all else. */
export function endOf(error: unknown, who = 'hob'): number {
  // It has been said.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  const { code, syscall, message, stack } = error as NodeJS.ErrnoException;
  const why = syscall === undefined ? undefined : refusals[String(code)];
  if (error instanceof CapError) say(`${who}: ${message.split('\n', 1)[0]}`);
  else if (why !== undefined) say(`${who}: a file or folder that was named cannot be used: ${why} (${code})`);
  else sayText(`${who}: ${stack ?? String(error)}`);
  return 1;
}
