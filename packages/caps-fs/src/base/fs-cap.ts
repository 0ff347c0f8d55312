/**
 * A directory as a capability. A holder can reach what is beneath that directory, and nothing else.
 *
 * Paths are relative, with names separated by `/`. Times are in milliseconds, sizes in bytes. The cap stays
 * with the directory that was open when the cap was made, wherever that directory is moved. It contains no
 * path of the host. Errors are `CapError` with a `code` from the table in README.md.
 */
import type { ByteSink, ByteSource } from '@hob/vat';

/**
 * One entry of a directory, looked at without following a link. `size` is in bytes, `mtime` in ms since
 * 1970. `version` changes whenever the content does; `write` and `edit` take it to refuse a file that has
 * changed since.
 */
export interface Stat {
  readonly kind: 'file' | 'dir' | 'link' | 'other';
  readonly size: number;
  readonly mtime: number;
  /** The permission bits, such as 0o644. Only `stat` with `mode: true` tells them. */
  readonly mode?: number;
  readonly version: string;
}

/** One file of `readMany`: its text, or why it could not be read. */
export type TextOrRefusal =
  | { readonly path: string; readonly text: string; readonly version: string }
  | { readonly path: string; readonly code: string; readonly message: string };

/** A line that was found. Line and column count from 1. */
export interface Hit {
  readonly path: string;
  readonly line: number;
  readonly column: number;
  readonly text: string;
}

/** The result of a search, with what it did not look at. */
export interface SearchReport {
  readonly hits: readonly Hit[];
  /** There are more lines than `limit`. */
  readonly truncated: boolean;
  /** The first 1,000 files and directories that could not be searched. Files that `.gitignore` names do not count. */
  readonly skipped: readonly { readonly path: string; readonly reason: 'binary' | 'large' | 'unreadable' }[];
}

/** The names and kinds of everything beneath a directory, to a depth. */
export interface Tree {
  readonly entries: readonly { readonly path: string; readonly kind: Stat['kind'] }[];
  readonly truncated: boolean;
}

/**
 * A directory, as a program holds it. Paths are relative to it. Errors: the codes in README.md. After Go's
 * `os.Root` and Capsicum: no path, link or rename leads out.
 */
export interface FsCap {
  read(path: string, range?: { readonly offset?: number; readonly length?: number }): Promise<Uint8Array>;
  /** Lines count from 1. Line ends are kept. `tail` is the number of the last lines, of a file of any size. */
  readText(
    path: string,
    window?: { readonly line?: number; readonly lines?: number; readonly tail?: number },
  ): Promise<string>;
  /** Reads the texts of up to 1,000 files. One that cannot be read has a code and a message instead. */
  readMany(paths: readonly string[]): Promise<readonly TextOrRefusal[]>;
  /**
   * Writes the file in one step: no reader sees a part. `durable` waits for the disk. With `parents` the
   * directories above it are made, which needs `mkdir`, too.
   */
  write(
    path: string,
    data: Uint8Array | string,
    options?: {
      readonly create?: 'any' | 'new' | 'never';
      readonly version?: string;
      readonly durable?: boolean;
      readonly parents?: boolean;
    },
  ): Promise<{ readonly version: string }>;
  /** Writes into an existing file with one name, where it is: a reader may see a part. */
  writeAt(path: string, offset: number, data: Uint8Array | string): Promise<void>;
  /** Cuts an existing file with one name, or makes it longer with zeros. */
  truncate(path: string, size: number): Promise<void>;
  append(path: string, data: Uint8Array | string): Promise<void>;
  /** Each `oldText` must occur exactly once in the text that the earlier edits produced. */
  edit(
    path: string,
    edits: readonly { readonly oldText: string; readonly newText: string }[],
    options?: { readonly dryRun?: boolean; readonly version?: string },
  ): Promise<{ readonly diff: string; readonly version: string }>;
  list(path?: string): Promise<readonly string[]>;
  entries(
    path?: string,
    page?: { readonly after?: string; readonly limit?: number },
  ): Promise<readonly (Stat & { readonly name: string })[]>;
  /** Shows a link itself. With `follow` it shows what the link leads to, and with `mode` the permission bits, too. */
  stat(path: string, options?: { readonly follow?: boolean; readonly mode?: boolean }): Promise<Stat>;
  /** Sets permission bits (0 to 0o777) of a directory, or of a file with one name. `+x`: who may read may run it. */
  chmod(path: string, mode: number | '+x' | '-x'): Promise<void>;
  /** Sets times in ms. One that is not given stays as it is. */
  setTimes(path: string, times: { readonly mtime?: number; readonly atime?: number }): Promise<void>;
  /** Makes a link at `path`. Its text is relative to where it is, and stays beneath this directory. */
  symlink(text: string, path: string): Promise<void>;
  /** Returns the text of a link that stays beneath this directory. */
  readlink(path: string): Promise<string>;
  mkdir(path: string, options?: { readonly recursive?: boolean }): Promise<void>;
  /** With `version` only a file of that version goes: another one is `STALE`. */
  remove(path: string, options?: { readonly recursive?: boolean; readonly version?: string }): Promise<void>;
  /**
   * Refuses an existing `to` with `EXISTS`. With `replace` it takes the place of a file, a link or an empty
   * directory in one step, which needs `remove`, too.
   */
  rename(from: string, to: string, options?: { readonly replace?: boolean }): Promise<void>;
  /**
   * Copies a file. Refuses an existing `to` with `EXISTS`. With `recursive` it also copies a directory with all in
   * it that this cap shows, which needs `mkdir`, too.
   */
  copy(from: string, to: string, options?: { readonly recursive?: boolean }): Promise<void>;
  /**
   * Returns matching paths, sorted within each directory. Patterns use `*`, `?`, `[a-z]`, `{a,b}` and `**`.
   * Links are listed but not entered.
   */
  glob(pattern: string): Promise<readonly string[]>;
  /**
   * Returns the lines that contain the text or match the pattern (RE2), each line once. Line and column count
   * from 1. It stops after `limit` lines, so there may be more. It skips binary files, files over 8 MiB,
   * `.git`, and what `.gitignore` files name.
   */
  search(
    text: string | { readonly pattern: string },
    options?: { readonly path?: string; readonly glob?: string; readonly limit?: number },
  ): Promise<
    readonly { readonly path: string; readonly line: number; readonly column: number; readonly text: string }[]
  >;
  /** As `search`, and says whether there are more lines, and which files it could not search. */
  searchReport(
    text: string | { readonly pattern: string },
    options?: { readonly path?: string; readonly glob?: string; readonly limit?: number },
  ): Promise<SearchReport>;
  /**
   * Returns what is beneath a directory, each directory before what is in it, `depth` levels deep. Paths begin at
   * this cap. It stops after `limit` entries (10,000 if not given), and `truncated` then says that there are more.
   */
  tree(path?: string, options?: { readonly depth?: number; readonly limit?: number }): Promise<Tree>;
  openRead(path: string): Promise<ByteSource>;
  openWrite(path: string): Promise<ByteSink>;
  subdir(path: string): Promise<FsCap>;
  readOnly(): Promise<FsCap>;
  /** Returns a cap with these operations only. `close` is always included. */
  only(operations: readonly (keyof FsCap)[]): Promise<FsCap>;
  /** Returns a cap that neither shows nor reaches names that match one of the patterns, at any depth. */
  except(patterns: readonly string[]): Promise<FsCap>;
  withQuota(quota: { readonly bytes?: number; readonly files?: number }): Promise<FsCap>;
  /** Ends this capability and everything made from it. Resolves when running operations have finished. */
  close(): Promise<void>;
}
