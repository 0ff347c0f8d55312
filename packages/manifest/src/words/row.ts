/**
 * The words of a row of `argv`, and which calls a row takes.
 *
 * | word | takes |
 * | --- | --- |
 * | `status` | this word |
 * | `log\|diff` | one of these words |
 * | `text` | any text |
 * | `ref` | the name of a branch, tag or commit: without `+` and `:`, so it neither forces nor renames |
 * | `path(CAP)` | a path beneath the directory of that cap, as seen from `cwd` |
 * | `flags(SET)` | any number of flags of that set |
 * | `rest` | any number of texts; only at the end |
 * | `=text` | the word `text` itself |
 *
 * No value begins with `-`, so no value is an option. A row begins with its verb, or with a path if the program has
 * no verbs. So no option stands before the verb. A row without words takes the call without arguments, and no other.
 */
import { costOf, reviewedFor, takesFlag } from './flags.ts';

/** A word of a row, as it was read. */
export type Word =
  | { readonly kind: 'literal'; readonly texts: readonly string[] }
  | { readonly kind: 'text' }
  | { readonly kind: 'ref' }
  | { readonly kind: 'rest' }
  | { readonly kind: 'path'; readonly cap: string }
  | { readonly kind: 'flags'; readonly set: string };

interface Wrong {
  /** The index of the word. */
  readonly word: number;
  readonly wrong: string;
  readonly write: string;
}

/** Reads the words of a row. `known` has the names of flag sets and of directory caps. */
export function readRow(
  row: readonly string[],
  known: { readonly flags: ReadonlySet<string>; readonly caps: ReadonlySet<string> },
): { readonly words: readonly Word[] } | Wrong {
  const words: Word[] = [];
  for (const [n, text] of row.entries()) {
    const word = readWord(text);
    if (word === undefined)
      return {
        word: n,
        wrong: 'this is not a word of argv',
        write: 'write a literal, a|b, text, ref, path(CAP), flags(SET) or rest',
      };
    if (n === 0 && !isFirst(word))
      return {
        word: n,
        wrong: 'a row begins with its verb',
        write: 'write first a literal that is no option, like status, or path(CAP)',
      };
    if (word.kind === 'rest' && n < row.length - 1)
      return { word: n, wrong: 'rest takes all further words', write: 'write it at the end' };
    if (word.kind === 'flags' && !known.flags.has(word.set))
      return {
        word: n,
        wrong: `there is no flag set ${word.set}`,
        write: `declare it under flags, or use one of ${[...known.flags].join(', ')}`,
      };
    if (word.kind === 'path' && !known.caps.has(word.cap))
      return {
        word: n,
        wrong: `there is no directory cap ${word.cap}`,
        write: 'name a cap of this session that has fs',
      };
    words.push(word);
  }
  return { words };
}

const isFirst = (word: Word): boolean =>
  word.kind === 'path' || (word.kind === 'literal' && !word.texts.some((one) => one.startsWith('-')));

function readWord(text: string): Word | undefined {
  if (text === 'text' || text === 'ref' || text === 'rest') return { kind: text };
  const call = /^(path|flags)\(([A-Za-z][A-Za-z0-9_.-]*)\)$/.exec(text);
  if (call?.[1] === 'path') return { kind: 'path', cap: call[2] as string };
  if (call?.[1] === 'flags') return { kind: 'flags', set: call[2] as string };
  const texts = text.startsWith('=') ? [text.slice(1)] : text.split('|');
  // A stray bracket or star is a mistake: the writer expected a pattern.
  const ok = texts.every((one) => one !== '' && (text.startsWith('=') || !/[\s()*?[\]{}<>$`\\\0]/.test(one)));
  return ok ? { kind: 'literal', texts } : undefined;
}

/**
 * Whether every call of a row only reads: its verb and all of its options are reviewed. The sandbox then shows the
 * program every directory to read only, so a mistake here lets nothing be written.
 */
export function isReadingRow(program: string, row: readonly Word[]): boolean {
  return reviewedFor(program).some(
    ([set, verbs]) =>
      (verbs.length === 0 || (row[0]?.kind === 'literal' && row[0].texts.every((verb) => verbs.includes(verb)))) &&
      row.every((word) =>
        word.kind === 'flags'
          ? word.set === set
          : word.kind !== 'literal' || word.texts.every((text) => text === '--' || !text.startsWith('-')),
      ),
  );
}

/** The facts about the session with which a row judges a call. */
interface RowContext {
  readonly flags: Readonly<Record<string, readonly string[]>>;
  /** Whether a path, as seen from the command's `cwd`, lies beneath the directory of that cap. */
  readonly isBeneath: (cap: string, path: string) => boolean;
  /** Comparisons are taken off `left`, so that a caller with many rows and calls can stop. */
  readonly work?: { left: number };
}

const isValue = (word: string): boolean => word !== '' && !word.startsWith('-') && !word.includes('\0');
const isRef = (word: string): boolean =>
  isValue(word) && /^[A-Za-z0-9@][\w./@{}^~-]*$/.test(word) && !word.includes('..');

/** Whether a row takes these words, the arguments of a program. The work is words times arguments. */
export function takes(row: readonly Word[], args: readonly string[], context: RowContext): boolean {
  /** The positions in `args` that the words so far can end at. */
  let ends = new Set([0]);
  const { work } = context;
  for (const word of row) {
    if (ends.size === 0) return false;
    if (work !== undefined) work.left -= ends.size;
    if (word.kind === 'rest') ends = endsOfRest(ends, args);
    else if (word.kind === 'flags') ends = endsOfFlags(ends, args, context.flags[word.set] ?? [], work);
    else {
      const next = new Set<number>();
      for (const at of ends) if (at < args.length && takesOne(word, args[at] as string, context)) next.add(at + 1);
      ends = next;
    }
  }
  return ends.has(args.length);
}

function endsOfRest(ends: ReadonlySet<number>, args: readonly string[]): Set<number> {
  const lastOption = args.findLastIndex((arg) => !isValue(arg));
  return [...ends].some((at) => at > lastOption) ? new Set([args.length]) : new Set();
}

/** Each flag extends a position by one. */
function endsOfFlags(
  ends: ReadonlySet<number>,
  args: readonly string[],
  flags: readonly string[],
  work: RowContext['work'],
): Set<number> {
  const next = new Set(ends);
  for (let n = 0; n < args.length; n += 1) {
    if (!next.has(n)) continue;
    if (work !== undefined) work.left -= costOf(flags);
    if (takesFlag(flags, args[n] as string)) next.add(n + 1);
  }
  return next;
}

function takesOne(word: Exclude<Word, { kind: 'flags' | 'rest' }>, arg: string, { isBeneath }: RowContext): boolean {
  switch (word.kind) {
    case 'literal':
      return word.texts.includes(arg);
    case 'text':
      return isValue(arg);
    case 'ref':
      return isRef(arg);
    case 'path':
      return isValue(arg) && isBeneath(word.cap, arg);
  }
}
