/** Sequences that nobody thought of: of file operations, and of commands, over paths that go everywhere. For fast-check, which shrinks them. */
import fc from 'fast-check';
import type { Answer, Step, Who } from '../approvals.ts';
import type { FileOp } from '../files.ts';
import { HOME, WORK } from '../machine.ts';

const NAMES = [
  'notes.txt',
  'src',
  'main.c',
  'docs',
  'a.md',
  'build',
  'latest',
  'shared',
  'team.txt',
  'new',
  'deep',
  'ünï',
  'a b',
  '.env',
  'config.yaml',
];
const TURNS = ['..', '..', '.', '', '../..', 'shared/..'];
const starts = (base: string): readonly string[] => [
  '',
  '',
  '',
  './',
  '../',
  '~/',
  `${base}/`,
  `${base}/${HOME}/`,
  `${base}/${WORK}/`,
  '/',
  'shared/',
];

export const paths = (base: string): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.constantFrom(...starts(base)),
      fc.array(
        fc.oneof(
          { weight: 4, arbitrary: fc.constantFrom(...NAMES) },
          { weight: 1, arbitrary: fc.constantFrom(...TURNS) },
        ),
        {
          minLength: 1,
          maxLength: 4,
        },
      ),
      fc.oneof(
        { weight: 3, arbitrary: fc.constant('') },
        fc.constantFrom('documents/thesis.txt', '.bashrc', 'notes.txt', 'photos/cat.jpg'),
      ),
    )
    .map(([start, names, end]) => start + [...names, ...(end === '' ? [] : [end])].join('/'));

export const fileSequences = (base: string): fc.Arbitrary<readonly FileOp[]> =>
  fc.array(
    paths(base).chain((path) =>
      fc.constantFrom<FileOp>(
        { op: 'read', path },
        { op: 'write', path, text: 'written\n' },
        { op: 'edit', path, from: 'one', to: 'ONE' },
      ),
    ),
    { minLength: 1, maxLength: 5 },
  );

/** The effect inside does not depend on anything outside. So inside is as under plain bash, whatever was not reached. */
const VERBS: readonly ((path: string) => string)[] = [
  (path) => `rm -rf "${path}"`,
  (path) => `rm -f "${path}"`,
  (path) => `echo x > "${path}"`,
  (path) => `echo y >> "${path}"`,
  (path) => `mkdir -p "${path}"`,
  (path) => `[ -e "${path}" ] || : > "${path}"`,
  (path) => `cat "${path}" > /dev/null`,
  (path) => `chmod 700 "${path}"`,
  (path) => `truncate -s 1 "${path}"`,
  (path) => `x="${path}"; unlink "$x"`,
  (path) => `printf '%s\\0' "${path}" | xargs -0 rm -rf`,
  (path) => `find "${path}" -type f -delete`,
  (path) => `python3 -c 'import sys; open(sys.argv[1], "a").write("z")' "${path}"`,
];

export const commandSequences = (base: string): fc.Arbitrary<readonly string[]> =>
  fc.array(
    fc
      .tuple(paths(base), fc.constantFrom(...VERBS))
      // In double quotes a tilde is a name; and the whole machine is another twin's to lose.
      .map(([path, verb]) => verb(path.replace(/^~/, '$HOME').replace(/^\/(?!var\/tmp)/, `${base}/`))),
    { minLength: 1, maxLength: 3 },
  );

/** Mostly one command and one agent, so that what was said before matters. */
export function approvalSequences(commands: readonly string[]): fc.Arbitrary<readonly Step[]> {
  const [often = ''] = commands;
  const who = fc.constantFrom<Who>('agent', 'agent', 'agent', 'agent', 'other', 'child');
  const command = fc.constantFrom(...commands, often, often, often, often);
  const answer = fc.constantFrom<Answer>('once', 'minute', 'session', 'always', 'deny');
  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 8, arbitrary: fc.record({ use: command, who, answer }) },
    { weight: 2, arbitrary: fc.record({ revoke: command, who }) },
    { weight: 1, arbitrary: fc.record({ end: who }) },
    { weight: 1, arbitrary: fc.constant({ wait: 61_000 }) },
  );
  return fc.array(step, { minLength: 10, maxLength: 14, size: 'max' });
}
