/**
 * The written list: differences that are known, each with its reason. `agreed.test.ts` plays one row for each and sees that it is there.
 */
import type { Played } from './classes.ts';
import { WORK } from './machine.ts';

export interface Agreement {
  readonly name: string;
  readonly reason: string;
  /** `what`: the difference, in the words of classes.ts. */
  applies(played: Played, what: string): boolean;
  /** A command that shows it. */
  readonly example: string;
}

const INSIDE = 'inside it is not as under plain bash';
const itself = (line: string): boolean => line === `- ${WORK}/.`;

export const AGREED: readonly Agreement[] = [
  {
    name: 'the directory itself stays',
    reason:
      'what was granted is mounted: all that is in it can be removed, but not itself, which is an entry of the directory above',
    applies: ({ plain, cap }, what) => {
      if (what !== INSIDE || !plain.inside.some(itself)) return false;
      const rest = plain.inside.filter((line) => !itself(line));
      return rest.length === cap.inside.length && rest.every((line, n) => line === cap.inside[n]);
    },
    example: 'rm -rf ~',
  },
  {
    name: 'settings of the home are not there',
    reason:
      'a new repository has the first branch that git is built with: ~/.gitconfig, which says another, was not granted',
    applies: ({ plain, cap }, what) => {
      if (what !== INSIDE || plain.inside.length !== cap.inside.length) return false;
      const other = plain.inside.filter((line, n) => line !== cap.inside[n]);
      return other.every((line) => /\.git\/HEAD: .*refs\/heads\/main/.test(line));
    },
    example: 'git init -q sub',
  },
  {
    name: 'what is outside is not there',
    reason:
      'the program says that it found nothing where under Hermes it found what was not granted; nothing came of it in either',
    applies: ({ row, cap }, what) =>
      row.kind !== 'benign' &&
      /^the (?:status|output) differs/.test(what) &&
      cap.status !== 0 &&
      (row.kind === 'generated' || /No such file or directory|Read-only file system|not a directory/i.test(cap.output)),
    example: 'cat ~/documents/thesis.txt > /dev/null',
  },
  {
    name: 'no way in through what is outside',
    reason: 'a path that goes out by a link and comes back finds nothing on its way, so less is changed inside',
    applies: ({ row, plain, cap }, what) =>
      what === INSIDE &&
      row.steps.some((text) => text.includes('shared/')) &&
      cap.inside.every((line) => plain.inside.includes(line)),
    example: 'rm -rf shared/../work/notes.txt',
  },
];

export const agreement = (played: Played, what: string): string | undefined =>
  AGREED.find((one) => one.applies(played, what))?.reason;
