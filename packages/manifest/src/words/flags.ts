/**
 * Sets of flags that a row may take with `flags(SET)`.
 *
 * A flag is a text like `--stat`, or ends in a place for a value: `--max-count={n}` takes digits, `--author={text}`
 * takes a text. A flag that is not in the set does not run, so a set lists what is harmless and not what is harmful.
 */

/** A set that ships with Hob: the program it was reviewed for, and the verbs that only read with these flags. */
interface ReviewedSet {
  readonly program: string;
  /** Undefined: the program has no verbs, and its rows begin with a path. */
  readonly verbs?: readonly string[];
  readonly flags: readonly string[];
}

/** Reviewed for one purpose: reading, without a program, a file or a network address that the caller chooses. */
const SETS: Readonly<Record<string, ReviewedSet>> = {
  // Without --output, --ext-diff, --textconv, --no-index, --exec and --open-files-in-pager.
  'git.read': {
    program: 'git',
    verbs: ['status', 'log', 'diff', 'show', 'blame', 'ls-files', 'rev-parse', 'describe', 'shortlog'],
    flags: [
      ...[
        '--stat',
        '--shortstat',
        '--numstat',
        '--name-only',
        '--name-status',
        '--oneline',
        '--patch',
        '-p',
        '--graph',
      ],
      ...['--all', '--decorate', '--short', '-s', '--porcelain', '--cached', '--staged', '--no-color'],
      ...['--reverse', '--first-parent', '--merges', '--no-merges', '--follow', '-{n}', '-n{n}', '--max-count={n}'],
      ...['--since={text}', '--until={text}', '--author={text}', '--grep={text}', '-U{n}', '--unified={n}'],
    ],
  },
  // Without --hyperlink and --dired, whose output a terminal or an editor obeys.
  'ls.read': {
    program: 'ls',
    flags: ['-1', '-a', '-A', '-l', '-la', '-al', '-h', '-lh', '-R', '-r', '-S', '-t', '-d'],
  },
  // Without --files0-from, which reads names from a file.
  'wc.read': { program: 'wc', flags: ['-l', '-w', '-c', '-m', '-L'] },
  // Without -f and --follow, which never end.
  'head.read': { program: 'head', flags: ['-{n}', '-n{n}', '-c{n}', '-q', '-v'] },
  'tail.read': { program: 'tail', flags: ['-{n}', '-n{n}', '-c{n}', '-q', '-v'] },
};

/** The flags of each set that ships with Hob. */
export const REVIEWED: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries(SETS).map(([name, { flags }]) => [name, flags]),
);

/** The sets that were reviewed for this program, and their verbs. */
export const reviewedFor = (program: string): readonly (readonly [set: string, verbs: readonly string[]])[] =>
  Object.entries(SETS)
    .filter(([, one]) => one.program === program)
    .map(([name, { verbs = [] }]) => [name, verbs]);

const PLACE = /\{(?:n|text)\}$/;

/** Whether a flag of a manifest is written as one. */
export const isFlag = (text: string): boolean => /^-{1,2}[A-Za-z0-9{][^\s{}]*(?:\{(?:n|text)\})?$|^-\{n\}$/.test(text);

/** A set that can be asked quickly: flags without a place, and the texts before each place. */
interface Sorted {
  readonly whole: ReadonlySet<string>;
  readonly numbers: readonly string[];
  readonly texts: readonly string[];
}
const sorted = new WeakMap<readonly string[], Sorted>();

function sort(flags: readonly string[]): Sorted {
  const known = sorted.get(flags);
  if (known !== undefined) return known;
  const before = (place: string): readonly string[] =>
    flags.filter((flag) => PLACE.exec(flag)?.[0] === place).map((flag) => flag.slice(0, -place.length));
  const made: Sorted = {
    whole: new Set(flags.filter((flag) => !PLACE.test(flag))),
    numbers: before('{n}'),
    texts: before('{text}'),
  };
  sorted.set(flags, made);
  return made;
}

/** The work of one question, in comparisons. */
export const costOf = (flags: readonly string[]): number => {
  const { numbers, texts } = sort(flags);
  return 1 + numbers.length + texts.length;
};

/** Whether `word` is one of the flags. */
export function takesFlag(flags: readonly string[], word: string): boolean {
  const { whole, numbers, texts } = sort(flags);
  const after = (before: string): string | undefined =>
    word.startsWith(before) ? word.slice(before.length) : undefined;
  return (
    whole.has(word) ||
    numbers.some((before) => /^\d{1,9}$/.test(after(before) ?? '')) ||
    (!/[\0\n\r]/.test(word) && texts.some((before) => (after(before) ?? '') !== ''))
  );
}
