/**
 * A directory as a capability. A holder can reach what is beneath that directory, and nothing else.
 *
 * Paths are relative, with names separated by `/`. Times are in milliseconds, sizes in bytes. The cap stays
 * with the directory that was open when the cap was made, wherever that directory is moved. It contains no
 * path of the host. Errors are `CapError` with a `code` from the table in README.md.
 */
import type { ByteSink, ByteSource } from './bytes.ts';

export interface Stat {
  readonly kind: 'file' | 'dir' | 'link' | 'other';
  readonly size: number;
  readonly mtime: number;
  readonly version: string;
}

export interface FsCap {
  read(path: string, range?: { readonly offset?: number; readonly length?: number }): Promise<Uint8Array>;
  /** Lines count from 1. Line ends are kept. */
  readText(path: string, window?: { readonly line?: number; readonly lines?: number }): Promise<string>;
  /**
   * Writes the file in one step: no reader sees a part. `durable` waits for the disk. Parents are not
   * created.
   */
  write(
    path: string,
    data: Uint8Array | string,
    options?: { readonly create?: 'any' | 'new' | 'never'; readonly version?: string; readonly durable?: boolean },
  ): Promise<{ readonly version: string }>;
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
  stat(path: string): Promise<Stat>;
  mkdir(path: string, options?: { readonly recursive?: boolean }): Promise<void>;
  remove(path: string, options?: { readonly recursive?: boolean }): Promise<void>;
  /** Refuses an existing `to` with `EXISTS`. */
  rename(from: string, to: string): Promise<void>;
  /** Copies a file. Refuses an existing `to` with `EXISTS`. */
  copy(from: string, to: string): Promise<void>;
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
