/**
 * Pieces of a manifest that single rules give. They are not joined to caps yet.
 *
 * A piece has no more authority than its rule, and what stricter rules take away is not in it. A rule that gives no
 * piece, or less than it says, is named with the reason.
 */
import type { FsRight } from '../file/types.ts';
import { without } from '../plan/deny.ts';
import { wrongPattern } from '../words/except.ts';
import { reviewedFor } from '../words/flags.ts';
import { isReadingRow, type Word } from '../words/row.ts';
import { products } from './barriers.ts';
import { directoriesOf, fsText, leftOf, type Places, type RootDirectory } from './paths.ts';
import { isPlainWord, nameOf, showsFiles, whyNoRow } from './programs.ts';
import type { How, Rule, Subject } from './rule.ts';

/** Whether a person is asked. */
export type Minted = Exclude<How, 'deny'>;
/** A part of a cap. Pieces with the same `key` are one cap. */
export type Piece = { readonly how: Minted; readonly rule: Rule } & (
  | {
      readonly kind: 'command';
      readonly program: string;
      readonly rows: readonly (readonly Word[])[];
      readonly reads: boolean;
    }
  | {
      readonly kind: 'fs';
      readonly directory: RootDirectory;
      readonly rights: readonly FsRight[];
      readonly except: readonly string[];
    }
  | { readonly kind: 'http'; readonly host: string }
  | { readonly kind: 'mcp'; readonly server: string; readonly tool: string }
);

/** The translated part of a rule, and the reasons for the lost part. */
export interface Made {
  readonly pieces: readonly Piece[];
  readonly lost: readonly string[];
}
/** The facts that the translation of a rule uses. */
export interface Around {
  /** Stricter rules that may be about some of its calls, denies first. */
  readonly barriers: readonly Rule[];
  /** A rule that keeps some files from the agent's own tools. */
  readonly hiding: Rule | undefined;
  readonly places: Places;
  /** Servers that some file declares, and only once. */
  readonly servers: ReadonlySet<string>;
}

/** The pieces of one rule that allows or asks. */
export function piecesOf(rule: Rule & { readonly how: Minted }, around: Around): Made {
  const { subject } = rule;
  if (rule.why !== undefined) return none(rule.why);
  const whole = around.barriers.find((one) => one.subject.kind === 'any');
  if (whole !== undefined) return none(`${lineOf(whole, rule)} ${DOES[whole.how]} every call`);
  switch (subject.kind) {
    case 'command':
      return commandPieces(rule, subject, around);
    case 'files':
      return filePieces(rule, subject, around);
    case 'pages':
      return pagePieces(rule, subject.host, around);
    case 'mcp':
      return mcpPieces(rule, subject, around);
    case 'lines':
      return none('it is about lines that are not listed');
    default:
      return none('no cap stands for it');
  }
}

const none = (why: string): Made => ({ pieces: [], lost: [why] });
const DOES = { deny: 'denies', ask: 'asks for', allow: 'allows' } as const;
const lineOf = ({ file, line }: Rule, { file: own }: Rule): string =>
  file === own ? `line ${line}` : `${file}:${line}`;

type Rows = readonly (readonly Word[])[];
/** More rows than this come of no rule that a person wrote. */
const MOST_ROWS = 64;
const REST: Word = { kind: 'rest' };

function commandPieces(
  rule: Rule & { how: Minted },
  subject: Extract<Subject, { kind: 'command' }>,
  { barriers, hiding }: Around,
): Made {
  const why = whyNoRow(subject);
  if (why !== undefined) return none(why);
  // Such words stand alone, so each choice of them is a row of its own.
  const apart = subject.words.slice(1).filter((choices) => !choices.every(isPlainWord));
  if (products(apart, MOST_ROWS) === undefined) return none(`it has more than ${MOST_ROWS} ways to choose its words`);
  const hides = subject.words[0]?.some(showsFiles) ? hiding : undefined;
  if (hides !== undefined)
    return none(`${lineOf(hides, rule)} ${DOES[hides.how]} files, and this program may show or change them`);
  const [programs = [], ...args] = subject.words;
  const pieces: Piece[] = [];
  const lost = new Set<string>();
  for (const program of programs) {
    let rows: Rows | undefined = [rowOf(program, args, subject.more)];
    let how: Minted = rule.how;
    for (const barrier of barriers) {
      const left: Rows | undefined = rows && rowsWithout(rows, barrier, subject.more);
      const where = `${lineOf(barrier, rule)} ${DOES[barrier.how]}`;
      if (left !== undefined) {
        if (left.length === 0) lost.add(`${where} all of it`);
        rows = left;
      } else if (barrier.how === 'ask') {
        lost.add(`${where} a part of it, and the rest cannot be listed: a person is asked for all of it`);
        how = 'ask';
      } else {
        lost.add(`${where} a part of it, and the rest cannot be listed: list in argv what is allowed`);
        rows = [];
      }
    }
    // Rows that read are a cap of their own: they need no more than directories to read.
    const reading = rows.filter((row) => isReadingRow(nameOf(program), row));
    for (const [part, reads] of [
      [reading, true],
      [rows.filter((row) => !reading.includes(row)), false],
    ] as const)
      if (part.length > 0) pieces.push({ kind: 'command', rule, how, program, rows: part, reads });
  }
  if (subject.more && pieces.length > 0)
    lost.add(
      'only in part: after these words it takes no options but those of a reviewed set: list those that are needed as flags',
    );
  return { pieces, lost: [...lost] };
}

