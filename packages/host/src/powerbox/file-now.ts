/**
 * Looks at a file of a directory as it is now, through the cap that a call would go to.
 *
 * Promise: text and version belong together. Files over 256 KiB have no text here.
 */
import { E } from '@hob/vat';

export interface Stat {
  readonly kind: string;
  readonly size: number;
  readonly version: string;
  /** The permission bits, from a directory that tells them. */
  readonly mode?: number;
}

interface Tree {
  readonly entries: readonly { readonly kind: string }[];
  readonly truncated: boolean;
}

export interface Directory {
  stat(path: string, options?: object): Stat;
  readText(path: string): string;
  edit(path: string, edits: unknown, options: object): { readonly diff: string; readonly version: string };
  tree(path: string): Tree;
}

/** A file as it is now. `stat` is absent if nothing has the name, `text` for a large file and for anything else. */
export interface FileNow {
  readonly stat: Stat | undefined;
  readonly text: string | undefined;
}

/** Larger files have no diff. */
const largestFile = 256 << 10;
/** Attempts at a text and its version, when somebody keeps changing the file. */
const mostTries = 4;

export const codeOf = (error: unknown): string => (error as { readonly code?: string }).code ?? 'error';

/** In a turn. */
export function fileNow(folder: Directory, path: string): Promise<FileNow> {
  const look = (left: number): Promise<FileNow> =>
    E.when(statNow(folder, path), (stat): FileNow | Promise<FileNow> => {
      if (stat === undefined || stat.kind !== 'file' || stat.size > largestFile) return { stat, text: undefined };
      const read = E.when(
        E(folder).readText(path) as unknown as Promise<string>,
        (text) => text,
        () => undefined,
      ) as Promise<string | undefined>;
      return E.when(read, (text) =>
        // The text is of that version only if the version is the same after the read.
        E.when(statNow(folder, path), (after): FileNow | Promise<FileNow> => {
          if (text === undefined || after?.version === stat.version) return { stat, text };
          return left === 0 ? { stat, text: undefined } : look(left - 1);
        }),
      ) as unknown as Promise<FileNow>;
    }) as unknown as Promise<FileNow>;
  return look(mostTries - 1);
}

/** In a turn. `undefined` if nothing has that name. */
export function statNow(folder: Directory, path: string, options?: object): Promise<Stat | undefined> {
  const asked = options === undefined ? E(folder).stat(path) : E(folder).stat(path, options);
  return E.when(
    asked as unknown as Promise<Stat>,
    (stat) => stat,
    (error) => {
      if (codeOf(error) === 'NOT_FOUND') return undefined;
      throw error;
    },
  ) as Promise<Stat | undefined>;
}

/** In a turn. How much is beneath a directory, in words. */
export function countBeneath(folder: Directory, path: string): Promise<string> {
  return E.when(
    E(folder).tree(path) as unknown as Promise<Tree>,
    ({ entries, truncated }) => {
      const directories = entries.filter(({ kind }) => kind === 'dir').length;
      const most = truncated ? 'at least ' : '';
      return `${most}files and links: ${entries.length - directories}, directories: ${directories}`;
    },
    (error) => `cannot be counted: it says ${codeOf(error).slice(0, 64)}`,
  ) as Promise<string>;
}
