/**
 * The shapes that a model is shown by name: a directory and a shell, as `caps-fs` and `caps-shell` make them.
 *
 * They are text, because a model reads them. A test compiles the text against those packages, so it promises
 * no more than they do. A cap has a known shape if it has all of its methods. Its other methods are not
 * shown. Another cap with the same methods is shown with the same shape, which affects nothing but the text.
 */

const BYTES = `/** Bytes, part by part: \`for (let part; (part = await E(source).next()); ) …\` */
interface ByteSource {
  next(max?: number): Promise<Uint8Array | undefined>;
  return(): Promise<void>;
}`;

const DIRECTORY = `/** A directory. Paths are relative to it, names separated by \`/\`; times are ms, sizes bytes. */
interface Directory {
  read(path: string, range?: { readonly offset?: number; readonly length?: number }): Promise<Uint8Array>;
  /** Lines count from 1; their ends are kept. \`tail\`: that many last lines. */
  readText(path: string, window?: { readonly line?: number; readonly lines?: number; readonly tail?: number }): Promise<string>;
  /** At most 1,000 files. One that cannot be read has a code instead of its text. */
  readMany(paths: readonly string[]): Promise<readonly ({ readonly path: string; readonly text: string; readonly version: string } | { readonly path: string; readonly code: string; readonly message: string })[]>;
  /** In one step: no reader sees a part. \`parents\` makes missing directories. */
  write(path: string, data: Uint8Array | string, options?: { readonly create?: 'any' | 'new' | 'never'; readonly version?: string; readonly durable?: boolean; readonly parents?: boolean }): Promise<{ readonly version: string }>;
  /** Into an existing file, where it is. \`offset\` in bytes. */
  writeAt(path: string, offset: number, data: Uint8Array | string): Promise<void>;
  truncate(path: string, size: number): Promise<void>;
  append(path: string, data: Uint8Array | string): Promise<void>;
  /** Each \`oldText\` must stand exactly once in the text as the edits before it left it. */
  edit(path: string, edits: readonly { readonly oldText: string; readonly newText: string }[], options?: { readonly dryRun?: boolean; readonly version?: string }): Promise<{ readonly diff: string; readonly version: string }>;
  list(path?: string): Promise<readonly string[]>;
  entries(path?: string, page?: { readonly after?: string; readonly limit?: number }): Promise<readonly (Stat & { readonly name: string })[]>;
  /** Everything beneath a directory. */
  tree(path?: string, options?: { readonly depth?: number; readonly limit?: number }): Promise<{ readonly entries: readonly { readonly path: string; readonly kind: Stat['kind'] }[]; readonly truncated: boolean }>;
  /** For a link: the link itself, or with \`follow\` the file or directory that it leads to. */
  stat(path: string, options?: { readonly follow?: boolean; readonly mode?: boolean }): Promise<Stat>;
  chmod(path: string, mode: number | '+x' | '-x'): Promise<void>;
  setTimes(path: string, times: { readonly mtime?: number; readonly atime?: number }): Promise<void>;
  /** The text of the link is relative to its own directory. */
  symlink(text: string, path: string): Promise<void>;
  readlink(path: string): Promise<string>;
  mkdir(path: string, options?: { readonly recursive?: boolean }): Promise<void>;
  remove(path: string, options?: { readonly recursive?: boolean }): Promise<void>;
  /** Onto an existing name: EXISTS, unless \`replace\`. */
  rename(from: string, to: string, options?: { readonly replace?: boolean }): Promise<void>;
  copy(from: string, to: string, options?: { readonly recursive?: boolean }): Promise<void>;
  /** Paths; \`*\`, \`?\`, \`[a-z]\`, \`{a,b}\`, \`**\`. */
  glob(pattern: string): Promise<readonly string[]>;
  /** Lines that have the text, or a match of the pattern (RE2). */
  search(text: string | { readonly pattern: string }, options?: { readonly path?: string; readonly glob?: string; readonly limit?: number }): Promise<readonly { readonly path: string; readonly line: number; readonly column: number; readonly text: string }[]>;
  searchReport(text: string | { readonly pattern: string }, options?: { readonly path?: string; readonly glob?: string; readonly limit?: number }): Promise<{ readonly hits: readonly { readonly path: string; readonly line: number; readonly column: number; readonly text: string }[]; readonly truncated: boolean; readonly skipped: readonly { readonly path: string; readonly reason: 'binary' | 'large' | 'unreadable' }[] }>;
  openRead(path: string): Promise<ByteSource>;
  subdir(path: string): Promise<Directory>;
  readOnly(): Promise<Directory>;
}
interface Stat {
  readonly kind: 'file' | 'dir' | 'link' | 'other';
  readonly size: number;
  readonly mtime: number;
  readonly mode?: number;
  readonly version: string;
}`;

const SHELL = `/** A shell in a sandbox: \`run\` takes a text for bash. A failed program is a status, never an error. */
interface Shell {
  run(text: string, options?: { readonly timeoutMs?: number; readonly stdin?: string }): Promise<Ended>;
  spawn(text: string, options?: { readonly name?: string; readonly timeoutMs?: number }): Promise<Job>;
  job(name: string): Promise<Job>;
  /** Where its directories are mounted, and its limits. */
  describe(): Promise<{ readonly shell: string; readonly mounts: Readonly<Record<string, 'ro' | 'rw'>>; readonly cwd: string; readonly env: readonly string[]; readonly network: 'none' | readonly string[]; readonly sockets: readonly string[] }>;
  close(): Promise<void>;
}
interface Ended {
  /** Exit status, or 128 + signal. */
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly truncated: boolean;
  readonly ended: 'exit' | 'signal' | 'timeout' | 'limit' | 'revoked';
}
interface Job {
  stdout(): Promise<ByteSource>;
  stderr(): Promise<ByteSource>;
  write(chunk: Uint8Array | string): Promise<void>;
  end(): Promise<void>;
  signal(name: 'INT' | 'TERM' | 'KILL' | 'HUP'): Promise<void>;
  wait(): Promise<Ended>;
}`;

export interface KnownShape {
  readonly name: string;
  /** A cap with all of these methods has this shape. */
  readonly methods: readonly string[];
  /** The declarations to show. */
  readonly text: readonly string[];
}

/** The names of the methods of the first interface in a text. */
const methodsIn = (text: string): readonly string[] =>
  [...text.slice(0, text.indexOf('\n}')).matchAll(/^ {2}(\w+)\(/gm)].map(([, name]) => name as string);

const shape = (name: string, ...text: readonly string[]): KnownShape => ({
  name,
  text,
  methods: methodsIn(text[0] ?? ''),
});

export const KNOWN: readonly KnownShape[] = [shape('Directory', DIRECTORY, BYTES), shape('Shell', SHELL, BYTES)];
