/**
 * A directory as a capability: who holds it can reach what is beneath that directory, and nothing else.
 *
 * Paths are relative, names separated by `/`; times are milliseconds, sizes bytes. The directory is the one that was open
 * when the capability was made, wherever it is moved; no path of the host is in it. Errors are `CapError` with a `code`
 * of the table in README.md.
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
  /** Lines count from 1; their ends are kept. */
  readText(path: string, window?: { readonly line?: number; readonly lines?: number }): Promise<string>;
  /** In one step: no reader sees a part. `durable` waits for the disk. Parents are not made. */
  write(
    path: string,
    data: Uint8Array | string,
    options?: { readonly create?: 'any' | 'new' | 'never'; readonly version?: string; readonly durable?: boolean },
  ): Promise<{ readonly version: string }>;
  append(path: string, data: Uint8Array | string): Promise<void>;
  /** Each `oldText` must stand exactly once in the text as the edits before it left it. */
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
  /** Onto an existing name: `EXISTS`. */
  rename(from: string, to: string): Promise<void>;
  /** A file; onto an existing name: `EXISTS`. */
  copy(from: string, to: string): Promise<void>;
  /** Paths, sorted within each directory; `*`, `?`, `[a-z]`, `{a,b}`, `**`. Links are named, not entered. */
  glob(pattern: string): Promise<readonly string[]>;
  /**
   * The lines of files that have the text, or a match of the pattern (RE2), each once; line and column count from 1. As many
   * as `limit`: then there may be more. Without binary files, those over 8 MiB, `.git` and what `.gitignore` files name.
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
  /** `close` is always among them. */
  only(operations: readonly (keyof FsCap)[]): Promise<FsCap>;
  /** Names that match one of the patterns, at any depth, are neither shown nor reached. */
  except(patterns: readonly string[]): Promise<FsCap>;
  withQuota(quota: { readonly bytes?: number; readonly files?: number }): Promise<FsCap>;
  /** Ends this capability and all that was made from it; answers when what ran has finished. */
  close(): Promise<void>;
}
