/**
 * The text of a first `hob.yaml`, with a comment beside each part.
 *
 * Promise: the text compiles without a warning. Its session has a deadline and the mode `cautious`, sees no files that
 * usually hold secrets, and runs the listed command lines and no others.
 */
import { whyNoRow, wordsOfLine } from '../import/programs.ts';
import { skeleton } from '../plan/names.ts';
import { reviewedFor } from '../words/flags.ts';

/** Files that usually hold secrets, and files that make other programs run code. */
const SECRET_FILES: readonly string[] = [
  ...['.env*', '*.pem', '*.key', '*.p12', '*.kdbx', 'id_rsa*', 'id_ed25519*', '.npmrc', '.netrc', '.pypirc'],
  ...['.ssh', '.gnupg', '.aws', '.git'],
];

/** Whether the agent changes files: never, after a person said yes, or without a question. */
export type May = 'read' | 'ask' | 'write';

/** The three answers of a person. */
export interface Start {
  /** The absolute path of the folder that the agent works in. */
  readonly root: string;
  readonly may: May;
  readonly commands: readonly StartCommand[];
}

/** A command line that a person wants to allow. */
export interface StartCommand {
  /** The name of its cap. */
  readonly name: string;
  readonly program: string;
  /** The row of `argv`, as a manifest writes it. */
  readonly row: readonly string[];
  /** The program only reads with these words. */
  readonly reads: boolean;
}

/**
 * Reads command lines, such as `npm test`. A program with reviewed flags, such as `git`, may stand alone: that means
 * its verbs that read. Returns the reason if a line cannot be a row.
 */
export function startCommands(
  lines: readonly string[],
): readonly StartCommand[] | { readonly line: string; readonly why: string } {
  const commands: StartCommand[] = [];
  const taken = new Set(NAMES.map(skeleton));
  for (const line of lines) {
    const words = wordsOfLine(line);
    if ('why' in words) return { line, why: words.why };
    const [program = '', ...args] = words;
    const [set, verbs = []] = args.length === 0 ? (reviewedFor(program)[0] ?? []) : [];
    const why = whyNoRow({ kind: 'command', words: words.map((word) => [word]), more: false });
    if (why !== undefined) return { line, why };
    const row = set !== undefined && verbs.length > 0 ? [verbs.join('|'), `flags(${set})`] : args.map(literal);
    if (commands.some((other) => other.program === program && other.row.join(' ') === row.join(' '))) continue;
    commands.push({ name: freeName([program, ...args], taken), program, row, reads: set !== undefined });
  }
  return commands;
}

/** The names of the directory caps. */
const NAMES: readonly string[] = ['files', 'edit'];

/** A word that a row would read in another way is written with `=` before it. */
const literal = (word: string): string =>
  /^[\w@%+:,./~-]+$/.test(word) && !['text', 'ref', 'rest'].includes(word) ? word : `=${word}`;

/** `npm run lint` becomes `npm-run-lint`, and a name that looks like another one gets a number. */
function freeName(words: readonly string[], taken: Set<string>): string {
  const last = (words[0] ?? '').split('/').at(-1) ?? '';
  const plain = [last, ...words.slice(1)].join('-').replace(/[^A-Za-z0-9]+/g, '-');
  const base =
    plain
      .replace(/^[^A-Za-z]+/, '')
      .slice(0, 40)
      .replace(/-+$/, '') || 'command';
  for (let n = 1; ; n += 1) {
    const name = n === 1 ? base : `${base}-${n}`;
    if (taken.has(skeleton(name))) continue;
    taken.add(skeleton(name));
    return name;
  }
}

/** The text of the manifest. `schema` is where an editor finds the schema. */
export function starterText({ root, may, commands }: Start, schema: string): string {
  const minted = commands.filter(({ reads }) => may !== 'ask' || reads);
  const asked = commands.filter((one) => !minted.includes(one));
  const rights = may === 'write' ? '[read, list, search, write, remove]' : '[read, list, search]';
  const lines = [
    `# yaml-language-server: $schema=${schema}`,
    '# What an agent may hold. Nothing else exists for it. Written by hob init; change it as you like.',
    '#   hob check FILE      finds mistakes in it',
    '#   hob explain FILE    says in plain words what a session of it can do',
    '#   hob serve           serves it; hob start -- PROGRAM runs an agent in a session of it',
    '# Keep this file outside of the folders below: an agent that could change it could grant itself anything.',
    'version: 1',
    '',
    '# Folders of this machine, by name. Paths of this machine stand only here.',
    'roots:',
    `  project: ${JSON.stringify(root)}`,
    '',
    'session:',
    '  # No grant outlives this. Then hob start opens a new session.',
    '  deadline: 8h',
    '  # cautious: what reads or changes files here runs, and what cannot be undone asks a person.',
    '  # Stricter are plan and supervised. autonomous asks only for what stands under ask.',
    '  mode: cautious',
    '',
    '  # What a session has from the start.',
    '  caps:',
    ...(may === 'write' ? ['    # Removing asks a person, in this mode.'] : []),
    '    # except hides names at any depth: secrets, and the files of git, whose hooks are programs.',
    `    files: { fs: project, can: ${rights}, except: ${EXCEPT} }`,
    ...(minted.length === 0 ? [] : PROGRAMS),
    ...minted.map((one) => commandLine(one, may, '')),
    ...askLines(may, asked),
    '',
    '  # What no layer of this manifest may give. Names of caps.',
    '  # deny: [push]',
  ];
  return `${lines.join('\n')}\n`;
}

const EXCEPT = `[${SECRET_FILES.map((one) => JSON.stringify(one)).join(', ')}]`;

const PROGRAMS: readonly string[] = [
  '    # A program runs in a sandbox without a network. It sees all of its cwd, also what except hides from the agent.',
  '    # Each row of argv is a form of arguments that it may be called with.',
];

function askLines(may: May, asked: readonly StartCommand[]): readonly string[] {
  if (may !== 'ask')
    return [
      '',
      '  # What a session gets after a person said yes: hob inbox shows the question, hob grant says yes.',
      '  # ask:',
      '  #   push: { command: git, cwd: project, argv: [[push, origin, ref]], offer: { uses: 1, for: 15m } }',
    ];
  return [
    '',
    '  # What a session gets after a person said yes: hob inbox shows the question, hob grant says yes.',
    '  # offer has the terms that the question proposes. A person may say yes to less, and never to more.',
    '  ask:',
    `    edit: { fs: project, can: [read, list, search, write], except: ${EXCEPT}, offer: { uses: 20, for: 1h } }`,
    ...asked.map((one) => commandLine(one, may, ', offer: { uses: 10, for: 1h }')),
  ];
}

function commandLine({ name, program, row, reads }: StartCommand, may: May, more: string): string {
  // YAML takes some bare words for a number, a boolean or nothing.
  const isBare = (word: string): boolean => /^[a-z][\w|.()/-]*$/i.test(word) && !/^(?:true|false|null)$/i.test(word);
  const words = row.map((word) => (isBare(word) ? word : JSON.stringify(word)));
  // A session that only reads gets no program that writes.
  const only = may === 'read' && !reads ? ', reads: true' : '';
  return `    ${name}: { command: ${JSON.stringify(program)}, cwd: project, argv: [[${words.join(', ')}]]${only}${more} }`;
}
