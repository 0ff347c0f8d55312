/** What a row of the table is, and the outcomes that many rows share. */
import type { FsCode } from '../../src/base/errors.ts';
import type { FsCap } from '../../src/index.ts';
import { type OperationName, operationNames } from './operations.ts';
import type { Plants, World } from './world.ts';

/** A code, `ok`, or `*` where only that nothing gets out is asked for. */
export type Outcome = FsCode | 'ok' | '*';
export type Outcomes = Readonly<Record<OperationName, Outcome>>;

/** Who can play a row: `mounts` is a process that may mount, in a mount namespace of its own. */
export type Player = 'root' | 'nonroot' | 'mounts';

export interface Row {
  readonly name: string;
  /** What the holder sends, of whatever type. */
  readonly path: unknown;
  readonly plants: Plants;
  readonly outcomes: Outcomes;
  readonly player?: Player;
  /** The granter put outside content in here by himself: a hard link. */
  readonly mayReadOutside?: boolean;
  /** Operations that have taken effect in part when they are refused. */
  readonly partial?: readonly OperationName[];
  /** After the root was opened. */
  readonly then?: (world: World) => void;
  /** The cap that is attacked, if it is not the root's own. */
  readonly cap?: (root: FsCap) => Promise<FsCap>;
}

type Change = Partial<Record<OperationName, Outcome>>;

/** The same for each operation, but for some. A pattern matches other names than a path means, so `glob` only must not leak. */
export function outcomes(all: Outcome, but: Change = {}): Outcomes {
  const base = Object.fromEntries(operationNames.map((name) => [name, all])) as Record<OperationName, Outcome>;
  return { ...base, glob: '*', search: '*', ...but };
}

export function row(
  name: string,
  path: unknown,
  expected: Outcomes,
  plants: Plants = {},
  more: Omit<Row, 'name' | 'path' | 'outcomes' | 'plants'> = {},
): Row {
  // Searched is what can be read: a directory by what is in it.
  const { read, search } = expected;
  const searched = search === '*' ? (read === 'IS_A_DIRECTORY' ? 'ok' : read) : search;
  return { name, path, outcomes: { ...expected, search: searched }, plants, ...more };
}

const notADirectory: Change = { list: 'NOT_A_DIRECTORY', entries: 'NOT_A_DIRECTORY', subdir: 'NOT_A_DIRECTORY' };
const exists: Change = { copyTo: 'EXISTS', renameTo: 'EXISTS', mkdir: 'EXISTS' };
const notAFile: Change = { write: 'NOT_A_FILE', edit: 'NOT_A_FILE', openWrite: 'NOT_A_FILE', append: 'NOT_A_FILE' };

/** By no spelling and no operation is there anything. */
export const escapes: Outcomes = outcomes('PATH_ESCAPES');
export const absolute: Outcomes = outcomes('PATH_ABSOLUTE');
export const invalid: Outcomes = outcomes('PATH_INVALID');
/** A parent leads out. */
export const outside: Outcomes = outcomes('RESOLVED_OUTSIDE');
export const loop: Outcomes = outcomes('LINK_LOOP');
export const parentMissing: Outcomes = outcomes('NOT_FOUND', { mkdirs: 'ok' });
/** A parent is a link that leads to nothing: `mkdir -p` does not fill in where it points. */
export const danglingParent: Outcomes = outcomes('NOT_FOUND');
export const belowFile: Outcomes = outcomes('NOT_A_DIRECTORY');

export const file: Outcomes = outcomes('ok', { ...notADirectory, ...exists, mkdirs: 'NOT_A_DIRECTORY' });

/** Nothing there, in a directory that is. */
export const missing: Outcomes = outcomes('NOT_FOUND', {
  write: 'ok',
  openWrite: 'ok',
  append: 'ok',
  copyTo: 'ok',
  renameTo: 'ok',
  mkdir: 'ok',
  mkdirs: 'ok',
});

/** With something in it. */
export const directory: Outcomes = outcomes('ok', {
  ...exists,
  read: 'IS_A_DIRECTORY',
  readText: 'IS_A_DIRECTORY',
  openRead: 'IS_A_DIRECTORY',
  copyFrom: 'IS_A_DIRECTORY',
  write: 'IS_A_DIRECTORY',
  edit: 'IS_A_DIRECTORY',
  openWrite: 'IS_A_DIRECTORY',
  append: 'IS_A_DIRECTORY',
  remove: 'NOT_EMPTY',
});

/** The last name is a link: never written through nor replaced, removed and renamed itself, read where it leads. */
export function link(leadsTo: Change): Outcomes {
  return outcomes('ok', { ...notAFile, ...exists, copyTo: 'NOT_A_FILE', ...leadsTo });
}

const seen = (all: Outcome): Change => ({
  read: all,
  readText: all,
  openRead: all,
  copyFrom: all,
  list: all,
  entries: all,
  subdir: all,
  mkdirs: all,
});

export const linkToFile: Outcomes = link({ ...notADirectory, mkdirs: 'NOT_A_DIRECTORY' });
export const linkToDirectory: Outcomes = link({
  read: 'IS_A_DIRECTORY',
  readText: 'IS_A_DIRECTORY',
  openRead: 'IS_A_DIRECTORY',
  copyFrom: 'IS_A_DIRECTORY',
});
export const linkOutside: Outcomes = link(seen('RESOLVED_OUTSIDE'));
export const linkToNothing: Outcomes = link(seen('NOT_FOUND'));
export const linkLoop: Outcomes = link(seen('LINK_LOOP'));
export const linkThroughFile: Outcomes = link(seen('NOT_A_DIRECTORY'));
export const linkMalformed: Outcomes = link(seen('PATH_INVALID'));

/** FIFO, socket, device: refused without being opened; removed and renamed like any name. */
export const special: Outcomes = outcomes('ok', {
  ...notADirectory,
  ...exists,
  ...notAFile,
  read: 'NOT_A_FILE',
  readText: 'NOT_A_FILE',
  openRead: 'NOT_A_FILE',
  copyFrom: 'NOT_A_FILE',
  mkdirs: 'NOT_A_DIRECTORY',
});
export const linkToSpecial: Outcomes = link({
  ...notADirectory,
  read: 'NOT_A_FILE',
  readText: 'NOT_A_FILE',
  openRead: 'NOT_A_FILE',
  copyFrom: 'NOT_A_FILE',
  mkdirs: 'NOT_A_DIRECTORY',
});
