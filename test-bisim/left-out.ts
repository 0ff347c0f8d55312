/**
 * Leaves out parts of the caps themselves, in a process of its own (`test/mutants/`): a grant's revoker, and the check of links in a directory.
 *
 * One of several each: a path that goes upwards is stopped by more than its grammar, and nothing comes of leaving that out.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { environmentOf } from '../test/mutants/environment.ts';
import { ASKED } from './approvals.ts';

export interface LeftOut {
  readonly mutant: string;
  readonly what: string;
  /** For `mutant-child.ts`. */
  readonly args: readonly string[];
}

const use = (answer: string): object => ({ use: ASKED.BUILD, who: 'agent', answer });
export const LEFT_OUT: readonly LeftOut[] = [
  {
    mutant: 'revoker',
    what: 'what was granted for the session and taken back',
    // Nothing but the revoker takes it back.
    args: ['approvals', JSON.stringify([use('session'), { revoke: ASKED.BUILD, who: 'agent' }, use('deny')])],
  },
  { mutant: 'symlink', what: 'a link that leaves the directory', args: ['file', 'shared/team.txt'] },
];

/** The classes of what is played, without it (or, with '', as it is). */
export async function classesWithout(python: string, mutant: string, { args }: LeftOut): Promise<readonly string[]> {
  const program = ['--no-warnings', join(import.meta.dirname, 'mutant-child.ts'), python, ...args];
  const { stdout } = await promisify(execFile)(process.execPath, program, {
    env: { ...process.env, ...environmentOf(mutant) },
  });
  return stdout.trim().split(' ');
}