function rowOf(program: string, args: readonly (readonly string[])[], more: boolean): readonly Word[] {
  const literals = args.map((texts): Word => ({ kind: 'literal', texts: [...new Set(texts)] }));
  if (!more) return literals;
  const [reviewed] = reviewedFor(program).find(
    ([, verbs]) => args.length === 1 && args[0]?.every((verb) => verbs.includes(verb)),
  ) ?? [undefined];
  return [...literals, ...(reviewed === undefined ? [] : [{ kind: 'flags', set: reviewed } as const]), REST];
}

/** Rows without the calls of a barrier; undefined if they cannot be listed. */
function rowsWithout(rows: Rows, { subject }: Rule, more: boolean): Rows | undefined {
  if (subject.kind !== 'command' || (!subject.more && more)) return undefined;
  const [, ...args] = subject.words;
  const all = products(args, 256);
  if (all === undefined) return undefined;
  const left = all.reduce<Rows | undefined>((some, denied) => some && without(some, denied, 64 * MOST_ROWS), rows);
  return left !== undefined && left.length <= MOST_ROWS ? left : undefined;
}

const MOST_EXCEPT = 200;
const isPattern = (text: string): boolean => text.length <= 4096 && wrongPattern(text) === undefined;
const unknownOf = (left: object): string =>
  'unknown' in left ? String(left.unknown) : 'its pattern cannot be written in except';

function filePieces(
  rule: Rule & { how: Minted },
  subject: Extract<Subject, { kind: 'files' }>,
  { barriers, places }: Around,
): Made {
  const given = directoriesOf(subject.pattern, places);
  if ('why' in given) return none(given.why);
  const pieces: Piece[] = [];
  const lost = new Set<string>(given.part === undefined ? [] : [`only in part: ${given.part}`]);
  for (const directory of given.directories) {
    const except = new Set<string>();
    let how: Minted = rule.how;
    let isLeft = true;
    for (const barrier of barriers) {
      if (barrier.subject.kind !== 'files') continue;
      const left = leftOf(directory, barrier.subject.pattern, places);
      const where = `${lineOf(barrier, rule)} ${DOES[barrier.how]}`;
      if (left === 'nothing') {
        lost.add(`${where} all of ${fsText(directory)}`);
        isLeft = false;
      } else if ('except' in left && left.except.every(isPattern)) for (const one of left.except) except.add(one);
      else if (barrier.how === 'ask') {
        lost.add(`${where} a part of it (${unknownOf(left)}): a person is asked for all of it`);
        how = 'ask';
      } else {
        lost.add(`${where} a part of it (${unknownOf(left)})`);
        isLeft = false;
      }
    }
    if (except.size > MOST_EXCEPT) {
      lost.add(`more than ${MOST_EXCEPT} patterns are left out of it`);
      isLeft = false;
    }
    if (isLeft) pieces.push({ kind: 'fs', rule, how, directory, rights: subject.rights, except: [...except].sort() });
  }
  return { pieces, lost: [...lost] };
}

function pagePieces(rule: Rule & { how: Minted }, given: string, { barriers }: Around): Made {
  const host = given.toLowerCase();
  if (
    !/^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/.test(host) ||
    new URL(`https://${host}/`).hostname !== host
  )
    return none('a host is a plain name, without wildcards, ports and signs outside ASCII');
  const [barrier] = barriers;
  if (barrier !== undefined) return none(`${lineOf(barrier, rule)} ${DOES[barrier.how]} this host`);
  return { pieces: [{ kind: 'http', rule, how: rule.how, host }], lost: [] };
}

function mcpPieces(
  rule: Rule & { how: Minted },
  { server, tool }: Extract<Subject, { kind: 'mcp' }>,
  { barriers, servers }: Around,
): Made {
  if (!/^[A-Za-z0-9_.-]{1,128}$/.test(tool)) return none('a tool has a name of letters, digits, _, . and -');
  if (!servers.has(server))
    return none(
      `no file declares the server ${JSON.stringify(server.slice(0, 60))}, or several do: import the one file that does as well`,
    );
  const [barrier] = barriers;
  if (barrier !== undefined) return none(`${lineOf(barrier, rule)} ${DOES[barrier.how]} this tool`);
  return { pieces: [{ kind: 'mcp', rule, how: rule.how, server, tool }], lost: [] };
}
